#!/usr/bin/env python3
"""File-local names are unique over the tree, so that sources can be compiled together (debubble_UNITY).

Usage: check_locals.py SOURCE_DIR

Lists what .cpp files of ours declare in anonymous namespaces, and fails where two files (of the tests: of one program)
declare the same name in the same namespace: types, constants and functions, overloads of functions included; and where
a header declares it as a type, an inline constant, or a function of the same parameters. The same alias may be repeated, as C++ allows. A function that
several files need belongs in a header; different things get names that tell them apart. It first shows that it finds
each kind.
"""
import collections
import pathlib
import re
import sys

ROOMS = ("sim", "schedules", "cost_models", "formats", "gpu", "profiler", "live", "scenario", "studies", "tools",
         "python")
SKIPPED = re.compile(r'R"(\w*)\((?:.|\n)*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|//[^\n]*|/\*(?:.|\n)*?\*/|^[ \t]*#[^\n]*(?:\\\n[^\n]*)*',
                         re.M)
TYPE = re.compile(r"^(?:struct|class|union|enum(?:\s+class|\s+struct)?)\s+(?:alignas\s*\([^)]*\)\s*)?(\w+)")
ALIAS = re.compile(r"^(?:__extension__\s+)?using\s+(\w+)\s*=\s*(.*)", re.S)

PROGRAM = re.compile(r"debubble_add_tests\(NAME \w+\s+SOURCES([^)]*?)(?:LIBS|TIMEOUT|\))")


def plain(text):
    """The code with strings, comments and preprocessor lines blanked."""
    text = re.sub(r"(?<=[0-9a-fA-F])'(?=[0-9a-fA-F])", "", text)
    return SKIPPED.sub(lambda found: '""' if found.group().startswith(('"', "R", "'")) else " ", text)


def without_pairs(text, begin, end):
    """The text outside of begin...end, nested ones included."""
    depth, out = 0, []
    for character in text:
        depth += character == begin
        if depth == 0:
            out.append(character)
        depth -= character == end and depth > 0
    return "".join(out)


def declared_name(head):
    """What a declaration at namespace scope names, from its text up to the first brace or semicolon."""
    head = re.sub(r"\[\[[^\]]*\]\]|\bextern\s+\"\"", " ", head).strip()
    head = re.sub(r"^template\s*<", "<", head)
    if head.startswith("<"):
        depth = 0
        for k, character in enumerate(head):
            depth += (character == "<") - (character == ">")
            if depth == 0:
                head = re.sub(r"^requires\s*\([^{]*?\)\s*(?=[\w\[])", "", head[k + 1:].strip())
                break
    for kind in (TYPE, ALIAS):
        found = kind.match(head)
        if found and "(" not in head.split("{")[0].split("alignas")[0][:found.end()]:
            return found.group(1), found.group(2) if kind is ALIAS else ""
    if re.match(r"^(using|namespace|static_assert|friend|typedef)\b", head) or not head:
        return None
    head = re.sub(r"\b(?:alignas|noexcept|decltype)\s*\([^()]*\)", " ", head)
    call = head.split("(")[0].split("=")[0]
    call = re.sub(r"operator\s*\S+$", "", call)
    call = without_pairs(call, "<", ">")
    names = re.findall(r"(::\s*)?([A-Za-z_]\w*)\s*(?:\[[^\]]*\]\s*)*$", call.strip())
    return (names[-1][1], "") if names and not names[-1][0] and len(re.findall(r"\w+", call)) > 1 else None


def local_names(text, heads=None):
    """(namespace, name): alias of what, or "", for what anonymous namespaces of the text declare; `heads` gets
    (namespace, name, parameters' types) of its functions.
    """
    found = {}
    spaces = []  # open braces: the namespace's name, "" for an anonymous one, None for anything else
    head = ""
    parens = 0
    for character in plain(text):
        parens += (character == "(") - (character == ")")
        if character == "{" and parens == 0:
            space = re.search(r"\bnamespace\s*([\w:]*)\s*$", head)
            if space:
                spaces.append(space.group(1))
            else:
                note(spaces, head, found, heads)
                spaces.append(None)
            head = ""
        elif character == "}" and parens == 0:
            if spaces:
                closed = spaces.pop()
                head = "" if closed is not None else "}"
            if not spaces or spaces[-1] is not None:
                head = head and "}"
        elif character == ";" and parens == 0:
            note(spaces, head, found, heads)
            head = ""
        else:
            head += character
    return found


def parameter_types(head, name):
    """ "const std::string&, int" of "int of(const std::string& text, int most = 3)"; None where there are none to compare."""
    begin = re.search(rf"\b{name}\s*\(", head)
    if not begin or head.startswith(("template", "struct", "class")):
        return None
    types = []
    for one in re.split(r",(?![^<]*>)", head[begin.end():head.rfind(")")]):
        one = re.sub(r"\s*([&*<>,])\s*", r"\1", " ".join(one.split("=")[0].split()))
        types.append(re.sub(r"(?<=[ &*>])[a-z_]\w*$", "", one).strip())
    return ", ".join(types)


def note(spaces, head, found, heads):
    if "" not in spaces or None in spaces or "}" in head.replace(head.lstrip("} \n"), "", 1) and not head.strip("} \n,"):
        return
    declared = declared_name(head.lstrip("} \n"))
    if declared:
        key = "::".join(space for space in spaces if space), declared[0]
        found[key] = " ".join(declared[1].split())
        types = None if heads is None else parameter_types(head.lstrip("} \n"), declared[0])
        if types is not None:
            heads.add((*key, types))


def header_names(text, functions=None):
    """(namespace, name) of the types and inline constants that a header declares at namespace scope; `functions` as the
    `heads` of local_names.
    """
    found = set(local_names(re.sub(r"(namespace debubble[\w:]*) \{", r"\1 { namespace {", text), functions))
    return {(space, name) for space, name in found
            if re.search(rf"\b(struct|class|enum class|enum|using) {name}\b", text)
            or re.search(rf"^inline constexpr [^;=({{]*\b{name}\b", text, re.M)}


def collisions(texts):
    where = collections.defaultdict(list)
    for path, text in sorted(texts.items()):
        for key, alias in local_names(text).items():
            where[key].append((path, alias))
    return {key: [path for path, _ in places] for key, places in where.items()
            if len(places) > 1 and (len({alias for _, alias in places}) > 1 or not places[0][1])}


def self_test():
    head = "namespace debubble {\nnamespace {\n"
    tail = "\n}  // namespace\n}  // namespace debubble\n"
    for one in ("int same(int a) { return a; }", "constexpr int same = 3;", "struct same { int x; };", "using same = int;",
                "template <typename T>\nT same(T a) { return a; }", "enum class same { kA };",
                "const std::array<int, 2> same{1, 2};", "[[noreturn]] void same(const char* a);"):
        other = "std::string same(std::string a) {\n  if (a == \"{\") { return \"\"; }\n  return a;\n}"
        if not collisions({"a": head + one + tail, "b": head + "int first() { return 1; }\n" + other + tail}):
            sys.exit(f"self-test: not found: {one}")
    if collisions({"a": head + "using same = int;" + tail, "b": head + "using same = int;" + tail}):
        sys.exit("self-test: the same alias may be repeated")
    header = "namespace debubble {\nstruct Type;\ninline constexpr int kThree = 3;\nint of(int kNone);\n}\n"
    if header_names(header) != {("debubble", "Type"), ("debubble", "kThree")}:
        sys.exit(f"self-test: a header's names: {header_names(header)}")
    functions = set()
    header_names("namespace debubble {\nstd::vector<int> same(const std::string& a, int b = 1);\n}\n", functions)
    if functions != {("debubble", "same", "const std::string&, int")}:
        sys.exit(f"self-test: a header's functions: {functions}")
    inside = "struct First { int same = 0; };\nint one() { int same = 1; return same; }"
    if collisions({"a": head + inside + tail, "b": head + "int same = 1;" + tail}):
        sys.exit("self-test: a member or a local variable is no file-local name")


def main():
    root = pathlib.Path(sys.argv[-1])
    self_test()
    texts = {}
    for room in ROOMS:
        for path in (root / room).rglob("*.cpp"):
            if "build" not in path.relative_to(root).parts:
                texts[str(path.relative_to(root))] = path.read_text()
    shared = collisions(texts)
    headers = collections.defaultdict(list)
    for room in ROOMS:
        for path in (root / room).rglob("*.hpp"):
            functions = set()
            for key in header_names(path.read_text(), functions) | functions:
                headers[key].append(str(path.relative_to(root)))
    for path, text in texts.items():
        functions = set()
        for key in set(local_names(text, functions)) | functions:
            if key in headers and key[:2] not in shared:
                shared[key[:2]] = [path, *headers[key]]
    for lists in (root / "tests").rglob("CMakeLists.txt"):
        for sources in PROGRAM.findall(re.sub(r"#.*", "", lists.read_text())):
            paths = [lists.parent / source for source in sources.split()]
            shared.update(collisions({str(path.relative_to(root)): path.read_text() for path in paths if path.exists()}))
    for (space, name), paths in sorted(shared.items(), key=lambda entry: entry[0][1]):
        print(f"{space}::{name} is file-local in {', '.join(paths)}")
    if shared:
        sys.exit(f"{len(shared)} names: move what is the same to a header, rename what is not")
    print(f"{sum(len(local_names(text)) for text in texts.values())} file-local names in {len(texts)} files, all different")


main()
