#!/usr/bin/env python3
"""Checks that the tree keeps its own rules. Exit code 0: it does; 1: each breach is printed as file:line: rule.

    room            may include, besides itself
    sim/core        nothing of ours
    sim/rows        sim/core
    sim/engine, sim/topologies, sim/analysis  sim/core, sim/rows
    schedules       sim/core, sim/rows, sim/engine
    cost_models, gpu  sim/core
    formats         sim/*, schedules
    profiler        sim/core, gpu, formats
    live            sim/core, sim/rows, schedules, gpu
    scenario        sim/*, schedules, cost_models, formats
    studies         all of the above
    tools           everything; python alone includes tools
    python          everything; nobody includes python
    tests, bench    everything

No two files and no two folders include each other, directly or through others. CLI11 appears in one file, nlohmann/json
in .cpp files of formats, and in tests, only, simdjson in those of formats only, sqlite in .cpp files only, fmt in formats,
scenario and tools only, oneTBB in .cpp files of studies only, pybind11 in python only, doctest in tests only, .cu files in live only. No file of
ours is longer than 400 lines, every source is named in a CMakeLists.txt between it and the root, and no command there
names one twice. A source includes the header of its own name first, where this shows that it compiles alone. No two headers define a
class of the same name: a program that links both takes the inline functions of one for the other's.

`check_layers.py --self-test` breaks every rule once in a scratch tree and fails unless each breach is found.
"""

import argparse
import pathlib
import re
import sys
import tempfile

ROWS = {"sim/core", "sim/rows"}
SIM = ROWS | {"sim/engine", "sim/topologies", "sim/analysis"}
ALLOWED = {
    "sim/core": set(),
    "sim/rows": {"sim/core"},
    "sim/engine": ROWS,
    "sim/topologies": ROWS,
    "sim/analysis": ROWS,
    "schedules": ROWS | {"sim/engine"},
    "cost_models": {"sim/core"},
    "gpu": {"sim/core"},
    "formats": SIM | {"schedules"},
    "profiler": {"sim/core", "gpu", "formats"},
    "live": ROWS | {"schedules", "gpu"},
    "scenario": SIM | {"schedules", "cost_models", "formats"},
    "studies": SIM | {"schedules", "cost_models", "gpu", "formats", "profiler", "live", "scenario"},
}
UNBOUND = {"tools", "python", "tests", "bench"}  # may include every room
OURS = sorted([*ALLOWED, *UNBOUND], key=len, reverse=True)
SUFFIXES = {".hpp", ".cpp", ".cu", ".cuh", ".h", ".cc", ".cxx"}
MAX_LINES = 400
COMMAND_LINE = "tools/flags/command_line.cpp"
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')


def layer_of(path):
    """The layer a path from the root belongs to, or None: 'sim/core/op.hpp' -> 'sim/core'."""
    return next((layer for layer in OURS if path.startswith(layer + "/")), None)


def library_breach(layer, path, included):
    """Why this file may not include this library header, or None."""
    if re.search(r"/(impl|detail|internal|details)/", included):
        return "private headers of libraries are not included: they are renamed between releases"
    if re.match(r"(CLI/|CLI11)", included) and path.as_posix() != COMMAND_LINE:
        return f"CLI11 is included in {COMMAND_LINE} only"
    if included.startswith("nlohmann/") and layer != "tests" and (path.suffix != ".cpp" or layer != "formats"):
        return "nlohmann/json is included in .cpp files of formats, and in tests, only"
    if included == "simdjson.h" and (path.suffix != ".cpp" or layer != "formats"):
        return "simdjson is included in .cpp files of formats only"
    if included.startswith(("toml++/", "yaml-cpp/")) and (path.suffix != ".cpp" or layer != "formats"):
        return "toml++ and yaml-cpp are included in .cpp files of formats only"
    if included in ("sqlite3.h", "sqlite3ext.h") and path.suffix != ".cpp":
        return "sqlite is included in .cpp files only"
    if included.startswith("fmt/") and layer not in ("formats", "scenario", "tools"):
        return "fmt is used in formats, scenario and tools only"
    if re.match(r"(oneapi/)?tbb/", included) and (path.suffix != ".cpp" or layer != "studies"):
        return "oneTBB is included in .cpp files of studies only"
    if included.startswith("pybind11/") and layer != "python":
        return "pybind11 is included in python only"
    if included.startswith("doctest/") and layer != "tests":
        return "doctest is used in tests only"
    return None


def layer_breach(layer, included):
    """Why this layer may not include this header of ours, or None."""
    target = layer_of(included)
    if target is None or target == layer:
        return None
    if target == "tools" and layer not in ("python", "tests", "bench"):
        return "nobody but python includes tools"
    if target in ("python", "tests", "bench"):
        return f"{target} is included by nobody"
    if layer in ALLOWED and target not in ALLOWED[layer]:
        return f"{layer} may not include {target}"
    return None


def include_breaches(root, path):
    relative = path.relative_to(root)
    layer = layer_of(relative.as_posix())
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        quote, included = match.groups()
        breach = layer_breach(layer, included) or library_breach(layer, relative, included)
        if not breach and quote == '"' and not layer_of(included):
            breach = f'"{included}" is not a path from the root of the tree'
        if breach:
            yield f"{relative}:{number}: {breach}"


def order_breaches(root, path):
    own = path.with_suffix(".hpp")
    if path.suffix != ".cpp" or not own.exists():
        return
    relative = path.relative_to(root)
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if match := INCLUDE.match(line):
            if match.group(2) != own.relative_to(root).as_posix():
                yield f"{relative}:{number}: its own header is included first"
            return


def file_breaches(root, path):
    relative = path.relative_to(root)
    lines = path.read_text(encoding="utf-8").count("\n")
    if lines > MAX_LINES:
        yield f"{relative}:{lines}: longer than {MAX_LINES} lines"
    if path.suffix in (".cu", ".cuh") and layer_of(relative.as_posix()) != "live":
        yield f"{relative}:1: CUDA sources stand in live only"


def unlisted(root, path):
    """A source that no CMakeLists.txt between it and the root names is built by nobody."""
    folder = path.parent
    while folder != root.parent:
        lists = folder / "CMakeLists.txt"
        if lists.exists():
            name = re.escape(path.relative_to(folder).as_posix())
            if re.search(rf"(?<![\w./-]){name}(?![\w./-])", lists.read_text(encoding="utf-8")):
                return []
        folder = folder.parent
    return [f"{path.relative_to(root)}:1: named in no CMakeLists.txt"]


def unreached_lists(root):
    """A CMakeLists.txt that its parent folder does not add is read by nobody."""
    for layer in ALLOWED.keys() | {"tools", "python"}:
        for path in sorted((root / layer).rglob("CMakeLists.txt")):
            parent = path.parent.parent / "CMakeLists.txt"
            added = parent.read_text(encoding="utf-8") if parent.exists() else ""
            if f"add_subdirectory({path.parent.name})" not in added:
                yield f"{path.relative_to(root)}:1: added by no add_subdirectory"


def doubled_names(root):
    """A source named twice in one command of a CMakeLists.txt: the two lists differ sooner or later."""
    rooms = (path for layer in OURS for path in sorted((root / layer).rglob("CMakeLists.txt")))
    for path in [root / "CMakeLists.txt", *rooms]:
        text = re.sub(r"#[^\n]*", "", path.read_text(encoding="utf-8"))
        for command in re.finditer(r"\w+\s*\(([^()]*)\)", text):
            names = set()
            for name in re.finditer(r"\S+", command.group(1)):
                if pathlib.PurePosixPath(name.group()).suffix in SUFFIXES and name.group() in names:
                    line = text.count("\n", 0, command.start(1) + name.start()) + 1
                    yield f"{path.relative_to(root)}:{line}: {name.group()} is named twice"
                names.add(name.group())


def sources(root):
    for layer in OURS:
        for path in sorted((root / layer).rglob("*")):
            if path.is_file() and path.suffix in SUFFIXES and layer_of(path.relative_to(root).as_posix()) == layer:
                yield path


def classes_of(text):
    """(line, name with its namespaces) of every class that a header defines outside of functions and other classes."""
    spaces = []
    for number, line in enumerate(text.splitlines(), 1):
        if match := re.match(r"(?:inline )?namespace ([\w:]+) \{$", line):
            spaces.append(match.group(1))
        elif line.startswith("}  // namespace") and spaces:
            spaces.pop()
        elif match := re.match(r"(?:class|struct|enum class|enum) (\w+)\b[^;]*(?:\{.*\};)?$", line):
            yield number, "::".join([*spaces, match.group(1)])


def doubled_classes(root, headers):
    seen = {}
    for path in headers:
        relative = path.relative_to(root).as_posix()
        for number, name in classes_of(path.read_text(encoding="utf-8")):
            if seen.setdefault(name, relative) != relative:
                yield f"{relative}:{number}: {name} is defined in {seen[name]}, too"


def strongly_connected(graph):
    """The groups of nodes that reach each other (Tarjan), without recursion."""
    index, low, stack, on_stack, groups = {}, {}, [], set(), []
    for start in graph:
        if start in index:
            continue
        work = [(start, iter(graph[start]))]
        index[start] = low[start] = len(index)
        stack.append(start)
        on_stack.add(start)
        while work:
            node, targets = work[-1]
            for target in targets:
                if target not in index:
                    index[target] = low[target] = len(index)
                    stack.append(target)
                    on_stack.add(target)
                    work.append((target, iter(graph.get(target, ()))))
                    break
                if target in on_stack:
                    low[node] = min(low[node], index[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    group = []
                    while not group or group[-1] != node:
                        group.append(stack.pop())
                        on_stack.discard(group[-1])
                    if len(group) > 1:
                        groups.append(sorted(group))
    return groups


def cycles(root):
    """Files, and folders, that include each other."""
    files, folders, made_by = {}, {}, {}
    for path in sources(root):
        name = path.relative_to(root).as_posix()
        if layer_of(name) in ("tests", "bench"):
            continue
        for line in path.read_text(encoding="utf-8").splitlines():
            match = INCLUDE.match(line)
            if not match or not (root / match.group(2)).is_file():
                continue
            files.setdefault(name, set()).add(match.group(2))
            here, there = name.rpartition("/")[0], match.group(2).rpartition("/")[0]
            if here != there:
                folders.setdefault(here, set()).add(there)
                made_by.setdefault((here, there), name)
    for group in strongly_connected(files):
        yield f"{group[0]}:1: files that include each other: {', '.join(group)}"
    for group in strongly_connected(folders):
        for edge, name in sorted(made_by.items()):
            if edge[0] == group[0] and edge[1] in group:
                yield f"{name}:1: folders that include each other: {', '.join(group)}"
                break


def check(root):
    breaches = []
    headers = [path for path in sources(root) if path.suffix == ".hpp"]
    breaches += doubled_classes(root, [path for path in headers if not path.is_relative_to(root / "tests")])
    breaches += cycles(root)
    breaches += unreached_lists(root)
    breaches += doubled_names(root)
    for path in sources(root):
        breaches += [*include_breaches(root, path), *order_breaches(root, path), *file_breaches(root, path)]
        if layer_of(path.relative_to(root).as_posix()) != "tests" or path.suffix == ".cpp":
            breaches += unlisted(root, path)
    return breaches


# One broken file per rule: path, content, what must be said about it.
BROKEN = [
    ("sim/core/a.hpp", '#include "sim/engine/x.hpp"\n', "sim/core may not include sim/engine"),
    ("sim/rows/a.hpp", '#include "schedules/x.hpp"\n', "sim/rows may not include schedules"),
    ("sim/engine/a.cpp", '#include "schedules/x.hpp"\n', "sim/engine may not include schedules"),
    ("sim/topologies/a.cpp", '#include "sim/analysis/x.hpp"\n', "sim/topologies may not include sim/analysis"),
    ("sim/analysis/a.cpp", '  #  include "sim/engine/x.hpp"\n', "sim/analysis may not include sim/engine"),
    ("schedules/a.cpp", '#include "cost_models/x.hpp"\n', "schedules may not include cost_models"),
    ("cost_models/a.cpp", '#include "sim/rows/x.hpp"\n', "cost_models may not include sim/rows"),
    ("gpu/a.cpp", '#include "formats/x.hpp"\n', "gpu may not include formats"),
    ("formats/a.cpp", '#include "cost_models/x.hpp"\n', "formats may not include cost_models"),
    ("profiler/a.cpp", "#include <schedules/x.hpp>\n", "profiler may not include schedules"),
    ("live/a.cpp", '#include "sim/engine/x.hpp"\n', "live may not include sim/engine"),
    ("live/b.cpp", '#include "profiler/x.hpp"\n', "live may not include profiler"),
    ("scenario/a.cpp", '#include "live/x.hpp"\n', "scenario may not include live"),
    ("studies/a.cpp", '#include "tools/x.hpp"\n', "nobody but python includes tools"),
    ("schedules/b.cpp", '#include "tools/x.hpp"\n', "nobody but python includes tools"),
    ("tools/c.cpp", '#include "tests/support/x.hpp"\n', "tests is included by nobody"),
    ("tools/d.cpp", '#include "python/bindings/x.hpp"\n', "python is included by nobody"),
    ("studies/d.cpp", "#include <pybind11/numpy.h>\n", "pybind11 is included in python only"),
    ("tools/a.hpp", "#include <CLI/CLI.hpp>\n", "CLI11 is included in tools/flags/command_line.cpp only"),
    ("tools/e.cpp", "#include <CLI/CLI.hpp>\n", "CLI11 is included in tools/flags/command_line.cpp only"),
    ("formats/b.hpp", "#include <nlohmann/json.hpp>\n",
     "nlohmann/json is included in .cpp files of formats, and in tests, only"),
    ("tools/views/b.cpp", "#include <nlohmann/json.hpp>\n",
     "nlohmann/json is included in .cpp files of formats, and in tests, only"),
    ("profiler/c.cpp", "#include <simdjson.h>\n", "simdjson is included in .cpp files of formats only"),
    ("formats/inner.cpp", "#include <toml++/impl/parser.h>\n", "private headers of libraries are not included"),
    ("profiler/d.hpp", "#include <sqlite3.h>\n", "sqlite is included in .cpp files only"),
    ("sim/core/b.cpp", "#include <fmt/core.h>\n", "fmt is used in formats, scenario and tools only"),
    ("studies/b.cpp", "#include <fmt/format.h>\n", "fmt is used in formats, scenario and tools only"),
    ("studies/c.hpp", "#include <tbb/info.h>\n", "oneTBB is included in .cpp files of studies only"),
    ("tools/b.cpp", "#include <oneapi/tbb/info.h>\n", "oneTBB is included in .cpp files of studies only"),
    ("sim/core/c.cpp", "#include <doctest/doctest.h>\n", "doctest is used in tests only"),
    ("sim/core/d.cpp", '#include "op.hpp"\n', "is not a path from the root"),
    ("tools/kernel.cu", "\n", "CUDA sources stand in live only"),
    ("bench/long.cpp", "\n" * (MAX_LINES + 1), "longer than 400 lines"),
    ("tests/unit/forgotten.cpp", "\n", "named in no CMakeLists.txt"),
    ("tools/twin.hpp", "namespace debubble {\nstruct Twin {\n};\n}  // namespace debubble\n", "is defined in sim/core"),
    ("formats/left.hpp", '#include "formats/right.hpp"\n', "files that include each other"),
    ("formats/left.cpp", '#include <vector>\n#include "formats/left.hpp"\n', "its own header is included first"),
    ("gpu/left/CMakeLists.txt", "\n", "added by no add_subdirectory"),
    ("profiler/CMakeLists.txt", "add_subdirectory(kept)\nadd_library(p p.cpp\n  p.cpp)\n", ":3: p.cpp is named twice"),
    ("tools/one/to.hpp", '#include "tools/two/x.hpp"\n', "folders that include each other"),
]
FINE = [
    ("sim/core/twin.hpp", "namespace debubble {\nclass Twin {\n};\nclass Other;\n}  // namespace debubble\n"),
    ("live/twin.hpp",
     "namespace debubble::live {\nclass Twin {\n};\nclass Other {};\n}  // namespace debubble::live\n"),
    ("profiler/twin.hpp", "namespace debubble {\nclass Other {};\n}  // namespace debubble\n"),
    ("live/ok.cu", '#include "schedules/x.hpp"\n#include "gpu/x.hpp"\n#include "sim/core/x.hpp"\n'),
    ("profiler/kept/CMakeLists.txt", "add_library(a one.cpp  # one.cpp\n)\nadd_library(b one.cpp)\n"),
    ("formats/right.hpp", '#include "formats/left.hpp"\n'),
    ("formats/right.cpp", '// Right.\n#include "formats/right.hpp"\n\n#include <vector>\n'),
    ("tools/two/x.hpp", '#include "tools/one/y.hpp"\n'),
    ("tools/one/y.hpp", "\n"),
    ("studies/fine.cpp", "#include <tbb/info.h>\n"),
    ("studies/ok.cpp", '#include "profiler/x.hpp"\n#include "scenario/x.hpp"\n'),
    ("formats/ok.cpp", "#include <simdjson.h>\n#include <nlohmann/json.hpp>\n#include <sqlite3.h>\n"),
    (COMMAND_LINE, "#include <CLI/CLI.hpp>\n"),
    ("scenario/ok.cpp", "#include <fmt/format.h>\n"),
    ("tools/ok.cpp", '#include <fmt/core.h>\n#include "sim/engine/x.hpp"\n'),
    ("tests/unit/ok.cpp", '#include <doctest/doctest.h>\n#include "tools/x.hpp"\n'),
    ("python/ok.cpp", '#include <pybind11/pybind11.h>\n#include "tools/x.hpp"\n'),
    ("bench/ok.cpp", '#include "sim/engine/x.hpp"\n' + "\n" * (MAX_LINES - 1)),
]


def self_test():
    with tempfile.TemporaryDirectory() as scratch:
        root = pathlib.Path(scratch)
        listed = [name for name, *_ in BROKEN + FINE if name != "tests/unit/forgotten.cpp"]
        (root / "CMakeLists.txt").write_text("\n".join([*listed, "add_subdirectory(profiler)"]) + "\n")
        for name, content, *_ in BROKEN + FINE:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(content)
        found = check(root)
    missed = [f"{name}: {rule}" for name, _, rule in BROKEN
              if not any(breach.startswith(name + ":") and rule in breach for breach in found)]
    false_alarms = [breach for breach in found if any(breach.startswith(name + ":") for name, _ in FINE)]
    for line in [*(f"not found: {m}" for m in missed), *(f"false alarm: {f}" for f in false_alarms)]:
        print(line)
    if len(found) != len(BROKEN):
        print(f"{len(found)} breaches found, {len(BROKEN)} made:", *found, sep="\n  ")
        return 1
    return 1 if missed or false_alarms else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("root", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        return self_test()
    files = list(sources(arguments.root))
    if not files:
        print(f"{arguments.root}: no sources found")
        return 1
    breaches = check(arguments.root)
    print(*breaches, sep="\n", end="\n" if breaches else "")
    print(f"{len(files)} files, {len(breaches)} breaches")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
