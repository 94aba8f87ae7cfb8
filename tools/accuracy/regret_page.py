"""The table of docs/plan.md: which of several measured ways to run one job debubble would have chosen.

A set is what one source measured of one job on the same GPUs: at least two ways to split or order it. Its choice is the
way with the least simulated step, its regret what the choice took longer than the fastest, as measured; of any two ways
that were not measured alike, debubble orders a pair right where it says the same one is faster.
"""
import collections
import itertools
import json
import re
import shlex

from measured_runs import FOLDER, judged_runs
from words import answer_of, counted, signed, table

MARK = "<!-- regret: made by tools/accuracy/pages -->\n"
# What a plan chooses: all other flags are the job's.
CHOSEN = set("devices microbatches chunks tp cp dp ep etp zero schedule param microbatch-size recompute recompute-modules "
             "recompute-blocks recompute-stages partition sequence-parallel rank-order p2p scatter-gather tensor-overlap "
             "moe-overlap moe-dispatch overlap-grad-reduce overlap-param-gather bucket-size cuda-graphs step".split())


def flags_of(command):
    """Of `debubble simulate`: a flag's name, and its value or none."""
    words = shlex.split(command)[2:]
    flags = collections.defaultdict(str)
    for word in words:
        if word.startswith("--"):
            name = word[2:]
            flags[name] += ""
        else:
            flags[name] += word
    return flags


def published_ways(binary):
    """(source, job), the way, measured and predicted seconds."""
    for source in answer_of(binary)["sources"]:
        for record in source["records"]:
            flags = flags_of(record["command"])
            of_pipeline, samples = (int(flags.get(name) or default) for name, default in (("devices", 4), ("microbatch-size", 1)))
            replicas = int(flags.get("dp") or 1)
            gpus = of_pipeline * replicas * int(flags.get("tp") or 1) * int(flags.get("cp") or 1)
            batch = int(flags.get("microbatches") or 8) * samples * replicas
            job = (gpus, batch, *sorted((name, value) for name, value in flags.items() if name not in CHOSEN))
            for one in record["comparisons"]:
                if one["quantity"] == "step_time":
                    yield (source["source"], job), record["command"], one["measured"], one["predicted"]


def measured_ways(binary):
    """The same of traces/measured, where the step was forecast by what was known before."""
    listed = {run["id"]: run for run in json.loads((FOLDER / "runs.json").read_text(encoding="utf-8"))["runs"]}
    for run in judged_runs(binary)["runs"]:
        scenario, forecast = listed[run["id"]].get("scenario"), run["predicted"]["forecast"]
        if not forecast or "forward_ns" in listed[run["id"]]:  # stages timed apart are of another model each
            continue
        job = (run["devices"], run["microbatches"])
        if scenario:
            samples = int(re.search(r"mbs(\d+)", scenario["profile"]).group(1))
            job = (scenario["topology"], run["microbatches"] * scenario["dp"] * samples)
        yield (run["source"], job), run["id"], run["step_ns"], forecast["step_ns"]


def sets_of(ways):
    """By source: of each set its ways as (measured, predicted). Runs of one way count as their mean."""
    jobs = collections.defaultdict(lambda: collections.defaultdict(list))
    for key, way, measured, predicted in ways:
        jobs[key][way].append((measured, predicted))
    sets = collections.defaultdict(list)
    for (source, _), found in jobs.items():
        if len(found) > 1:
            sets[source].append([tuple(map(lambda values: sum(values) / len(values), zip(*runs))) for runs in found.values()])
    return sets


def regret(ways):
    return min(ways, key=lambda way: way[1])[0] / min(measured for measured, _ in ways) - 1


def pairs(ways):
    """How many are in the right order, and of how many."""
    told = [(a, b) for a, b in itertools.combinations(ways, 2) if a[0] != b[0]]
    return sum((a[0] - b[0]) * (a[1] - b[1]) > 0 for a, b in told), len(told)


def row(name, sets):
    lost = [regret(ways) for ways in sets]
    right, told = map(sum, zip(*map(pairs, sets)))
    return (name, len(sets), sum(map(len, sets)), sum(one == 0 for one in lost), signed(sum(lost) / len(lost)),
            signed(max(lost)), f"{right} of {told}")


def regret_page(binary, old):
    """docs/plan.md with the table between its marks anew."""
    sets = sets_of([*published_ways(binary), *measured_ways(binary)])
    everything = [ways for of_source in sets.values() for ways in of_source]
    rows = [row(name, of_source) for name, of_source in sorted(sets.items())]
    made = table(("source", ">jobs", ">ways to run them", ">best chosen", ">mean regret", ">worst", ">pairs in the right order"),
                 [*rows, row("all", everything)])
    before, _, after = old.split(MARK)
    return before + MARK + made + MARK + after
