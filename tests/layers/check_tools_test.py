#!/usr/bin/env python3
"""tools/test: what it would run for its arguments, and what it chooses to build for a part of the tests.

    check_tools_test.py ROOT BUILD
"""

import re
import subprocess
import sys

FAILED = []


def output_of(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def check(what, holds, output):
    if not holds:
        FAILED.append(what)
        print(f"FAILED: {what}\n{output}")


def check_commands(root):
    """Of what depends on no build folder."""
    for arguments, ends, wanted in (
        ("", 0, ["cmake --preset ci ", "cmake --build --preset ci ", "ctest --preset ci --output-on-failure "]),
        ("--preset asan", 0, ["cmake --preset asan ", "cmake --build --preset asan ", "ctest --preset asan "]),
        ("-L golden", 0, ["ctest --preset ci ", " -L golden "]),
        ("--preset dev -R x -L y", 0, ["ctest --preset dev ", " -R x -L y "]),
        ("gloden", 2, ["there is no area `gloden`", "did you mean `golden`?"]),
        ("unit golden", 2, ["one area at a time"]),
        ("-k", 2, ["-k needs words"]),
    ):
        status, text = output_of(f"{root}/tools/test", "--dry-run", *arguments.split())
        check(f"tools/test {arguments}: status {status}", status == ends and all(part in text for part in wanted), text)


def check_choice(root, build):
    def choose(*arguments):
        status, text = output_of(sys.executable, f"{root}/tools/lib/choose_tests.py", build, *arguments)
        return status, text.splitlines()

    check("an area that runs the command", choose("docs") == (0, ["bin/debubble", "tests/docs/all"]), choose("docs"))
    check("an area that does not", choose("layers") == (0, ["tests/layers/all"]), choose("layers"))
    # A file's name, a case's title, a script's name; in other letters, and with a blank.
    for words, area, target, test in (
        ("find DEADLOCK", "-", "check_test", "check_test:a case of it"),
        ("random deadlock", "property", "property_test", "property_test:rows shuffled at random deadlock"),
        ("README.md", "-", "bin/debubble", "docs: README.md"),
    ):
        status, lines = choose(area, words)
        check(f"-k '{words}'", status == 0 and target in lines[:-1] and re.search(lines[-1], test), lines)
    status, lines = choose("unit", "README.md")
    check("-k within an area", status == 2 and "no test has" in lines[0], lines)
    status, lines = choose("-", "chek_test")
    check("-k of nothing", status == 2 and "did you mean `check_test`" in lines[1], lines)


def main():
    check_commands(sys.argv[1])
    check_choice(*sys.argv[1:])
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
