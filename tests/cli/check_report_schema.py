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

try:
    import jsonschema
except ImportError:
    print("SKIPPED: python3-jsonschema is not installed")
    sys.exit(77)


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
    schema = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    failures = 0
    for name, text in documents(sys.argv[2:]):
        value = json.loads(text, parse_constant=refuse_constant)
        for error in validator.iter_errors(value):
            failures += 1
            where = "/".join(str(part) for part in error.absolute_path)
            print(f"{name}: /{where}: {error.message}")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
