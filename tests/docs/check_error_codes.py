#!/usr/bin/env python3
"""Holds docs/errors.md, with which the command is built, to the sources.

    check_error_codes.py --binary PATH

Every code in the sources has a row in the table, and every row has a code behind it; no code is there twice, and the page is
what `debubble list error-codes --format markdown` prints.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/errors.md"
FOLDERS = ("sim", "schedules", "cost_models", "gpu", "profiler", "live", "formats", "scenario", "studies", "tools")
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
            for code in codes_of(source):
                used.setdefault(code, source.relative_to(ROOT))
    return used


def twice(names):
    return sorted({name for name in names if names.count(name) > 1})


def problems_of(rows, used):
    codes = [row["name"] for row in rows]
    problems = [f"{code}: several rows" for code in twice(codes)]
    problems += [f"{used[code]}: {code}: no row in docs/errors.md"
                 for code in sorted(set(used) - set(codes))]
    problems += [f"{code}: a row of docs/errors.md, and not in the sources" for code in sorted(set(codes) - set(used))]
    problems += [f"{row['name']}: says nothing to do" for row in rows if not row["remedy"] or not row["meaning"]]
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    options = parser.parse_args()
    rows = json.loads(listed(options.binary, "json"))["error_codes"]
    problems = problems_of(rows, used_codes())
    if listed(options.binary, "markdown") != PAGE.read_text(encoding="utf-8"):
        problems.append("the command was built with another docs/errors.md")
    print("\n".join(problems) if problems else f"{len(rows)} codes")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
