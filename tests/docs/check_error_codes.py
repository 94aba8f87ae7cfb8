#!/usr/bin/env python3
"""Holds docs/errors.md to the table of error codes, and the table to the sources.

    check_error_codes.py --binary PATH             fails with what does not fit
    check_error_codes.py --binary PATH --update    writes the page

Every code in the sources has a row in the table, and every row has a code behind it; no code is there twice.
The page is what `debubble list error-codes --format markdown` prints.
"""

import argparse
import difflib
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/errors.md"
FOLDERS = ("sim", "schedules", "cost_models", "gpu", "profiler", "live", "formats", "scenario", "studies", "tools")
TABLE = "error_table_"
# In quotes or in brackets, so that an "NVIDIA A100" is none.
CODE = re.compile(r"(?<=[\"\[])[A-Z]0\d{2}(?=[\"\]])")
TIMEOUT_S = 120


def listed(binary, form):
    command = [binary, "list", "error-codes", "--format", form]
    return subprocess.run(command, check=True, timeout=TIMEOUT_S, capture_output=True).stdout.decode("utf-8")


def codes_of(source):
    return set(CODE.findall(re.sub(r"//.*", "", source.read_text(encoding="utf-8"))))


def used_codes():
    used = {}
    for folder in FOLDERS:
        for source in (ROOT / folder).rglob("*.cpp"):
            if source.name.startswith(TABLE):
                continue
            for code in codes_of(source):
                used.setdefault(code, source.relative_to(ROOT))
    return used


def twice(names):
    return sorted({name for name in names if names.count(name) > 1})


def problems_of(rows, used):
    codes = [row["name"] for row in rows]
    problems = [f"{code}: several rows" for code in twice(codes)]
    problems += [f"{used[code]}: {code}: no row in the table (tools/explain/error_table_*.cpp)"
                 for code in sorted(set(used) - set(codes))]
    problems += [f"{code}: a row in the table, and not in the sources" for code in sorted(set(codes) - set(used))]
    problems += [f"{row['name']}: says nothing to do" for row in rows if not row["remedy"] or not row["meaning"]]
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    rows = json.loads(listed(options.binary, "json"))["error_codes"]
    made = listed(options.binary, "markdown")
    if options.update:
        PAGE.write_text(made, encoding="utf-8")
    problems = problems_of(rows, used_codes())
    print("\n".join(problems) if problems else f"{len(rows)} codes")
    kept = PAGE.read_text(encoding="utf-8")
    if kept != made:
        sys.stdout.writelines(difflib.unified_diff(kept.splitlines(True), made.splitlines(True), "docs/errors.md",
                                                   "debubble list error-codes --format markdown"))
        print("to accept: tests/docs/check_error_codes.py --update --binary PATH")
    return 1 if problems or kept != made else 0


if __name__ == "__main__":
    sys.exit(main())
