#!/usr/bin/env python3
"""Holds docs/schedules.md and docs/planners.md to their catalogs: they are what `debubble list schedules --format
markdown` prints, and `debubble list planners --format markdown`; what stands below KEPT is written by hand.

    check_schedules_page.py --binary PATH [--list planners]             fails with the difference
    check_schedules_page.py --binary PATH [--list planners] --update    writes the page
"""

import argparse
import difflib
import pathlib
import subprocess
import sys

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
HEADINGS = {"schedules": "\n### ", "planners": "\n## "}
KEPT = "<!-- The rest is not made by `debubble list`. -->\n"
TIMEOUT_S = 120


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--list", choices=HEADINGS, default="schedules")
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    page = DOCS / f"{options.list}.md"
    made = subprocess.run([options.binary, "list", options.list, "--format", "markdown"], check=True, timeout=TIMEOUT_S,
                          capture_output=True).stdout.decode("utf-8")
    kept, mark, by_hand = page.read_text(encoding="utf-8").partition(KEPT)
    if options.update:
        page.write_text(made + ("\n" if mark else "") + mark + by_hand, encoding="utf-8")
        return 0
    kept = kept.removesuffix("\n") if mark else kept
    if kept == made:
        print(f"{page.name}: {made.count(HEADINGS[options.list])} {options.list}, as in the catalog")
        return 0
    sys.stdout.writelines(difflib.unified_diff(kept.splitlines(True), made.splitlines(True), f"docs/{page.name}",
                                               f"debubble list {options.list} --format markdown"))
    print(f"to accept: tests/docs/check_schedules_page.py --list {options.list} --update --binary PATH")
    return 1


if __name__ == "__main__":
    sys.exit(main())
