#!/usr/bin/env python3
"""Checks the rows of `debubble sweep --format json` against docs/sweep.schema.json, line by line.

    check_rows.py SCHEMA COMMAND...      runs the command (exit code 0 or 1)

Exit codes: 0 valid; 1 not valid; 77 skipped, since python3-jsonschema is not installed.
"""
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from schemas import errors_of, finish, validator_of  # noqa: E402


def main():
    validator = validator_of(sys.argv[1])
    done = subprocess.run(sys.argv[2:], stdout=subprocess.PIPE, text=True, encoding="utf-8", check=False)
    lines = done.stdout.splitlines()
    if done.returncode not in (0, 1) or not lines:
        sys.exit(f"exit code {done.returncode}, {len(lines)} rows")
    failures = []
    for number, line in enumerate(lines):
        row = json.loads(line)
        failures += errors_of(validator, row, f"row {number}")
        if row["row"] != number:
            failures.append(f"row {number}: it says {row['row']}")
    finish(failures)


main()
