#!/usr/bin/env python3
"""Checks `debubble plan --format json` against docs/plan.schema.json: of a plan, of one that does not fit, and of a profile;
and that of `--planner` against docs/plan-planners.schema.json.

    check_plan_schema.py ROOT BINARY

Exit codes: 0 fine; 1 not; 77 skipped, since python3-jsonschema is not installed.
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

SMALL = ["--model", "gpt2-small", "--global-batch", "16"]
RUNS = [
    ([*SMALL, "--gpus", "4", "--price", "2.5"], 0),
    ([*SMALL, "--gpus", "2", "--memory", "1GiB"], 1),
    ([*SMALL, "--gpus", "4", "--objective", "memory", "--only", "schedule=1f1b,gpipe"], 0),
    ([*SMALL, "--gpus", "2", "--front"], 0),
    (["--profile", "traces/published/bert-large-p100.json", "--gpus", "4", "--global-batch", "256"], 0),
    ([*SMALL[:2], "--tp", "2", "-p", "2", "-m", "8"], 0),
]

ASKED = [
    ([*SMALL, "--gpus", "4", "--planner", "all", "--as-published"], 0),
    (["--profile", "traces/published/bert-large-p100.json", "--gpus", "4", "--global-batch", "256", "--planner", "dapple"], 0),
]


def check(root, binary, name, runs):
    schema = json.loads((root / f"docs/{name}.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    failures = 0
    for flags, status in runs:
        done = subprocess.run([binary, "plan", *flags, "--format", "json"], cwd=root, stdout=subprocess.PIPE, check=False)
        if done.returncode != status:
            sys.exit(f"debubble plan {' '.join(flags)}: exit code {done.returncode}, not {status}")
        for error in validator.iter_errors(json.loads(done.stdout)):
            failures += 1
            print(f"{flags}: /{'/'.join(map(str, error.absolute_path))}: {error.message}")
    return failures


def main():
    root, binary = pathlib.Path(sys.argv[1]).resolve(), str(pathlib.Path(sys.argv[2]).resolve())
    failures = check(root, binary, "plan", RUNS) + check(root, binary, "plan-planners", ASKED)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
