#!/usr/bin/env python3
"""Builds the playground (tools/playground/build) for the tests that look at it, in the build folder of its own.

Exit code 77 (skipped) where Emscripten, esbuild, tsc or node are not to be had.
"""

import shutil
import subprocess
import sys

from checks import ROOT, cannot_run

PACKAGES = ("emscripten", "esbuild=0.17.0", "node-typescript=4.8.4")


def need_playground():
    """The folder of what was built; ends the test where it cannot be."""
    tools = subprocess.run([ROOT / "tools" / "playground" / "build", "--check"], capture_output=True, text=True, check=False)
    if tools.returncode != 0 or shutil.which("node") is None:
        why = tools.stderr.splitlines()[0].removeprefix("error: ") if tools.stderr else "no node here"
        cannot_run(why, *PACKAGES)
    return ROOT / "build" / "playground"


def main():
    need_playground()
    return subprocess.run([ROOT / "tools" / "playground" / "build"], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
