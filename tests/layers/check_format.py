#!/usr/bin/env python3
"""Checks that every C++ source of the tree is formatted as .clang-format says; `--fix` formats them.

Another version than 14 formats differently. Where it is neither installed (Debian 12 has it, not 13) nor among the witnesses
(tests/witness) the exit code is 77, skipped for ctest; with $CI set that is a failure where apt has it.
"""

import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "browser"))
from checks import cannot_run  # noqa: E402

VERSION = "14"
FOLDERS = ("sim", "schedules", "cost_models", "formats", "gpu", "profiler", "live", "scenario", "studies", "tools",
           "python", "tests", "bench")
SUFFIXES = {".hpp", ".cpp", ".cu", ".cuh"}


def clang_format(root):
    """The command of clang-format 14, or None."""
    for name in (f"clang-format-{VERSION}", "clang-format", str(root / "build" / "witness" / "bin" / "clang-format")):
        command = shutil.which(name)
        if command:
            banner = subprocess.run([command, "--version"], capture_output=True, text=True, check=True).stdout
            if re.search(rf"version {VERSION}\.", banner):
                return command
    return None


def main():
    arguments = sys.argv[1:]
    fix = "--fix" in arguments
    roots = [argument for argument in arguments if argument != "--fix"]
    root = pathlib.Path(roots[0]) if roots else pathlib.Path(__file__).resolve().parents[2]
    command = clang_format(root)
    if command is None:
        cannot_run(f"clang-format {VERSION} is not installed", f"clang-format-{VERSION}")
    files = [str(path) for folder in FOLDERS for path in sorted((root / folder).rglob("*")) if path.suffix in SUFFIXES]
    if not files:
        print(f"{root}: no sources found")
        return 1
    mode = ["-i"] if fix else ["--dry-run", "-Werror"]
    result = subprocess.run([command, "--style=file", *mode, *files], check=False)
    if result.returncode != 0 and not fix:
        print("fix it with: tests/layers/check_format.py --fix")
    print(f"{len(files)} files")
    return 1 if result.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
