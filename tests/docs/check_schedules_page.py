#!/usr/bin/env python3
"""Holds docs/schedules.md to the catalog: it is what `debubble list schedules --format markdown` prints.

    check_schedules_page.py --binary PATH             fails with the difference
    check_schedules_page.py --binary PATH --update    writes the page
"""

import argparse
import difflib
import pathlib
import subprocess
import sys

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/schedules.md"
TIMEOUT_S = 120


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    made = subprocess.run([options.binary, "list", "schedules", "--format", "markdown"], check=True, timeout=TIMEOUT_S,
                          capture_output=True).stdout.decode("utf-8")
    if options.update:
        PAGE.write_text(made, encoding="utf-8")
        return 0
    kept = PAGE.read_text(encoding="utf-8")
    if kept == made:
        print(f"{PAGE.name}: {made.count(chr(10) + '### ')} schedules, as in the catalog")
        return 0
    sys.stdout.writelines(difflib.unified_diff(kept.splitlines(True), made.splitlines(True), "docs/schedules.md",
                                               "debubble list schedules --format markdown"))
    print("to accept: tests/docs/check_schedules_page.py --update --binary PATH")
    return 1


if __name__ == "__main__":
    sys.exit(main())
