"""What `debubble diff` and `debubble simulate` predict of the runs in traces/measured/runs.json, and how far off they are.

A run is a recording ("files"), what each stage took when it was measured apart ("forward_ns", ...), a training log of
Megatron-LM with the timers of its last rank ("log"), or a scenario in the flags of `simulate`; of the latter only the step
was measured. Levels say what a prediction knew: replay the durations of the same step, medians those of the run's other
steps, timers what the log says of its other lines, forecast what was known before. Errors of bubbles are predicted -
measured, of steps predicted / measured - 1.
"""
import concurrent.futures
import gzip
import json
import os
import re
import subprocess
import tempfile

from words import ROOT

FOLDER = ROOT / "traces/measured"
LEVELS = ("replay", "medians", "timers", "forecast")
TIMES = "f=1,i=1,w=1"
LINE = re.compile(r"elapsed time per iteration \(ms\): ([\d.]+)")


def answer(binary, *arguments):
    command = [str(binary), *map(str, arguments), "--format", "json"]
    run = subprocess.run(command, cwd=FOLDER, check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return json.loads(run.stdout)


def shape(schedule):
    """The flags that build it."""
    params = [f"--param={key}={value}" for key, value in schedule["params"].items()]
    chunks = ["-v", schedule["chunks"]] if schedule["chunks"] > 1 else []
    return ["--schedule", schedule["name"], "-p", schedule["devices"], "-m", schedule["microbatches"], *chunks, *params]


def predicted(report):
    return report["bubble_ratio"], report["makespan_ns"]


def mean(pairs):
    """Of bubbles and of steps."""
    return tuple(sum(values) / len(pairs) for values in zip(*pairs))


def of_recording(binary, run):
    first = answer(binary, "diff", *run["files"], "--iteration", 1)
    count = first["measured"]["iterations"]
    measured, levels = [], {}
    for number in range(1, count + 1):
        step = first if number == 1 else answer(binary, "diff", *run["files"], "--iteration", number)
        measured.append((step["bubble_ratio"]["measured"], step["makespan_ns"]["measured"]))
        for one in step["levels"]:
            levels.setdefault(one["level"], []).append((one["bubble_ratio"]["predicted"], one["makespan_ns"]["predicted"]))
    recorded = run["files"][0]
    p2p = []
    if recorded.endswith(".json.gz"):
        record = json.loads(gzip.decompress((FOLDER / recorded).read_bytes()))
        p2p = ["--p2p", record["p2p"]] if isinstance(record, dict) and "p2p" in record else []
    return first["schedule"], p2p, count, mean(measured), {name: mean(steps) for name, steps in levels.items()}


def of_stage_times(binary, run):
    layers = [{"name": f"stage.{number}", "kind": "other", "forward": {"median_ns": forward},
               "backward": {"median_ns": backward}, "activation_bytes": 0, "weight_grad_held_bytes": 0, "output_bytes": 0,
               "parameter_bytes": 0}
              for number, (forward, backward) in enumerate(zip(run["forward_ns"], run["backward_ns"]))]
    profile = {"schema": "debubble.profile/1", "model": run["id"], "dtype": "fp16", "microbatch_size": 1,
               "sequence_length": 1, "layers": layers,
               "origin": {"times": "published", "memory": "modelled", "device": "-", "method": "-", "citation": "-"}}
    schedule = {"name": run["schedule"], "devices": len(layers), "microbatches": run["microbatches"], "chunks": 1, "params": {}}
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(profile, file)
        file.flush()
        report = answer(binary, "simulate", *shape(schedule), "--profile", file.name, "--partition", "even")
    busy = run["microbatches"] * (sum(run["forward_ns"]) + sum(run["backward_ns"]))
    measured = (1 - busy / (run["step_ns"] * len(layers)), run["step_ns"])
    return schedule, [], 0, measured, {"forecast": predicted(report)}


def timed_lines(log):
    """The pipeline's part of each iteration and the last rank's forwards and backwards, in ns; without the first line, which
    warms up, and without those that skipped the optimizer."""
    lines = []
    for line in log.splitlines():
        found = LINE.search(line)
        if found:
            step, skipped = float(found.group(1)), re.search(r"number of skipped iterations: +([1-9])", line)
        elif line.startswith("time (ms)"):
            timers = dict(re.findall(r"([\w-]+): ([\d.]+)", line))
            after = float(timers["optimizer"]) + float(timers.get("backward-params-all-reduce", 0))
            times = (step - after, float(timers["forward-compute"]), float(timers["backward-compute"]))
            lines.append(None if skipped else tuple(round(time * 1e6) for time in times))
    return [line for line in lines[1:] if line]


def lower_median(values):
    return sorted(values)[(len(values) - 1) // 2]


def of_log(binary, run):
    lines = timed_lines((FOLDER / run["log"]).read_text(encoding="utf-8"))
    # Only the job's shape is taken from this answer, on which the GPU has no influence.
    schedule = {**answer(binary, "diff", "--log", run["log"], "--hardware", "v100")["schedule"], "params": {}}
    ops = schedule["microbatches"] * schedule["chunks"]
    measured, timers, known = [], [], {}
    for left_out, (step, forward, backward) in enumerate(lines):
        measured.append((1 - (forward + backward) / step, step))
        others = lines[:left_out] + lines[left_out + 1:]
        f, b = (lower_median([line[place] for line in others]) // ops * schedule["chunks"] for place in (1, 2))
        if (f, b) not in known:
            report = answer(binary, "simulate", *shape(schedule), f"--times=f={f}ns,b={b}ns")
            known[f, b] = (report["devices"][-1]["bubble_ratio"], report["makespan_ns"])
        timers.append(known[f, b])
    return schedule, [], len(lines), mean(measured), {"timers": mean(timers)}


def of_scenario(binary, run):
    flags = [f"--{name}" if value is True else f"--{name}={value}" for name, value in run["scenario"].items()]
    report = answer(binary, "simulate", *flags)
    return report["schedule"], [], 0, (None, run["step_ns"]), {"forecast": predicted(report)}


def judged(binary, run):
    of = next(of for key, of in (("files", of_recording), ("log", of_log), ("scenario", of_scenario),
                                 ("forward_ns", of_stage_times)) if key in run)
    schedule, p2p, steps, (bubble, step), levels = of(binary, run)
    equal = answer(binary, "simulate", *shape(schedule), *p2p, "--times", TIMES)
    row = {"id": run["id"], "source": run["source"], "schedule": schedule["name"], "devices": schedule["devices"],
           "microbatches": schedule["microbatches"], "steps": steps, "ideal_bubble_ratio": equal["bubble_ratio"],
           "bubble_ratio": bubble, "step_ns": step, "predicted": dict.fromkeys(LEVELS)}
    for level, (a_bubble, a_step) in levels.items():
        row["predicted"][level] = {"bubble_ratio": a_bubble, "step_ns": a_step, "step_error": a_step / step - 1,
                                   "bubble_error": None if bubble is None else a_bubble - bubble}
    return row


def errors(values):
    if not values:
        return 0, 0, 0
    return sum(map(abs, values)) / len(values), sum(values) / len(values), max(values, key=abs)


def summary(runs):
    """Means and worst errors of runs, by level."""
    levels = {}
    for level in LEVELS:
        known = [run["predicted"][level] for run in runs if run["predicted"][level]]
        bubbles = [one["bubble_error"] for one in known if one["bubble_error"] is not None]
        levels[level] = {"runs": len(known), "bubble_runs": len(bubbles)}
        for name, of in (("bubble", bubbles), ("step", [one["step_error"] for one in known])):
            for key, value in zip(("mean_absolute_error", "bias", "worst"), errors(of)):
                levels[level][f"{name}_{key}"] = value
    return levels


def judged_runs(binary, listed=None):
    """The list's sources with summaries, its runs with their errors, and the summary of those that are not counted apart."""
    listed = listed or json.loads((FOLDER / "runs.json").read_text(encoding="utf-8"))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = list(pool.map(lambda run: judged(binary, run), listed["runs"]))
    sources = []
    for source in listed["sources"]:
        own = [run for run in runs if run["source"] == source["name"]]
        known = source.get("calibrated_on", [])
        sources.append({**source, "summary": summary(own),
                        "summary_calibrated_on": summary([run for run in own if run["id"] in known]),
                        "summary_others": summary([run for run in own if run["id"] not in known])})
    apart = {source["name"] for source in sources if source.get("counted_apart")}
    return {"sources": sources, "runs": runs, "summary": summary([run for run in runs if run["source"] not in apart])}
