#!/usr/bin/env python3
"""tools/gpu_validate/compare.py judges made-up measurements: what is right passes, each thing that is wrong fails alone."""

import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TIMES = {"median_ns": 100_000, "n": 10}
LAYER = {"name": "blocks.0", "count": 2, "forward": TIMES, "input_grad": TIMES, "weight_grad": TIMES,
         "activation_bytes": 1000, "output_bytes": 10, "parameter_bytes": 5}
PROFILE = {"measurement": {"kernels": 4, "kernel_time_ns": 1000, "layer_time_ns": 900,
                           "rest": [{"what": "optimizer", "count": 1, "total_ns": 100}], "overhead_ppm": 20000},
           "layers": [LAYER]}
CHECKS = {"checks": [{"layer": "block", "pass": "F", "by_kernels_ns": 9_800_000, "by_events_ns": 10_000_000},
                     {"layer": "block", "pass": "I", "by_kernels_ns": 1_000, "by_events_ns": 9_000}]}
GPU = {"gpu_checks": [{"name": "memory", "question": "?", "passed": True, "remark": "", "figures": []}]}


def files():
    return json.loads(json.dumps({"gpt-b1.profile.json": PROFILE, "gpt-b1.checks.json": CHECKS, "gpu-checks.out": GPU,
                          "torch-injection.profile.json": PROFILE, "torch-kineto.profile.json": PROFILE,
                          "torch-memory.json": {"blocks.0": 1005, "blocks.1": 995, "head": 1}, "doctor.status": 0}))


def spoil(content, path, value):
    for key in path[:-1]:
        content = content[key]
    content[path[-1]] = value


CASES = [  # what is changed where, and the check that must fail (None: none)
    (None, None, None),
    (("gpt-b1.checks.json", "checks", 0, "by_kernels_ns"), 9_690_000, "gpt-b1: kernel times against event times"),
    (("gpt-b1.checks.json", "checks", 0, "by_kernels_ns"), 10_300_000, None),
    (("gpt-b1.profile.json", "measurement", "layer_time_ns"), 899, "gpt-b1: GPU time accounted for"),
    (("gpt-b1.profile.json", "measurement", "rest", 0, "what"), "unlinked", "gpt-b1: GPU time of unknown origin"),
    (("gpt-b1.profile.json", "measurement", "losses"), [{"what": "dropped records", "count": 1}], "gpt-b1: losses"),
    (("gpt-b1.profile.json", "measurement", "clock"), {"throttled": True}, "gpt-b1: clock"),
    (("gpu-checks.out", "gpu_checks", 0, "passed"), False, "gpu memory"),
    (("torch-kineto.profile.json", "layers", 0, "forward"), {"median_ns": 104_000},
     "PyTorch blocks, forward: injection against torch.profiler"),
    (("torch-kineto.profile.json", "layers", 0, "backward"), {"median_ns": 190_000},
     "PyTorch blocks, backward: injection against torch.profiler"),
    (("torch-memory.json", "blocks.1"), 985, "PyTorch blocks: bytes kept for backward against the allocator"),
    (("doctor.status",), 1, "run doctor"),
]


def judge(content):
    """(exit code, names of failed checks, names of the files made)."""
    with tempfile.TemporaryDirectory() as scratch:
        work, out = pathlib.Path(scratch) / "work", pathlib.Path(scratch) / "out"
        work.mkdir()
        out.mkdir()
        for name, value in content.items():
            (work / name).write_text(json.dumps(value), encoding="utf-8")
        done = subprocess.run([sys.executable, ROOT / "tools/gpu_validate/compare.py", work, out], text=True,
                              capture_output=True, check=False)
        results = json.loads((out / "results.json").read_text(encoding="utf-8"))
        failed = [check["check"] for check in results["checks"] if check["passed"] is False]
        return done.returncode, failed, sorted(path.name for path in out.iterdir())


def main():
    problems = []
    for path, value, expected in CASES:
        content = files()
        if path:
            spoil(content, path, value)
        code, failed, made = judge(content)
        wanted = [expected] if expected else []
        if failed != wanted or code != bool(wanted):
            problems.append(f"{path} = {value}: exit code {code}, failed {failed}, expected {wanted}")
        if made != ["gpt-b1.json", "results.json", "results.md", "torch-injection.json"]:
            problems.append(f"{path}: files {made}")
    without_torch = {name: value for name, value in files().items() if not name.startswith("torch")}
    if judge(without_torch)[:2] != (0, []):
        problems.append("without PyTorch the rest must pass")
    if judge({"doctor.status": 0})[:2] != (1, ["built-in models"]):
        problems.append("no profile at all must fail")
    print(*problems, sep="\n", end="\n" if problems else "")
    print(f"{len(CASES) + 2} cases, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
