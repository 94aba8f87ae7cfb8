"""Which targets a part of the tests needs, and which tests it is: for tools/test.

    choose_tests.py area NAME               nothing, or an error with a suggestion: a folder of tests/ is meant
    choose_tests.py BUILD AREA [WORDS]      targets of the configured folder BUILD, one on a line; then, with WORDS, a last
                                            line with a regular expression for ctest -R
An AREA of - is all of them. WORDS are looked for in tests' names, in names of files and in titles of cases; blanks stand
for _ and -, too, and case does not matter.
"""

import difflib
import json
import pathlib
import re
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parents[2] / "tests"


def fail(problem, *helps):
    print("\n".join([f"error: {problem}", *(f"  = help: {text}" for text in helps)]), file=sys.stderr)
    sys.exit(2)


def suggestion(name, names):
    close = difflib.get_close_matches(name, names, n=3)
    return [f"did you mean {' or '.join(f'`{text}`' for text in close)}?"] if close else []


def check_area(name):
    areas = sorted(path.parent.name for path in TESTS.glob("*/CMakeLists.txt") if path.parent.name != "support")
    if name not in areas:
        fail(f"there is no area `{name}`", *suggestion(name, areas), "an area is a folder of tests/: " + " ".join(areas))


def quoted(text):
    """Both Python and ctest understand it."""
    return re.sub(r"([].*+?()^$|\\[])", r"\\\1", text)


def pattern_of(words):
    return "".join(f"[{c.lower()}{c.upper()}]" if c.isalpha() else "[ _-]" if c == " " else quoted(c)
                   for c in " ".join(words.split()))


def titles(source):
    text = pathlib.Path(source).read_text(encoding="utf-8")
    form = r"^# (.*)" if source.endswith(".transcript") else r'TEST_CASE\w*\(\s*"((?:[^"\\]|\\.)*)"'
    return re.findall(form, text, re.MULTILINE)


def words_of(test):
    """Where words are looked for."""
    yield test["name"]
    for part in test.get("command", []):
        yield pathlib.PurePath(part).name
        yield from titles(part) if part.endswith(".transcript") else ()


def outputs_of(test, build, known):
    """What of the build folder a script's test is given: its command, a file, the Python module, an installation."""
    for argument in test.get("command", []):
        if argument.endswith(f"={build}"):
            yield "all"
        elif argument.startswith(f"{build}/") and argument[len(str(build)) + 1:] in known:
            yield argument[len(str(build)) + 1:]
    for entry in test.get("properties", []):
        if entry["name"] == "ENVIRONMENT" and "PYTHONPATH=" in str(entry["value"]):
            yield "debubble_python"


def binaries_of(build, area):
    """(name, sources) of each, as tests/CMakeLists.txt wrote them down."""
    for line in (build / "test_sources.txt").read_text().splitlines():
        name, folder, *sources = line.split(";")
        if area in ("-", folder.split("/")[0]):
            yield name, sources


def scripts_of(build, area, binaries):
    """What else ctest knows of."""
    folder = build if area == "-" else build / "tests" / area
    done = subprocess.run(["ctest", "--test-dir", str(folder), "--show-only=json-v1"], check=True, capture_output=True)
    is_case = re.compile(f"({'|'.join(binaries)})(:|_NOT_BUILT)").match
    return [test for test in json.loads(done.stdout)["tests"] if not is_case(test["name"])]


def choose(build, area, words):
    """(targets, regular expression of tests' names), both empty where nothing is found"""
    pattern = pattern_of(words)
    has_words = re.compile(pattern).search
    binaries = dict(binaries_of(build, area))
    whole = [name for name, sources in binaries.items()
             if any(has_words(pathlib.PurePath(file).name) for file in (name, *sources))]
    partly = [name for name, sources in binaries.items() if any(has_words(title) for file in sources for title in titles(file))]
    scripts = [test for test in scripts_of(build, area, binaries) if any(map(has_words, words_of(test)))]
    known = subprocess.run(["ninja", "-C", str(build), "-t", "targets", "all"], check=True, capture_output=True, text=True)
    known = {line.split(":")[0] for line in known.stdout.splitlines()}
    targets = {*whole, *partly, *(output for test in scripts for output in outputs_of(test, build, known))}
    # A case is "binary:title", by some doctests with a blank.
    regexes = [f":.*{pattern}"] if partly else []
    regexes += [f"^({'|'.join(whole)}):"] if whole else []
    regexes += [f"^({'|'.join(quoted(test['name']) for test in scripts)})$"] if scripts else []
    return targets, "|".join(regexes), binaries


def main():
    if sys.argv[1] == "area":
        return check_area(sys.argv[2])
    build, area, words = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2], " ".join(sys.argv[3:])
    if not (build / "test_sources.txt").exists():
        fail(f"{sys.argv[1]} is not configured, so it is not known what its tests need", f"cmake --preset {build.name}")
    targets, regex, binaries = choose(build, area, words)
    if words and not regex:
        fail(f"no test has `{words}` in its name, the names of its files or the titles of its cases",
             *suggestion(words, binaries))
    if words:
        print(*sorted(targets), regex, sep="\n")
    else:
        print(*sorted(targets - set(binaries)), f"tests/{area}/all", sep="\n")


if __name__ == "__main__":
    main()
