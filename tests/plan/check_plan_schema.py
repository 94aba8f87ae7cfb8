#!/usr/bin/env python3
"""Checks `debubble plan --format json` against docs/plan.schema.json: of a plan, of one that does not fit, and of a profile;
and that of `--planner` and of `explain planner all` against docs/plan-planners.schema.json.

    check_plan_schema.py ROOT BINARY

Exit codes: 0 fine; 1 not; 77 skipped, since python3-jsonschema is not installed.
"""
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from schemas import errors_of, finish, validator_of  # noqa: E402

SMALL = ["--model", "gpt2-small", "--global-batch", "16"]
RUNS = [
    ([*SMALL, "--gpus", "4", "--price", "2.5"], 0),
    ([*SMALL, "--gpus", "2", "--memory", "1GiB"], 1),
    ([*SMALL, "--gpus", "4", "--objective", "memory", "--only", "schedule=1f1b,gpipe"], 0),
    ([*SMALL, "--gpus", "2", "--front"], 0),
    ([*SMALL, "--gpus", "4", "--memory", "3GiB", "--fix", "tp=2,pp=2", "--runs-in", "megatron"], 0),
    (["--profile", "traces/published/bert-large-p100.json", "--gpus", "4", "--global-batch", "256"], 0),
    ([*SMALL[:2], "--tp", "2", "-p", "2", "-m", "8"], 0),
]

ASKED = [
    ([*SMALL, "--gpus", "4", "--planner", "all", "--as-published"], 0),
    (["--profile", "traces/published/bert-large-p100.json", "--gpus", "4", "--global-batch", "256", "--planner", "dapple"], 0),
]


def check(root, binary, name, runs, verb=("plan",)):
    failures = []
    for flags, status in runs:
        done = subprocess.run([binary, *verb, *flags, "--format", "json"], cwd=root, stdout=subprocess.PIPE, check=False)
        if done.returncode != status:
            sys.exit(f"debubble {' '.join(verb)} {' '.join(flags)}: exit code {done.returncode}, not {status}")
        failures += errors_of(validator_of(name), json.loads(done.stdout), flags)
    return failures


def main():
    root, binary = pathlib.Path(sys.argv[1]).resolve(), str(pathlib.Path(sys.argv[2]).resolve())
    without_plan = check(root, binary, "plan-planners", [([*SMALL[:2], "-p", "4"], 0)], ("explain", "planner", "all"))
    finish(check(root, binary, "plan", RUNS) + check(root, binary, "plan-planners", ASKED) + without_plan)


if __name__ == "__main__":
    main()
