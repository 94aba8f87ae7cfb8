#!/usr/bin/env python3
"""docs/suite.schema.json and debubble's own reader: every suite of the tree is valid, and both know the same flags.

    check_suite_schema.py DEBUBBLE

Exit codes: 0 they agree; 1 each problem is printed; 77 skipped, since python3-jsonschema is not installed.
"""
import json
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from schemas import errors_of, finish, validator_of  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOOD = [
    {"name": "a", "scenario": {}},
    {"name": "a", "scenario": {"devices": 4, "param": ["x=1"], "comm": 0.5}, "live": {"backend": "cpu"}},
    {"name": "a", "measured": "x.run.json", "required": False, "tolerances": {"bubble_pp": 0}},
]
BAD = [
    {"scenario": {}}, {"name": "a"}, {"name": "a", "live": {}}, {"name": "", "scenario": {}},
    {"name": "a", "scenario": {"nonesuch": 1}}, {"name": "a", "scenario": {"devices": 4.5}},
    {"name": "a", "scenario": {}, "measured": "b", "live": {}}, {"name": "a", "scenario": {}, "extra": 1},
    {"name": "a", "scenario": {}, "tolerances": {"bubble_pp": 101}},
    {"name": "a", "scenario": {}, "tolerances": {"bubbles": 1}}, {"name": "a", "scenario": {}, "required": 1},
]


def main():
    validator = validator_of("suite")
    problems = []
    for path in sorted((ROOT / "traces").rglob("*.suite.json")):
        problems += errors_of(validator, json.loads(path.read_text(encoding="utf-8")), path.name)
    for scenarios, valid in [*((one, True) for one in GOOD), *((one, False) for one in BAD)]:
        suite = {"schema": "debubble.suite/1", "name": "s", "scenarios": [scenarios]}
        if validator.is_valid(suite) != valid:
            problems.append(f"{'refuses' if valid else 'takes'} {json.dumps(scenarios)}")
    text = subprocess.run([sys.argv[1], "simulate", "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout
    keys = set(validator.schema["definitions"]["scenario"]["properties"]["scenario"]["properties"])
    groups = re.findall(r"\n(?:Run|Costs|Network|Model|Cluster|Step|Memory|Variation):\n((?:  .*\n?)+)", text)
    shared = {"schedule"} | set(re.findall(r"--([a-z0-9-]+)", "".join(groups)))
    shared -= {"gbs", "mbs", "microbatch", "pp", "seq", "seq-length"}  # other names of flags that are keys
    if keys != shared:
        problems.append(f"keys {sorted(keys - shared)} are no flags, flags {sorted(shared - keys)} are no keys")
    finish(problems)


if __name__ == "__main__":
    main()
