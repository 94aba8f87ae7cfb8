#!/usr/bin/env python3
"""tools/gpu-validate live, whole and in parts, with tiny models on the fake GPU: validate_small_test.py DEBUBBLE FAKE_CUDA."""

import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
SCHEDULES = ["1f1b", "chimera", "gpipe", "interleaved", "zb-h1"]


class Case:
    def __init__(self, binary, fake):
        self.machine = {"DEBUBBLE_LIBCUDA": fake, "DEBUBBLE_CUBLASLT": fake, "DEBUBBLE_NVRTC": fake,
                        "FAKE_CUDA": "idle,processors=132", "DEBUBBLE_BINARY": binary, "DEBUBBLE_VALIDATE_SMALL": "1"}
        self.problems = []

    def expect(self, status, *arguments, **more):
        done = subprocess.run([ROOT / "tools/gpu-validate", *arguments], env={**os.environ, **self.machine, **more},
                              text=True, capture_output=True, check=False)
        if done.returncode != status:
            self.problems.append(f"{arguments}: status {done.returncode}, expected {status}\n{done.stdout}{done.stderr}")

    def expect_runs(self, folder, launches, rankings):
        results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
        with tarfile.open(folder / "runs.tar") as archive:
            packed = {pathlib.PurePath(name).name for name in archive.getnames()}
        runs = [f"live-{schedule}-p2-m4-{launch}" for schedule in SCHEDULES for launch in launches]
        missing = {f"{run}.{kind}" for run in runs for kind in ("run.json.gz", "diff.json", "status")} - packed
        checks = len([check for check in results["checks"] if check["passed"]])
        if missing or checks != 3 * len(runs) + rankings:
            self.problems.append(f"{folder.name}: {checks} checks passed, missing {sorted(missing)}")


def main():
    case = Case(*sys.argv[1:])
    with tempfile.TemporaryDirectory() as scratch:
        graph, eager, late, half, both = (pathlib.Path(scratch) / name for name in ("graph", "eager", "late", "half", "both"))
        case.expect(0, "live", graph, "graph", "2")
        case.expect(0, "live", eager, "eager")
        # No run may begin: what was asked of the machine before is there all the same.
        case.expect(4, "live", late, "eager", DEBUBBLE_VALIDATE_DEADLINE="0")
        case.expect(4, "merge", half, graph, late)
        case.expect(0, "merge", both, graph, eager)
        if not case.problems:
            case.expect_runs(graph, ["graph"], 1)
            case.expect_runs(both, ["graph", "eager"], 2)
        if not (late / "runs.tar").exists():
            case.problems.append("a call without runs leaves no runs.tar")
    print(*case.problems, sep="\n", end="\n" if case.problems else "")
    print(f"7 cases, {len(case.problems)} problems")
    return 1 if case.problems else 0


if __name__ == "__main__":
    sys.exit(main())
