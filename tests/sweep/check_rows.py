#!/usr/bin/env python3
"""Checks the rows of `debubble sweep --format json` against docs/sweep.schema.json, line by line.

    check_rows.py SCHEMA COMMAND...      runs the command (exit code 0 or 1)

Exit codes: 0 valid; 1 not valid; 77 skipped, since python3-jsonschema is not installed.
"""
import json
import pathlib
import subprocess
import sys

try:
    import jsonschema
except ImportError:
    print("SKIPPED: python3-jsonschema is not installed")
    sys.exit(77)


def main():
    schema = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    done = subprocess.run(sys.argv[2:], stdout=subprocess.PIPE, text=True, encoding="utf-8", check=False)
    lines = done.stdout.splitlines()
    if done.returncode not in (0, 1) or not lines:
        sys.exit(f"exit code {done.returncode}, {len(lines)} rows")
    failures = 0
    for number, line in enumerate(lines):
        row = json.loads(line)
        for error in validator.iter_errors(row):
            failures += 1
            print(f"row {number}: {'/'.join(map(str, error.absolute_path))}: {error.message}")
        failures += row["row"] != number
    print(f"{len(lines)} rows, {failures} failures")
    sys.exit(1 if failures else 0)


main()
