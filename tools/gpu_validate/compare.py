#!/usr/bin/env python3
"""Judges what tools/gpu-validate measured: compare.py WORK OUT. Writes OUT/results.json, OUT/results.md and the profiles.

Each check has the figure it rests on, what is demanded of it, and whether it holds. Exit code 1: one does not.
"""

import argparse
import datetime
import json
import pathlib
import platform
import shutil
import sys

TIMES = 0.03   # kernels against events, injection against torch.profiler
MEMORY = 0.01  # kept bytes against the allocator
# About 20 kernels a pass with about 1 us between them: below this the gaps, which only events count, come near 3 %.
SHORT_NS = 1_000_000
LARGEST_FILE = 16 << 20


class Report:
    def __init__(self):
        self.checks = []

    def add(self, name, passed, figure, demand):
        """`passed` None: a figure that only informs."""
        self.checks.append({"check": name, "passed": passed, "figure": figure, "demand": demand})

    def failed(self):
        return any(check["passed"] is False for check in self.checks)


def load(path):
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def text_of(path):
    return path.read_text(encoding="utf-8", errors="replace").strip() if path.exists() else ""


def percent(value):
    return f"{100 * value:+.2f} %"


def check_runs(work, report):
    for path in sorted(work.glob("*.status")):
        status = int(path.read_text())
        if status != 0:
            report.add(f"run {path.stem}", False, f"status {status}: {text_of(work / (path.stem + '.err'))[:300]}", "ends with 0")


def check_machine(work, report):
    checks = load(work / "gpu-checks.out") or {}
    for check in checks.get("gpu_checks", []):
        figures = ", ".join(f"{f['name']} {f['value']} {f['unit']}" for f in check["figures"])
        report.add(f"gpu {check['name']}", check["passed"], figures or check["remark"], check["question"])


def relative(measured, reference):
    return measured / reference - 1 if reference else 0.0


def check_events(name, checks, report):
    worst, where = None, "no pass is long enough"
    for check in checks["checks"]:
        if check["by_events_ns"] < SHORT_NS:
            continue
        difference = relative(check["by_kernels_ns"], check["by_events_ns"])
        if worst is None or abs(difference) >= abs(worst):
            worst, where = difference, f"{check['layer']} {check['pass']}: {check['by_kernels_ns']} ns by kernels, {check['by_events_ns']} ns by events"
    report.add(f"{name}: kernel times against event times", None if worst is None else abs(worst) <= TIMES + 1e-9,
               where if worst is None else f"{percent(worst)} ({where})",
               f"within {100 * TIMES:.0f} % in every pass of at least {SHORT_NS // 1000} us")


def check_attribution(name, profile, report):
    measured = profile["measurement"]
    rest = sum(item["total_ns"] for item in measured.get("rest", []))
    unknown = sum(item["total_ns"] for item in measured.get("rest", []) if item["what"].startswith(("unlinked", "outside ranges")))
    total = measured["kernel_time_ns"]
    exact = measured["layer_time_ns"] + rest == total
    report.add(f"{name}: GPU time accounted for", exact, f"{measured['layer_time_ns']} ns in layers + {rest} ns rest of {total} ns",
               "layers + rest = all, to the nanosecond")
    report.add(f"{name}: GPU time of unknown origin", unknown == 0, f"{unknown} ns ({percent(unknown / total if total else 0)})", "0")
    losses = ", ".join(f"{item['count']} {item['what']}" for item in measured.get("losses", []))
    report.add(f"{name}: losses", not losses, losses or "none", "none")
    overhead = measured.get("overhead_ppm")
    report.add(f"{name}: overhead of recording, at least", None, "not known" if overhead is None else percent(overhead / 1e6), "informs")
    clock = measured.get("clock", {})
    report.add(f"{name}: clock", not clock.get("throttled", False), json.dumps(clock), "not throttled")


def backward_of(layer):
    if "backward" in layer:
        return layer["backward"]["median_ns"]
    return layer["input_grad"]["median_ns"] + layer["weight_grad"]["median_ns"]


def layers_of(profile):
    """By name, runs of equal layers spread out."""
    found = {}
    for layer in profile["layers"]:
        stem = layer["name"].rstrip("0123456789")
        first = layer["name"][len(stem):]
        for step in range(layer.get("count", 1)):
            found[stem + str(int(first) + step) if first else layer["name"]] = layer
    return found


def check_torch(work, report):
    ours, theirs = load(work / "torch-injection.profile.json"), load(work / "torch-kineto.profile.json")
    if ours is None or theirs is None:
        report.add("PyTorch through injection and torch.profiler", None, "not run: no PyTorch with CUDA here", "informs")
        return
    check_attribution("PyTorch through injection", ours, report)
    mine, other = layers_of(ours), layers_of(theirs)
    for phase, time in (("forward", lambda layer: layer["forward"]["median_ns"]), ("backward", backward_of)):
        worst, where = 0.0, "no layer in common"
        for name in sorted(mine.keys() & other.keys()):
            if not name.startswith("blocks."):
                continue
            difference = relative(time(mine[name]), time(other[name]))
            if worst is None or abs(difference) >= abs(worst):
                worst, where = difference, f"{name}: {time(mine[name])} ns injected, {time(other[name])} ns by torch.profiler"
        report.add(f"PyTorch blocks, {phase}: injection against torch.profiler",
                   abs(worst) <= TIMES + 1e-9 and where != "no layer in common", f"{percent(worst)} ({where})", f"within {100 * TIMES:.0f} %")
    check_memory(mine, load(work / "torch-memory.json") or {}, report)


def check_memory(mine, allocated, report):
    worst, where = 0.0, "no layer in common"
    for name in sorted(mine.keys() & allocated.keys()):
        if not name.startswith("blocks."):
            continue
        difference = relative(mine[name]["activation_bytes"], allocated[name])
        if worst is None or abs(difference) >= abs(worst):
            worst, where = difference, f"{name}: {mine[name]['activation_bytes']} bytes counted, {allocated[name]} allocated"
    report.add("PyTorch blocks: bytes kept for backward against the allocator",
               abs(worst) <= MEMORY + 1e-9 and where != "no layer in common", f"{percent(worst)} ({where})", f"within {100 * MEMORY:.0f} %")


def provenance(work, options):
    doctor = load(work / "doctor.out") or {}
    return {"date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"), "debubble": options.version,
            "tree": options.tree, "command": "tools/gpu-validate profile", "system": platform.platform(),
            "gpu": text_of(work / "nvidia-smi.out"), "doctor": doctor.get("checks", []),
            "commands": {path.stem: text_of(path).strip() for path in sorted(work.glob("*.command"))}}


def markdown(results):
    lines = ["# tools/gpu-validate profile", "", f"{results['provenance']['date']}, {results['provenance']['debubble']}, tree {results['provenance']['tree']}", ""]
    lines += ["```text", results["provenance"]["gpu"] or "nvidia-smi is not there", "```", "", "| check | verdict | figure | demand |", "|---|---|---|---|"]
    for check in results["checks"]:
        verdict = {True: "passed", False: "FAILED", None: "informs"}[check["passed"]]
        lines.append("| " + " | ".join(str(text).replace("|", "\\|").replace("\n", " ") for text in (check["check"], verdict, check["figure"], check["demand"])) + " |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--version", default="")
    parser.add_argument("--tree", default="")
    options = parser.parse_args()
    report = Report()
    check_runs(options.work, report)
    check_machine(options.work, report)
    profiles = sorted(p for p in options.work.glob("*.profile.json") if not p.name.startswith("torch"))
    for path in profiles:
        name = path.name.removesuffix(".profile.json")
        check_attribution(name, load(path), report)
        check_events(name, load(options.work / f"{name}.checks.json"), report)
    if not profiles:
        report.add("built-in models", False, "no profile was made", "at least one")
    check_torch(options.work, report)
    results = {"schema_version": 1, "provenance": provenance(options.work, options), "checks": report.checks}
    (options.out / "results.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    (options.out / "results.md").write_text(markdown(results), encoding="utf-8")
    for path in [*profiles, options.work / "torch-injection.profile.json"]:
        if path.exists() and path.stat().st_size < LARGEST_FILE:
            shutil.copy(path, options.out / path.name.replace(".profile.json", ".json"))
    for check in report.checks:
        print({True: "passed ", False: "FAILED ", None: "informs"}[check["passed"]], check["check"] + ":", check["figure"])
    print("results in", options.out)
    return 1 if report.failed() else 0


if __name__ == "__main__":
    sys.exit(main())
