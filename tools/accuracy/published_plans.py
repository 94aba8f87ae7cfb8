"""What `debubble plan` finds for the jobs of published records that say how they were split over the GPUs, and what these
layouts take in the same model.

Records of one source with the same model, GPUs and batch are one job, and their layouts compete. A job keeps all flags of its
records but those of the layout. Nothing is fitted, on either side.
"""
import json
import re
import subprocess

from words import PUBLISHED, Published, answer_of, counted, size

RECOMPUTATION = ("none", "selective", "full")
LAYOUT = {"schedule", "devices", "microbatches", "chunks", "partition", "microbatch-size", "recompute", "scatter-gather", "tp",
          "cp", "ep", "dp", "zero", "sequence-parallel"}
SCARCE = 0.05  # of the memory: less to spare is worth a word


def asked(binary, verb, flags, *more):
    """The JSON of a verb, or why there is none."""
    given = [f"--{name}" if value is True else f"--{name}={value}" for name, value in flags.items() if value is not False]
    run = subprocess.run([str(binary), verb, *given, *map(str, more), "--format", "json"], cwd=PUBLISHED, check=False,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if run.returncode == 0:
        return json.loads(run.stdout), ""
    first = re.search(r"^error\[(\w+)\]: (.*)", run.stderr, re.MULTILINE)
    return None, f"{first.group(1)}: {first.group(2)}" if first else run.stderr


def choice_of(flags):
    """A layout in the names of plan's JSON."""
    choice = {name: flags.get(name, 1) for name in ("tp", "cp", "ep", "dp", "microbatches", "chunks")}
    choice |= {"pp": flags.get("devices", 1), "microbatch": flags.get("microbatch-size", 1),
               "schedule": flags.get("schedule", "1f1b"), "sequence_parallel": flags.get("sequence-parallel", False),
               "recompute": flags.get("recompute", "none"), "recompute_stages": ""}
    # On one data and context rank there is nothing to shard, and a plan does not try.
    choice["zero"] = flags.get("zero", 0) if choice["dp"] * choice["cp"] > 1 else 0
    return choice


def text_of(choice):
    parts = [f"{name} {choice[name]}" for name in ("tp", "cp", "ep", "pp", "dp") if choice[name] > 1]
    text = ", ".join(parts + ([f"ZeRO-{choice['zero']}"] if choice["zero"] else []))
    if choice["pp"] > 1:
        text += f"; {choice['schedule']}" + (f", {choice['chunks']} stages per device" if choice["chunks"] > 1 else "")
    text += f"; {counted(choice['microbatches'], 'microbatch').replace('batchs', 'batches')} of {counted(choice['microbatch'], 'sample')}"
    return (text + (f"; {choice['recompute']} recomputation" if choice["recompute"] != "none" else "")).removeprefix("; ")


def kind_of(choice):
    recompute = "no" if choice["recompute"] == "none" else choice["recompute"]
    zero = f"ZeRO-{choice['zero']}" if choice["zero"] else "no ZeRO"
    return f"{recompute} recomputation, {zero}" + (", sequence parallel" if choice["sequence_parallel"] else "")


def run_of(choice, text, step, peak, spare):
    run = {"choice": choice, "plan": text, "step_ns": step, "peak_bytes": peak}
    return run if spare is None else {**run, "spare_bytes": spare}


def extent(choice):
    """GPUs, and samples of one step."""
    return (choice["tp"] * choice["cp"] * choice["pp"] * choice["dp"],
            choice["microbatch"] * choice["microbatches"] * choice["dp"])


class Job:
    def __init__(self, binary, layouts):
        """`layouts`: records with their flags."""
        self.binary = binary
        flags = layouts[0][1]
        gpus, batch = extent(choice_of(flags))
        self.flags = {name: value for name, value in flags.items() if name not in LAYOUT}
        self.facts = {"model": flags["model"], "sequence": flags["sequence"], "gpus": gpus, "global_batch": batch}
        choices = [choice_of(flags) for _, flags in layouts]
        sizes = {1, 2, 4, 8, 16, 32} | {one["microbatch"] for one in choices}
        tensor = {1, 2, 4, 8} | {one["tp"] for one in choices}
        self.space = ["--only", "microbatch=" + ",".join(map(str, sorted(sizes)))]
        if len(tensor) > 4:
            self.space += ["--only", "tp=" + ",".join(map(str, sorted(tensor)))]
        unsplit = any(one["tp"] > 1 and not one["sequence_parallel"] for one in choices)
        self.both = ["--only", "sequence-parallel=on,off"] if unsplit else []
        self.layouts = sorted((self.layout(*one) for one in layouts), key=lambda one: one["measured_s"])

    def layout(self, record, flags):
        choice = choice_of(flags)
        alone = choice["dp"] * choice["cp"] == 1 and "step" not in flags
        # As a plan counts all its choices: one without copies updates its weights, too.
        report, refused = asked(self.binary, "simulate", {**flags, "step": "on"} if alone else flags)
        layout = {"record": record["id"], "layout": text_of(choice), "kind": kind_of(choice), "choice": choice,
                  "measured_s": record["measured"]["step_time_s"], "fits": False, "simulated": None, "refused": refused,
                  "own_cut": "partition" in flags}
        if report:
            spare = report["memory_fit"]["spare_bytes"] if report.get("memory_fit") else None
            peak = max(device["peak_memory_bytes"] for device in report["devices"])
            layout["simulated"] = run_of(choice, layout["layout"], report["makespan_ns"], peak, spare)
            layout["fits"] = spare is None or spare >= 0
        return layout

    def best(self, *more):
        answer, _ = asked(self.binary, "plan", self.flags, "--gpus", self.facts["gpus"], "--global-batch",
                          self.facts["global_batch"], *self.space, "--gap", "1%", "--margin", 0, "--top", 1, *more)
        if not answer or not answer["runs"]:
            return None
        # The fastest, though no record be of its kind.
        run = min([answer["runs"][0], *(one["run"] for one in answer["passed_over"])], key=lambda one: one["makespan_ns"])
        return run_of(run["choice"], run["choice"]["text"], run["makespan_ns"], run["peak_memory_bytes"],
                      run["memory_spare_bytes"])

    def alike(self, choice):
        """The best with its recomputation, ZeRO stage and sequence parallelism, by a schedule that Megatron-LM runs."""
        sequence = "on" if choice["sequence_parallel"] else "off"
        return self.best("--fix", f"recompute={choice['recompute']},zero={choice['zero']},sequence-parallel={sequence}",
                         "--runs-in", "megatron")

    def planned(self, error, frameworks):
        kinds = {}
        for layout in self.layouts:
            if layout["kind"] not in kinds:
                kinds[layout["kind"]] = self.alike(layout["choice"])
            layout["alike"] = kinds[layout["kind"]]
        job = {**self.facts, "layouts": self.layouts, "plan": self.best(*self.both), "notes": []}
        # A published layout may have what the space has not: a cut of its own, more stages per device.
        for layout in self.layouts:
            if layout["fits"] and (not job["plan"] or job["plan"]["step_ns"] > layout["simulated"]["step_ns"]):
                job["plan"], job["plan_is_record"] = layout["simulated"], layout["record"]
        theirs = next((layout for layout in self.layouts if layout["simulated"]), None)
        if job["plan"] and theirs and job.get("plan_is_record") != theirs["record"]:
            job["notes"] = list(notes(job["plan"], theirs, error, frameworks))
        return job


def notes(plan, layout, error, frameworks):
    """What those who ran the layout may know that the plan does not."""
    ours, theirs = plan["choice"], layout["choice"]
    if plan["plan"] == layout["layout"]:
        if layout["own_cut"]:
            yield "the same layout, but for the cut of the layers, which the record gives"
        return
    gain = 1 - plan["step_ns"] / layout["simulated"]["step_ns"]
    if error is not None and 0 <= gain <= error:
        yield f"the gain of {100 * gain:.1f} % is within this source's mean error, {100 * error:.1f} %"
    if RECOMPUTATION.index(ours["recompute"]) < RECOMPUTATION.index(theirs["recompute"]):
        yield (f"less is computed again ({ours['recompute']} instead of {theirs['recompute']}), which fits by the model of "
               "memory; what their framework held beside the tensors that it counts, they knew")
    if ours.get("recompute_blocks") and theirs["recompute"] == "full":
        yield f"only the first {ours['recompute_blocks'].split(':')[1]} blocks of each stage compute again, where theirs all do"
    if ours["recompute_stages"]:
        yield f"only stages {ours['recompute_stages']} compute again: Megatron-LM does it alike on all stages"
    if ours["zero"] > theirs["zero"]:
        yield (f"ZeRO-{ours['zero']} instead of " + (f"ZeRO-{theirs['zero']}" if theirs["zero"] else "none")
               + ": their framework may not have had it, or not with a pipeline")
    if "spare_bytes" in plan and plan["spare_bytes"] < SCARCE * (plan["peak_bytes"] + plan["spare_bytes"]):
        yield f"only {size(plan['spare_bytes'])} of memory are to spare"
    names = frameworks.get(ours["schedule"])
    if ours["pp"] > 1 and "Megatron-LM" not in (names or ""):
        yield f"{ours['schedule']} is run by {names or 'no framework that we know of'}, not by Megatron-LM"
    if ours["pp"] > 1 and ours["chunks"] > max(1, theirs["chunks"]):
        yield (f"{ours['chunks']} stages per device: more and smaller ops and transfers, whose launches by the host are not "
               "modelled")
    if ours["cp"] > theirs["cp"]:
        yield f"the sequence is split over {ours['cp']} context ranks: an attention of its own"
    if ours["sequence_parallel"] and not theirs["sequence_parallel"] and theirs["tp"] > 1:
        yield "sequence parallelism, which they ran without"
    if ours["tp"] != theirs["tp"]:
        larger = "larger matmuls, and how much faster these are is known from the efficiency model only"
        smaller = "smaller kernels, whose launches by the host are not modelled"
        yield f"{ours['tp']} instead of {theirs['tp']} tensor ranks: {larger if ours['tp'] < theirs['tp'] else smaller}"
    if ours["microbatch"] != theirs["microbatch"]:
        yield (f"microbatches of {ours['microbatch']} instead of {theirs['microbatch']}: the efficiency of kernels of that "
               "size is modelled, not measured here")
    if ours["ep"] != theirs["ep"]:
        yield (f"{ours['ep']} instead of {theirs['ep']} expert ranks: how evenly tokens fall on the experts is assumed")


def planned_sources(binary, names):
    published = Published()
    listed = json.loads(subprocess.run([str(binary), "list", "schedules", "--format", "json"], check=True,
                                       stdout=subprocess.PIPE).stdout)["schedules"]
    frameworks = {entry["name"]: entry["frameworks"] for entry in listed}
    for source in answer_of(binary, "--source", ",".join(names))["sources"]:
        error = next((one["mean_absolute_error"] for one in source["without_constants"]
                      if one["quantity"] == "step_time" and not one["group"]), None)
        jobs = {}
        for record in published.records.values():
            flags = published.flags(record)
            if record["source"] == source["source"] and "model" in flags and "step_time_s" in record["measured"]:
                shared = sorted((name, value) for name, value in flags.items() if name not in LAYOUT)
                key = json.dumps([shared, *extent(choice_of(flags))])
                jobs.setdefault(key, []).append((record, flags))
        yield {"source": source["source"], "title": source["title"], "mean_absolute_error": error,
               "not_modelled": source["not_modelled"],
               "jobs": [Job(binary, layouts).planned(error, frameworks) for layouts in jobs.values()]}
