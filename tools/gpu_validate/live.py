#!/usr/bin/env python3
"""Judges what tools/gpu-validate live measured: live.py WORK OUT. Writes OUT/results.json and results.md.

Each run was compared with the simulation of its own schedule and calibrated costs by `debubble diff`. Demanded are the
bubble within 1 percentage point, the step time within 2 %, the peak of activations within 1 %, and the schedules of one
size in the predicted order. Exit code 1: one of them does not hold; 4: all that was run holds, but WORK/planned names
runs that were not made.
"""

import argparse
import itertools
import json
import pathlib
import re
import sys

import compare

BUBBLE = 0.01  # of the step
STEP = 0.02
MEMORY = 0.01
NAME = re.compile(r"live-(?P<schedule>.+)-p(?P<devices>\d+)-m(?P<microbatches>\d+)-(?P<launch>\w+)")


def causes(diff):
    """The largest parts of the gap, for a check that fails."""
    parts = sorted(diff.get("gap_parts", []), key=lambda part: -abs(part.get("gap_ns", 0)))[:3]
    return "; ".join(part.get("text") or f"{part.get('cause')} {part.get('gap_ns')} ns" for part in parts)


def check_run(name, diff, report):
    bubble, step = diff["bubble_ratio"], diff["makespan_ns"]
    gap = bubble["measured"] - bubble["predicted"]
    figure = f"{100 * bubble['measured']:.2f} % measured, {100 * bubble['predicted']:.2f} % predicted ({100 * gap:+.2f} pp)"
    good = abs(gap) <= BUBBLE + 1e-12
    report.add(f"{name}: bubble", good, figure if good else f"{figure}; {causes(diff)}", "within 1 percentage point")
    gap = compare.relative(step["measured"], step["predicted"])
    figure = f"{step['measured']} ns measured, {step['predicted']} ns predicted ({compare.percent(gap)})"
    good = abs(gap) <= STEP + 1e-12
    report.add(f"{name}: step time", good, figure if good else f"{figure}; {causes(diff)}", "within 2 %")
    worst, where = 0.0, "no device"
    for device in diff["devices"]:
        peak = device["peak_activation_bytes"]
        gap = compare.relative(peak["measured"], peak["predicted"])
        if where == "no device" or abs(gap) > abs(worst):
            worst, where = gap, f"device {device['device']}: {peak['measured']} bytes counted in the run, {peak['predicted']} predicted"
    report.add(f"{name}: peak of activations", where != "no device" and abs(worst) <= MEMORY + 1e-12,
               f"{compare.percent(worst)} ({where})", "within 1 % on every device; counted from the same buffers on both sides")


def overlap(a, b):
    return a["p10"] <= b["p90"] and b["p10"] <= a["p90"]


def check_ranking(group, steps, report):
    """Pairs of schedules in the wrong order; those that the repetitions cannot tell apart are no evidence."""
    wrong, undecided = [], []
    for (first, a), (second, b) in itertools.combinations(sorted(steps.items()), 2):
        if overlap(a, b):
            undecided.append(f"{first} and {second}")
        elif (a["measured"] < b["measured"]) != (a["predicted"] < b["predicted"]):
            wrong.append(f"{first} and {second}")
    order = ", ".join(sorted(steps, key=lambda name: (steps[name]["measured"], name)))
    figure = "measured, fastest first: " + order
    if wrong:
        figure += "; predicted the other way round: " + "; ".join(wrong)
    if undecided:
        figure += "; not to be told apart: " + "; ".join(undecided)
    report.add(f"ranking, {group}", not wrong, figure, "the predicted order")


def check_left_out(work, report):
    names = [name for name in compare.text_of(work / "planned").split() if not (work / f"{name}.status").exists()]
    if names:
        report.add("runs left out for lack of time", None, ", ".join(names), "informs: the set is incomplete")
    return names


def provenance(work, options):
    """Of folders that are merged, their own."""
    parts = [part["provenance"] for part in (compare.load(folder / "results.json") for folder in options.parts) if part]
    own = compare.provenance(work, options)
    if parts:
        own |= {key: parts[0][key] for key in ("date", "debubble", "tree", "system")}
        own["parts"] = [{key: part[key] for key in ("date", "debubble", "tree", "system", "gpu")} for part in parts]
    own["command"] = "tools/gpu-validate merge" if options.parts else "tools/gpu-validate live"
    return own


def check_parts(parts, report):
    builds = sorted({(part["debubble"], part["tree"]) for part in parts})
    if len(builds) > 1:
        report.add("one build", False, "; ".join(f"{version}, tree {tree}" for version, tree in builds),
                   "all runs by one debubble")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--version", default="")
    parser.add_argument("--tree", default="")
    parser.add_argument("--parts", type=pathlib.Path, nargs="*", default=[])
    options = parser.parse_args()
    report = compare.Report()
    compare.check_runs(options.work, report)
    left_out = check_left_out(options.work, report)
    origin = provenance(options.work, options)
    check_parts(origin.get("parts", []), report)
    groups = {}
    for path in sorted(options.work.glob("live-*.diff.json")):
        name = path.name.removesuffix(".diff.json")
        diff, parts = compare.load(path), NAME.fullmatch(name)
        check_run(name.removeprefix("live-"), diff, report)
        group = f"{parts['devices']} devices, {parts['microbatches']} microbatches, {parts['launch']}"
        groups.setdefault(group, {})[parts["schedule"]] = diff["makespan_ns"]
    for group, steps in groups.items():
        check_ranking(group, steps, report)
    if not groups and not left_out:
        report.add("live runs", False, "none was compared", "at least one")
    verdict = "failed" if report.failed() else "incomplete" if left_out else "passed"
    results = {"schema_version": 1, "provenance": origin, "verdict": verdict, "checks": report.checks}
    (options.out / "results.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    (options.out / "results.md").write_text(
        compare.markdown(results).replace("# tools/gpu-validate profile", "# tools/gpu-validate live", 1), encoding="utf-8")
    for check in report.checks:
        print({True: "passed ", False: "FAILED ", None: "informs"}[check["passed"]], check["check"] + ":", check["figure"])
    print(f"{verdict}; results in {options.out}")
    return {"passed": 0, "failed": 1, "incomplete": 4}[verdict]


if __name__ == "__main__":
    sys.exit(main())
