#!/usr/bin/env python3
"""tools/gpu-validate live, whole, with tiny models on the fake GPU: validate_small_test.py DEBUBBLE FAKE_CUDA."""

import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
SCHEDULES = ["1f1b", "chimera", "gpipe", "interleaved", "zb-h1"]


def main():
    binary, fake = sys.argv[1:]
    machine = {"DEBUBBLE_LIBCUDA": fake, "DEBUBBLE_CUBLASLT": fake, "DEBUBBLE_NVRTC": fake,
               "FAKE_CUDA": "idle,processors=132", "DEBUBBLE_BINARY": binary, "DEBUBBLE_VALIDATE_SMALL": "1"}
    with tempfile.TemporaryDirectory() as scratch:
        out = pathlib.Path(scratch) / "out"
        done = subprocess.run([ROOT / "tools/gpu-validate", "live", out], env={**os.environ, **machine}, text=True,
                              capture_output=True, check=False)
        if done.returncode != 0:
            print(done.stdout, done.stderr, sep="\n")
            return 1
        results = json.loads((out / "results.json").read_text(encoding="utf-8"))
        with tarfile.open(out / "runs.tar.gz") as archive:
            packed = sorted(archive.getnames())
        expected = sorted(f"live-{schedule}-p2-m4-{launch}.{kind}" for schedule in SCHEDULES for launch in ("eager", "graph")
                          for kind in ("run.json.gz", "diff.json"))
        checks = len([check for check in results["checks"] if check["passed"]])
        print(f"{checks} checks passed, {len(packed)} files packed")
        # Three for each run, a ranking for each way to launch.
        return 0 if packed == expected and checks == 3 * 10 + 2 else 1


if __name__ == "__main__":
    sys.exit(main())
