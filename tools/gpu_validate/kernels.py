#!/usr/bin/env python3
"""Times kernels of training on a GPU through PyTorch, to hold traces/kernels to: kernels.py FOLDER [--rows steps] [--seconds N].

Products forward and of both gradients in bf16, weight gradients that add to 32 bits, products in fp8, attention,
products of experts, passes over memory, long runs under the power limit, and what the host takes for eager blocks. Random
data; inputs rotate over more than the L2 cache; calls that one CUDA graph holds, the median of five replays
(kernel_timing.py, kernel_rows.py). Rows are written to FOLDER/kernels.csv as they are measured; what a PyTorch cannot do is
a row with its reason. After SECONDS (200) no more are begun. FOLDER/results.md says on what they were measured.

--rows steps: what a step takes beside them, to FOLDER/steps.csv (step_rows.py): 8-bit products and casts, launches, copies
of sharded parameters.

Exit code 0: all were measured, or have their reason; 1: none could be; 3: no GPU can be used; 4: time ended before.
"""

import argparse
import csv
import datetime
import os
import pathlib
import platform
import subprocess
import sys
import time

QUERY = "name,driver_version,clocks.sm,clocks.max.sm,power.limit,power.draw,temperature.gpu"


def missing():
    """What keeps this machine from measuring, and what to do; nothing when it can."""
    try:
        import torch
    except ImportError as error:
        return f"Python has no PyTorch here ({error})", "use a Python that has PyTorch with CUDA: it is taken from PATH as python3"
    if not torch.cuda.is_available():
        return (f"PyTorch {torch.__version__} finds no GPU with CUDA",
                "run it on a machine with an NVIDIA GPU, with a PyTorch that is built for CUDA")
    return None


def nvidia_smi():
    try:
        done = subprocess.run(["nvidia-smi", f"--query-gpu={QUERY}", "--format=csv"], text=True, capture_output=True,
                              timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"nvidia-smi: {error}"
    return (done.stdout or done.stderr).strip()


def software():
    import torch
    return f"PyTorch {torch.__version__}, CUDA {torch.version.cuda}, cuDNN {torch.backends.cudnn.version()}"


def summary(path):
    """By kind of row and variant: rows measured, rows without a time, and one reason for such."""
    found = {}
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            counts = found.setdefault((row["what"], row["variant"]), [0, 0, ""])
            counts[0 if row["us"] else 1] += 1
            counts[2] = counts[2] or ("" if row["us"] else row["remark"])
    found = {key: counts for key, counts in found.items() if key[0] != "device"}
    lines = ["| what | variant | measured | not | why |", "|---|---|--:|--:|---|"]
    for (what, variant), (measured, impossible, reason) in found.items():
        lines.append(f"| {what} | {variant} | {measured} | {impossible} | " + reason.replace("|", "\\|") + " |")
    return lines


def report(folder, options, before, rows, seconds):
    date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")
    lines = [f"# tools/gpu-validate {options.rows}", "", f"{date}, tree {options.tree}, {seconds:.0f} s", "", software(),
             "", platform.platform(), "", "```text", before or "nvidia-smi says nothing", "```", "",
             f"{rows.measured} rows measured, {rows.impossible} that could not be, {rows.left_out} for which time was up."
             " Columns a to d are m, n, k of products; experts, tokens of each, n, k of grouped ones; samples, heads/heads of"
             " keys, length, size of a head of attention; rows and columns of passes and casts, parameters of AdamW; block and"
             " ranks of copies; kernels of a graph.", ""]
    (folder / "results.md").write_text("\n".join(lines + summary(folder / f"{options.rows}.csv")) + "\n", encoding="utf-8")


def measure(folder, options):
    import torch
    from kernel_timing import Rows
    if options.rows == "steps":
        from step_rows import measure_all
    else:
        from kernel_rows import measure_all
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(0)
    before = nvidia_smi()
    begin = time.monotonic()
    rows = Rows(folder / f"{options.rows}.csv", begin + options.seconds)
    properties = torch.cuda.get_device_properties(0)
    rows.add("device", properties.name, (properties.multi_processor_count,), None, software())
    measure_all(rows, small=bool(os.environ.get("DEBUBBLE_VALIDATE_SMALL")))
    report(folder, options, before, rows, time.monotonic() - begin)
    print(f"{rows.measured} rows measured, {rows.impossible} not possible, {rows.left_out} left out; results in {folder}")
    if rows.left_out:
        return 4
    return 0 if rows.measured else 1


def positive(text):
    value = float(text)
    if not 0 < value < 1e6:
        raise ValueError(text)
    return value


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, help="where the results go; it is made")
    parser.add_argument("--rows", choices=["kernels", "steps"], default="kernels")
    parser.add_argument("--seconds", type=positive, default=200.0)
    parser.add_argument("--tree", default="unknown", help="commit of the tree, for results.md")
    options = parser.parse_args()
    if options.folder.exists() and not options.folder.is_dir():
        parser.error(f"{options.folder} is not a folder")
    lack = missing()
    if lack:
        print(f"error: {lack[0]}\n  = help: {lack[1]}", file=sys.stderr)
        return 3
    return measure(options.folder, options)


if __name__ == "__main__":
    sys.exit(main())
