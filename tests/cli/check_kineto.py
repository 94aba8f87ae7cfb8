#!/usr/bin/env python3
"""Traces in Kineto's dialect: read back by debubble, and judged by the arithmetic of Holistic Trace Analysis (HTA).

    tests/cli/check_kineto.py BINARY

HTA's rules, as it documents them: a rank is what follows `"rank": ` on a line; rows of the GPU are those with a stream; kernels
named nccl... communicate, all other kernels compute; of the time between a rank's first and last kernel, compute time is the
union of the computing ones, idle time is where no kernel runs, and the rest is non-compute time; overlap is the part of the
union of communication in which something computes; a kernel's launch is the runtime row of the same correlation.
"""
import gzip
import json
import pathlib
import re
import subprocess
import sys
import tempfile
from fractions import Fraction

# Arguments, and whether a run file can hold the run, so that the ops' times can be compared.
RUNS = [
    ("-p 2 -m 1 --comm 0.3", True),
    ("-p 4 -m 8", True),
    ("-p 4 -m 8 --comm 0.25", True),
    ("-p 4 -m 8 --comm 0.25 --schedule gpipe", True),
    ("-p 4 -m 8 --comm 0.25 --schedule zb-h1", True),
    ("-p 4 -m 8 --comm 0.25 --schedule interleaved", True),
    ("-p 4 -m 8 --comm 0.1 --schedule zb-v", True),
    ("-p 4 -m 8 --comm 0.1 --schedule dualpipe-v", True),
    ("-p 4 -m 8 --comm 0.1 --schedule hanayo", True),
    ("-p 4 -m 8 --comm 0.7 --p2p blocking", True),
    ("-p 4 -m 8 --comm 0.2 --transform offload", False),
    ("-p 4 -m 8 --model llama3-8b --hardware h100 --tp 2 --dp 2 --topology dgx-h100:2", False),
    ("-p 12 -m 24 --comm 0.25", True),
]


def nanoseconds(microseconds):
    value = Fraction(microseconds) * 1000
    assert value.denominator == 1
    return int(value)


def union(intervals):
    merged = []
    for begin, end in sorted(intervals):
        if merged and begin <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([begin, end])
    return merged


def length(intervals):
    return sum(end - begin for begin, end in union(intervals))


class Rank:
    """One file, by HTA's rules."""

    def __init__(self, path):
        text = gzip.decompress(path.read_bytes()).decode()
        self.rank = next(int(m.group(1)) for m in (re.search(r'"rank":\s+(\d+)', line) for line in text.split("\n")) if m)
        trace = json.loads(text, parse_float=str)
        assert trace["schemaVersion"] == 1 and trace["distributedInfo"]["backend"] == "nccl"
        self.world = trace["distributedInfo"]["world_size"]
        events = [e for e in trace["traceEvents"] if e["ph"] == "X"]
        for event in events:
            event["ts"], event["dur"] = nanoseconds(event["ts"]), nanoseconds(event["dur"])
        self.gpu = [e for e in events if e["args"].get("stream", -1) > 0]
        self.launches = {e["args"]["correlation"]: e for e in events if e["cat"] == "cuda_runtime"}
        self.steps = [e for e in events if e["name"].startswith("ProfilerStep#") and e["cat"] == "user_annotation"]
        self.ranges = [e for e in events if e["cat"] == "gpu_user_annotation" and e["name"].startswith("PP:")]
        self.arrows = [e for e in trace["traceEvents"] if e["ph"] in "sf"]

    def intervals(self, wanted):
        return [(e["ts"], e["ts"] + e["dur"]) for e in self.gpu if e["cat"] == "kernel" and wanted(e["name"])]

    def breakdown(self):
        compute = self.intervals(lambda name: not name.startswith("nccl"))
        everything = union((e["ts"], e["ts"] + e["dur"]) for e in self.gpu)
        kernel_time = everything[-1][1] - everything[0][0]
        idle = sum(after[0] - before[1] for before, after in zip(everything, everything[1:]))
        return kernel_time, length(compute), idle, kernel_time - length(compute) - idle

    def communication(self):
        talk = union(self.intervals(lambda name: name.startswith("nccl")))
        work = union(self.intervals(lambda name: not name.startswith("nccl")))
        both = sum(max(0, min(a[1], b[1]) - max(a[0], b[0])) for a in talk for b in work)
        return sum(end - begin for begin, end in talk), both

    def check_launches(self, makespan):
        """Every kernel has its launch, which comes before it and, for HTA, never makes a stream wait for the host."""
        last = {}
        for event in sorted(self.gpu, key=lambda e: e["args"]["correlation"]):
            launch = self.launches.pop(event["args"]["correlation"])
            assert launch["name"].startswith("cudaMem" if event["cat"] == "gpu_memcpy" else "cudaLaunchKernel")
            assert 0 <= launch["ts"] <= event["ts"] and launch["ts"] + launch["dur"] <= makespan
            stream = event["args"]["stream"]
            assert event["tid"] == stream and event["pid"] == event["args"]["device"] == self.rank
            if stream in last and event["ts"] > last[stream]:
                assert launch["ts"] <= max(e["ts"] for e in self.gpu if e["ts"] <= event["ts"] and e is not event)
            last[stream] = event["ts"] + event["dur"]
        assert not self.launches
        assert sorted(e["id"] for e in self.arrows if e["ph"] == "s") == sorted(e["id"] for e in self.arrows if e["ph"] == "f")


def lanes_of(binary, words, device):
    """Of the same run's Chrome trace: what computes, and what travels, on a device."""
    trace = json.loads(subprocess.run([binary, "export", "--to", "chrome-trace", "--trace-ops-only", *words], check=True,
                                      capture_output=True).stdout, parse_float=str)
    slices = [e for e in trace["traceEvents"] if e["ph"] == "X" and e["pid"] == device]
    threads = {e["tid"]: e["args"]["name"] for e in trace["traceEvents"] if e["ph"] == "M" and e["name"] == "thread_name"}

    def on(wanted):
        return [(nanoseconds(e["ts"]), nanoseconds(e["ts"]) + nanoseconds(e["dur"])) for e in slices
                if wanted(threads[e["tid"]])]

    return on(lambda name: name == "compute"), on(lambda name: name.split()[0] in ("send", "recv", "collective"))


def check_report(report, ranks, words, binary):
    makespan = report["makespan_ns"]
    sends = 0
    for rank, device in zip(ranks, report["devices"]):
        assert [(s["name"], s["ts"], s["dur"]) for s in rank.steps] == [("ProfilerStep#0", 0, makespan)]
        rank.check_launches(makespan)
        kernel_time, compute, idle, other = rank.breakdown()
        assert compute == device["busy_ns"], (rank.rank, compute, device["busy_ns"])
        assert makespan - kernel_time + idle + other == device["idle_ns"]
        ours, travels = lanes_of(binary, words, rank.rank)
        talk, both = rank.communication()
        assert talk == length(travels)
        assert both == length(ours) + length(travels) - length(ours + travels)
        sent = [e["args"] for e in rank.gpu if e["args"].get("Collective name") == "send"]
        assert all(a["Src Rank"] == rank.rank and a["Group size"] == rank.world for a in sent)
        sends += sum(a["In msg nelems"] for a in sent)
    if any(rank.intervals(lambda name: name == "ncclDevKernel_SendRecv") for rank in ranks):
        assert sends == report["p2p_bytes"]
    return [rank.breakdown() for rank in ranks][0]


def check_run(binary, folder, words, paths):
    """Read back as recordings of torch.profiler: the same order, and every op at the same time."""
    recorded, simulated = folder / "recorded.json", folder / "simulated.json"
    subprocess.run([binary, "import", "--from", "run", *paths, "-o", recorded], check=True, capture_output=True)
    subprocess.run([binary, "simulate", *words, "--save-run", simulated, "-o", "/dev/null"], check=True)
    recorded, simulated = json.loads(recorded.read_text()), json.loads(simulated.read_text())
    assert recorded["schedule"]["rows"] == simulated["schedule"]["rows"]
    assert recorded["schedule"]["placement"] == simulated["schedule"]["placement"]
    (recorded,), (simulated,) = recorded["iterations"], simulated["iterations"]
    for key in ("begin_ns", "end_ns"):
        assert recorded[key] == simulated[key], key
        assert "--comm" not in words or recorded["transfers"][key] == simulated["transfers"][key], key


def check(binary, folder, line, in_run_file):
    words = line.split()
    traces = folder / "traces"
    subprocess.run([binary, "export", "--to", "kineto", *words, "-o", traces], check=True)
    paths = sorted(traces.iterdir())
    ranks = [Rank(path) for path in paths]
    assert [rank.rank for rank in ranks] == list(range(len(ranks))) and {rank.world for rank in ranks} == {len(ranks)}
    report = json.loads(subprocess.run([binary, "simulate", *words, "--format", "json"], check=True,
                                       capture_output=True).stdout)
    kernel_time, compute, idle, other = check_report(report, ranks, words, binary)
    print(f"{line}: rank 0 of {len(ranks)}: {compute} ns compute, {idle} idle, {other} other, of {kernel_time}")
    if in_run_file:
        check_run(binary, folder, words, paths)
    for path in paths:
        path.unlink()
    traces.rmdir()


def refused(binary, words, code, text):
    done = subprocess.run([binary, "export", "--to", "kineto", "-p", "2", "-m", "2", *words], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 2 and f"error[{code}]" in done.stderr and text in done.stderr, done.stderr


def check_refusals(binary, folder):
    refused(binary, [], "C004", "-o FOLDER")
    refused(binary, ["-o", folder / "no" / "such"], "C050", "cannot make this folder")
    (folder / "taken").write_text("")
    refused(binary, ["-o", folder / "taken"], "C050", "cannot make this folder")
    refused(binary, ["-o", folder / "new", "--transform", "fill-bubbles:curvature=2,inverse=5"], "C087", "fill-bubbles")
    assert not (folder / "new").exists()
    subprocess.run([binary, "export", "--to", "kineto", "-p", "3", "-o", folder / "three"], check=True)
    subprocess.run([binary, "export", "--to", "kineto", "-p", "3", "-o", folder / "three"], check=True)  # in their place
    before = {path: path.read_bytes() for path in (folder / "three").iterdir()}
    refused(binary, ["-o", folder / "three"], "C050", "rank_2.json.gz")
    assert before == {path: path.read_bytes() for path in (folder / "three").iterdir()}


def main():
    binary = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for line, in_run_file in RUNS:
            check(binary, folder, line, in_run_file)
        check_refusals(binary, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
