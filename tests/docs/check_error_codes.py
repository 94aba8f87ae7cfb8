#!/usr/bin/env python3
"""Holds docs/errors.md to the sources: every error code has a row, and every row has a code behind it."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("sim", "schedules", "cost_models", "profiler", "live", "tools")
# In quotes or in brackets, so that an "NVIDIA A100" is none.
CODE = re.compile(r"(?<=[\"\[])[A-Z]0\d{2}(?=[\"\]])")
ROW = re.compile(r"^\| ([A-Z]\d{3}) \|", re.MULTILINE)


def main():
    used = set()
    for folder in FOLDERS:
        for source in (ROOT / folder).rglob("*.cpp"):
            used.update(CODE.findall(re.sub(r"//.*", "", source.read_text(encoding="utf-8"))))
    rows = ROW.findall((ROOT / "docs" / "errors.md").read_text(encoding="utf-8"))
    problems = [f"{code}: no row in docs/errors.md" for code in sorted(used - set(rows))]
    problems += [f"{code}: docs/errors.md has it, the sources do not" for code in sorted(set(rows) - used)]
    problems += [f"{code}: several rows" for code in sorted({code for code in rows if rows.count(code) > 1})]
    print("\n".join(problems) if problems else f"{len(rows)} codes")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
