#!/usr/bin/env python3
"""Measures the runs of cpu_2_processes/: seven schedules in two processes with PyTorch on this machine's CPU.

    measure_cpu.py DEBUBBLE [REPEATS]     three repeats where nothing is said

Each repeat is a `debubble live --backend torch` of its own, so its op times, too, are measured anew before it; the schedules
take turns. Of the repeats of a schedule the one with the middle step is kept, whole, as SCHEDULE.json.gz; noise.json has the
step and the bubble of every repeat, as measured (means of its iterations) and as forecast, with the load of the machine
before it. All run the same model, cpu_stages.py.
"""

import gzip
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent / "cpu_2_processes"
SCHEDULES = ("gpipe", "1f1b", "interleaved", "zb-h1", "zb-v", "dualpipe-v", "chimera")
SIZE = ["-p", "2", "-m", "8"]
STAGES = ["--stages-from", "cpu_stages:make"]
ITERATIONS = ["--repetitions", "4", "--warm-up", "1"]


def figures(run):
    """(mean step in ms, mean idle share) of a run file's iterations, by its times alone."""
    steps, bubbles = [], []
    for iteration in run["iterations"]:
        spans = [set(zip(begins, ends)) for begins, ends in zip(iteration["begin_ns"], iteration["end_ns"])]
        begin = min(begin for row in spans for begin, _ in row)
        step = max(end for row in spans for _, end in row) - begin
        busy = sum(end - begin for row in spans for begin, end in row)  # the members of a pair are one cell
        steps.append(step)
        bubbles.append(1 - busy / (step * len(spans)))
    return statistics.mean(steps) / 1e6, statistics.mean(bubbles)


def forecast(debubble, path):
    shown = subprocess.run([debubble, "diff", path, "--format", "json"], capture_output=True, text=True, check=True)
    found = json.loads(shown.stdout)
    return found["makespan_ns"]["predicted"] / 1e6, found["bubble_ratio"]["predicted"]


def measure(debubble, schedule, folder):
    path = os.path.join(folder, "run.json")
    environment = {**os.environ, "PYTHONPATH": str(HERE.parent)}
    load = os.getloadavg()[0]
    subprocess.run([debubble, "live", "--backend", "torch", "--schedule", schedule, *SIZE, *STAGES, *ITERATIONS, "--save-run",
                    "run.json", "-o", "/dev/null"], check=True, cwd=folder, env=environment)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    run = json.loads(text)
    step, bubble = figures(run)
    step_before, bubble_before = forecast(debubble, path)
    facts = {"step_ms": round(step, 3), "bubble": round(bubble, 5), "forecast_step_ms": round(step_before, 3),
             "forecast_bubble": round(bubble_before, 5), "load": round(load, 1)}
    return facts, text, run


def write(name, text):
    with open(HERE / name, "wb") as raw, gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as file:
        file.write(text.encode())


def main():
    debubble, repeats = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 3
    found = {schedule: [] for schedule in SCHEDULES}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(repeats):
            for schedule in SCHEDULES:
                found[schedule].append(measure(debubble, schedule, folder))
    origin = found[SCHEDULES[0]][0][2]["origin"]
    noise = {"machine": origin["device"], "libraries": origin["libraries"], "date": origin["date"], "size": SIZE, "runs": {}}
    HERE.mkdir(exist_ok=True)
    for schedule, repeated in found.items():
        middle = sorted(repeated, key=lambda each: each[0]["step_ms"])[len(repeated) // 2]
        write(f"{schedule}.json.gz", middle[1])
        noise["runs"][schedule] = [facts for facts, _, _ in repeated]
    (HERE / "noise.json").write_text(json.dumps(noise, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
