#!/usr/bin/env python3
"""Checks JSON reports against docs/report.schema.json.

    check_report_schema.py SCHEMA FILE...        files holding what `debubble ... --format json` printed
    check_report_schema.py SCHEMA -- COMMAND...  runs the command and checks its standard output (exit code 0 or 1)

Exit codes: 0 valid; 1 not valid; 77 skipped, since python3-jsonschema is not installed.
"""
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from schemas import errors_of, finish, validator_of  # noqa: E402


def refuse_constant(name):
    raise ValueError(f"{name} is not JSON")


def documents(arguments):
    if arguments[0] != "--":
        return [(name, pathlib.Path(name).read_text(encoding="utf-8")) for name in arguments]
    done = subprocess.run(arguments[1:], stdout=subprocess.PIPE, text=True, encoding="utf-8")
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(arguments[1:])}: exit code {done.returncode}")
    return [(" ".join(arguments[1:]), done.stdout)]


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    validator = validator_of(sys.argv[1])
    failures = []
    for name, text in documents(sys.argv[2:]):
        failures += errors_of(validator, json.loads(text, parse_constant=refuse_constant), name)
    finish(failures)


if __name__ == "__main__":
    main()
