#!/usr/bin/env python3
"""tools/gpu_validate/live.py judges made-up runs: what is right passes, each thing that is wrong fails alone."""

import copy
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]


def diff(step, bubble):
    return {"makespan_ns": {"predicted": step, "measured": step, "gap": 0, "p10": step - 10, "p90": step + 10},
            "bubble_ratio": {"predicted": bubble, "measured": bubble},
            "devices": [{"device": 0, "peak_activation_bytes": {"predicted": 1000, "measured": 1000}},
                        {"device": 1, "peak_activation_bytes": {"predicted": 500, "measured": 500}}]}


GOOD = {"live-gpipe-p2-m4-graph": diff(1_000_000, 0.2), "live-zb-h1-p2-m4-graph": diff(900_000, 0.1)}
GPIPE, ZB = "live-gpipe-p2-m4-graph", "live-zb-h1-p2-m4-graph"

CASES = [  # what is changed where, and the checks that must fail
    ([], []),
    ([(GPIPE, "bubble_ratio", "measured", 0.2099)], []),
    ([(GPIPE, "bubble_ratio", "measured", 0.2101)], ["gpipe-p2-m4-graph: bubble"]),
    ([(GPIPE, "bubble_ratio", "measured", 0.1899)], ["gpipe-p2-m4-graph: bubble"]),
    ([(ZB, "makespan_ns", "measured", 918_000)], []),
    ([(ZB, "makespan_ns", "measured", 918_001)], ["zb-h1-p2-m4-graph: step time"]),
    ([(ZB, "makespan_ns", "predicted", 1_000_001)],
     ["zb-h1-p2-m4-graph: step time", "ranking, 2 devices, 4 microbatches, graph"]),
    # The repetitions of the two overlap: their order says nothing.
    ([(ZB, "makespan_ns", "predicted", 1_000_001), (ZB, "makespan_ns", "measured", 1_000_001),
      (ZB, "makespan_ns", "p90", 1_000_100), (GPIPE, "makespan_ns", "measured", 1_000_002)], []),
    ([(ZB, "devices", 1, {"device": 1, "peak_activation_bytes": {"predicted": 500, "measured": 505}})], []),
    ([(ZB, "devices", 1, {"device": 1, "peak_activation_bytes": {"predicted": 500, "measured": 506}})],
     ["zb-h1-p2-m4-graph: peak of activations"]),
]


def judge(runs, statuses=None, planned=()):
    """(exit code, names of failed checks, names of the files made, verdict)."""
    with tempfile.TemporaryDirectory() as scratch:
        work, out = pathlib.Path(scratch) / "work", pathlib.Path(scratch) / "out"
        work.mkdir()
        out.mkdir()
        for name, value in runs.items():
            (work / f"{name}.diff.json").write_text(json.dumps(value), encoding="utf-8")
            (work / f"{name}.status").write_text("0", encoding="utf-8")
        (work / "planned").write_text("\n".join(planned), encoding="utf-8")
        for name, status in (statuses or {}).items():
            (work / f"{name}.status").write_text(str(status), encoding="utf-8")
        done = subprocess.run([sys.executable, ROOT / "tools/gpu_validate/live.py", work, out], text=True,
                              capture_output=True, check=False)
        results = json.loads((out / "results.json").read_text(encoding="utf-8"))
        failed = [check["check"] for check in results["checks"] if check["passed"] is False]
        return done.returncode, failed, sorted(path.name for path in out.iterdir()), results["verdict"]


def main():
    problems = []
    for changes, expected in CASES:
        runs = copy.deepcopy(GOOD)
        for name, figure, key, value in changes:
            runs[name][figure][key] = value
        code, failed, made, verdict = judge(runs)
        if failed != expected or code != bool(expected):
            problems.append(f"{changes}: exit code {code}, failed {failed}, expected {expected}")
        if made != ["results.json", "results.md"] or verdict != ("failed" if expected else "passed"):
            problems.append(f"{changes}: files {made}, verdict {verdict}")
    if judge({})[:2] != (1, ["live runs"]):
        problems.append("no run at all must fail")
    if judge(GOOD, {"live-1f1b-p2-m4-eager": 1})[:2] != (1, ["run live-1f1b-p2-m4-eager"]):
        problems.append("a run that failed must fail")
    if judge(GOOD, planned=GOOD)[::3] != (0, "passed"):
        problems.append("a whole set must pass")
    if judge(GOOD, planned=[*GOOD, "live-1f1b-p2-m4-graph"])[::3] != (4, "incomplete"):
        problems.append("a set with runs left out must be incomplete")
    if judge({}, {"live-1f1b-p2-m4-eager": 1}, ["live-1f1b-p2-m4-graph"])[::3] != (1, "failed"):
        problems.append("a failure outweighs what is missing")
    print(*problems, sep="\n", end="\n" if problems else "")
    print(f"{len(CASES) + 5} cases, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
