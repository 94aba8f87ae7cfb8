#!/usr/bin/env python3
"""tools/gpu-validate kernels and steps on a stand-in for PyTorch (fake_torch), and how it refuses machines that lack something."""

import csv
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
COLUMNS = ["what", "variant", "a", "b", "c", "d", "us", "remark"]


class Case:
    def __init__(self, scratch):
        self.scratch = pathlib.Path(scratch)
        self.problems = []

    def run(self, *arguments, verb="kernels", lacks="", small=True, **more):
        environment = {**os.environ, "PYTHONPATH": str(HERE / "fake_torch"), "FAKE_TORCH": lacks, "PYTHONDONTWRITEBYTECODE": "1",
                       "PATH": f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}", **more}
        environment.pop("OUT", None)
        if small:
            environment["DEBUBBLE_VALIDATE_SMALL"] = "1"
        return subprocess.run([ROOT / "tools/gpu-validate", verb, *arguments], env=environment, text=True,
                              capture_output=True, check=False)

    def check(self, told, what):
        if not told:
            self.problems.append(what)

    def measure(self, name, status, verb="kernels", **more):
        """The rows, and the text about them."""
        folder = self.scratch / name
        done = self.run(folder, verb=verb, **more)
        self.check(done.returncode == status, f"{name}: status {done.returncode}, expected {status}\n{done.stdout}{done.stderr}")
        with open(folder / f"{verb}.csv", encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file)
            rows = list(reader)
        self.check(reader.fieldnames == COLUMNS, f"{name}: columns {reader.fieldnames}")
        return rows, (folder / "results.md").read_text(encoding="utf-8")

    def refuse(self, arguments, told, **more):
        done = self.run(*arguments, **more)
        self.check(done.returncode == 3, f"{arguments}: status {done.returncode}, expected 3\n{done.stdout}{done.stderr}")
        self.check(told in done.stderr, f"{arguments}: does not say {told!r}: {done.stderr}")
        self.check("  = help: " in done.stderr, f"{arguments}: no help: {done.stderr}")


def expect_measured(case):
    rows, text = case.measure("whole", 0)
    case.check(rows[0]["variant"] == "FAKE GPU" and "PyTorch 0.0+fake" in rows[0]["remark"], f"device: {rows[0]}")
    timed = {(row["what"], row["variant"]): row for row in rows if row["us"]}
    for what in (("product bf16", "weight_grad adds to fp32"), ("product fp8", "forward"), ("grouped bf16", "forward"),
                 ("attention", "backward full cudnn_attention"), ("attention", "forward causal flash_attention"),
                 ("memory", "rms_norm"), ("memory", "adamw fp32, fused"), ("sustained", "last second")):
        case.check(what in timed and abs(float(timed[what]["us"]) - 50) < 0.001, f"{what}: {timed.get(what)}")
    for row in rows:
        if row["what"] == "host":
            case.check(not row["us"] and row["remark"] == "RuntimeError: no layers here", f"host: {row}")
    case.check("no clocks: " in timed["sustained", "last second"]["remark"], "no pynvml is not said")
    for part in ("# tools/gpu-validate kernels", "PyTorch 0.0+fake, CUDA 0.0, cuDNN 1", "| host | forward | 0 | 1 | RuntimeError"):
        case.check(part in text, f"results.md does not say {part!r}: {text}")


def expect_all_rows(case):
    """Whole, the rows are those that were measured on an H100: same kernels, same order."""
    rows, _ = case.measure("full", 0, small=False, DEBUBBLE_VALIDATE_DEADLINE="100000")
    with open(ROOT / "traces/measured/h100_kernels.csv", encoding="utf-8", newline="") as file:
        known = list(csv.DictReader(file))
    keys = [[(row["what"], row["variant"], row["a"], row["b"], row["c"], row["d"]) for row in part[1:]] for part in (rows, known)]
    case.check(keys[0] == keys[1], "the rows are not those of traces/measured/h100_kernels.csv")


def expect_steps(case):
    """What the stand-in can do is timed; every other row, peaks among them, has its reason."""
    rows, text = case.measure("steps", 1, verb="steps")
    timed = {row["variant"] for row in rows if row["what"] == "product fp8" and row["us"]}
    case.check(timed == {"forward", "forward, scales of rows", "forward, scales of blocks"}, f"steps: {timed}")
    case.check(all(row["us"] or row["remark"] for row in rows), "steps: a row without a time has no reason")
    case.check({row["what"] for row in rows} == {"device", "launch", "fsdp copy", "product fp8", "cast fp8"}, "steps: kinds")
    case.check("# tools/gpu-validate steps" in text, f"steps: {text}")
    for segments in ("default", "expandable"):
        with open(case.scratch / f"steps/peaks-{segments}.csv", encoding="utf-8", newline="") as file:
            peaks = list(csv.DictReader(file))
        case.check(len(peaks) == 12, f"peaks: {len(peaks)} cases")
        case.check(all(row["segments"] == segments and row["remark"] for row in peaks), f"peaks: {peaks[0]}")


def main():
    with tempfile.TemporaryDirectory() as scratch:
        case = Case(scratch)
        expect_measured(case)
        expect_all_rows(case)
        expect_steps(case)
        rows, text = case.measure("old", 0, lacks="fp8")
        case.check([r["remark"][:14] for r in rows if r["what"] == "product fp8"] == ["AttributeError"], "no fp8 is not said")
        rows, _ = case.measure("broken", 0, lacks="all")
        reasons = {row["remark"] for row in rows if row["what"] == "product bf16"}
        case.check(reasons == {"RuntimeError: CUBLAS_STATUS_NOT_SUPPORTED, with a second line"}, f"reasons: {reasons}")
        _, text = case.measure("late", 4, DEBUBBLE_VALIDATE_DEADLINE="0.000001")
        case.check("0 rows measured, 0 that could not be" in text, f"late: {text}")

        case.refuse([case.scratch / "none"], "finds no GPU with CUDA", lacks="cuda")
        case.refuse([case.scratch / "none"], "Python has no PyTorch here", lacks="torch")
        case.check(not (case.scratch / "none").exists(), "a refusal left a folder")
        case.refuse([case.scratch / "whole"], "is not empty")
        case.refuse(["one", "two"], "takes one folder")
    print(*case.problems, sep="\n", end="\n" if case.problems else "")
    print(f"10 cases, {len(case.problems)} problems")
    return 1 if case.problems else 0


if __name__ == "__main__":
    sys.exit(main())
