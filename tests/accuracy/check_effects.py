#!/usr/bin/env python3
"""Checks that docs/accuracy-effects.md is what `debubble accuracy --effects` prints; --update writes it anew."""
import argparse
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "accuracy-effects.md"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--update", action="store_true")
    arguments = parser.parse_args()
    command = [arguments.binary, "accuracy", "--effects", "--records", str(ROOT / "traces/published/results.json"),
               "--format", "markdown"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout
    if arguments.update:
        PAGE.write_text(printed, encoding="utf-8")
        return 0
    if printed == PAGE.read_text(encoding="utf-8"):
        return 0
    print("docs/accuracy-effects.md is not what the binary prints; run tests/accuracy/check_effects.py --update")
    return 1


if __name__ == "__main__":
    sys.exit(main())
