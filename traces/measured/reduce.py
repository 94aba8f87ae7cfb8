#!/usr/bin/env python3
"""Cuts public recordings of pipeline-parallel runs down to a few steps, and adds up what must come out.

    reduce.py FOLDER     FOLDER holds the whole recordings (README.md says where they come from)

Of a trace of StragglerAnalysis the spans of ops and of sends and receives are kept, of some steps, with the names of the
threads; of Primus' files the begins and ends of the first iterations; both become run files, by recorded_runs.py. Of a
training log the arguments, iterations, timers and memory are kept. expected.json is computed here, from what is kept
alone, by rules of its own: none of it comes from debubble, nor from the run files.
"""

import collections
import gzip
import json
import pathlib
import sys

import measure_cpu
import recorded_runs
import sailor

HERE = pathlib.Path(__file__).resolve().parent
COMPUTE = {"forward-compute": "F", "backward-compute": "B"}
KEPT = {*COMPUTE, "forward-send", "forward-recv", "backward-send", "backward-recv"}
STRAGGLER = {"straggler_st": ("timeline-ST.json.gz", (0, 9, 18, 27, 31)), "straggler_ar": ("timeline-AR.json.gz", (5, 20, 35))}
PRIMUS = {"primus_pp8": "pp8", "primus_pp8_vpp2": "pp8_vpp2"}
PRIMUS_ITERATIONS = 6  # the first is warm-up
VOCABULARY = "vocabulary_parallelism/rows.json"
BIGSCIENCE = {"bigscience_p4": "meg_gpt2_base_n4_dp1_tp4_pp4-1809579.out",
              "bigscience_p16": "meg_gpt2_base_n16_dp1_tp4_pp16-1809577.out",
              "bigscience_p64": "meg_gpt2_base_n64_dp1_tp4_pp64-1809655.out",
              "bigscience_p16_m256": "meg_ds_3d_gpt2_perf_n16-ds-off.out"}
PRIMUS_KEYS = ("fwd_start", "fwd_end", "bwd_start", "bwd_end")


SOURCES = [
    {"name": "straggler-analysis", "title": "ByteDance's StragglerAnalysis: production jobs, GPUs not named",
     "where": "ByteDance-Seed/StragglerAnalysis, commit 8efcd7f37f158af26ac64d0b6fbf1f22d28a6e83, data",
     "licence": "Apache-2.0",
     "not_modelled": ["how op times vary from one microbatch to the next, except in the replay"]},
    {"name": "primus", "title": "AMD's Primus: Megatron-LM on 8 AMD GPUs, not named",
     "where": "AMD-AGI/Primus, commit fd1eeabbad15135e3702094087e96142b4b4eacb, tools/visualization/pp_vis",
     "licence": "MIT",
     "not_modelled": ["transfers, but by one latency: none was timed, so it is the median of how long after their inputs "
                      "were made ops began", "how op times vary, except in the replay"]},
    {"name": "vocabulary-parallelism",
     "title": "Yeung et al., Balancing Pipeline Parallelism with Vocabulary Parallelism: 8 A100, very uneven stages",
     "where": "sail-sg/VocabularyParallelism, commit 6191c3bff018e2407d0c2d543be840fb3bd437f6, artifact/exp_one_host.csv",
     "licence": "facts; BSD-3-Clause (Megatron-LM)",
     "not_modelled": ["transfers between stages", "launch times"]},
    sailor.SOURCE,
    {"name": "bigscience", "title": "BigScience's logs of Megatron-LM: GPT on 16 to 256 V100, tensor parallel 4",
     "where": "bigscience-workshop/bigscience, commit 9e64edec2ad1fb9263bf39ba616a84ff64b4d947, experiments/gpt2-meg and "
              "experiments/gpt2-meg-ds-3d",
     "licence": "Apache-2.0",
     "not_modelled": ["how stages differ: the log times the last one only, whose vocabulary the others lack, and none "
                      "need be as fast; with 64 stages of one layer each the vocabulary is a large part of it",
                      "transfers between stages, which lie on the network between nodes and hold the ranks"]},
    {"name": "cpu-2-processes",
     "title": "Runs of our own: debubble live --backend torch, PyTorch 1.13.0 with gloo, 2 processes on 2 cores of a shared "
              "Intel Xeon",
     "where": "traces/measured/cpu_2_processes, by its measure_cpu.py",
     "licence": "Apache-2.0",
     "not_modelled": ["that a process which sends copies the bytes itself, and that the threads of gloo need a core: there "
                      "are as many processes as cores",
                      "noise: over three repeats of a schedule the steps differ by up to 7 %, the bubbles by up to 1.5 "
                      "points (noise.json)"],
     "counted_apart": "these are CPU cores, whose launch gaps and shared cores no GPU has"},
    {"name": "h100-parts",
     "title": "Runs of our own: debubble live --backend cuda, GPT 1.3B (microbatch 1 x 1024, bf16) on 2, 4 and 8 parts of one "
              "H100 80GB HBM3",
     "where": "traces/measured/h100, by the command in each file",
     "licence": "Apache-2.0",
     "not_modelled": ["how the GPU's clock follows its power from one moment to the next: ops were calibrated in blocks as "
                      "long as an iteration with all parts at work, which takes more power than an iteration that has bubbles",
                      "that ops at work beside each other slow each other down by what they are: only their number counts"],
     "counted_apart": "parts of one GPU share its power and memory bandwidth, which GPUs of their own do not"},
]
H100_RUNS = [f"{schedule}-p{devices}-m{2 * devices}" for devices, schedules in
             ((2, ("1f1b", "gpipe", "zb-h1")), (4, ("1f1b", "gpipe", "interleaved", "chimera", "zb-h1")),
              (8, ("1f1b", "gpipe", "zb-h1"))) for schedule in schedules]


def write(name, value):
    text = json.dumps(value, separators=(",", ":")) + "\n"
    with open(HERE / name, "wb") as raw, gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as file:
        file.write(text.encode())


def load(path):
    with (gzip.open if path.name.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def reduce_straggler(source, places):
    events = load(source)
    steps = sorted({event["args"]["step"] for event in events if event["name"] in COMPUTE})
    wanted = {steps[place] for place in places}
    kept = [event for event in events if event["ph"] == "M" and event["name"] == "thread_name"]
    for event in events:
        if event["name"] in KEPT and event["args"]["step"] in wanted:
            kept.append({key: event[key] for key in ("name", "pid", "tid", "ts", "dur", "ph", "args")})
    return kept


def reduce_primus(rank):
    numbers = sorted(rank, key=int)[:PRIMUS_ITERATIONS]
    return {number: {key: rank[number][key] for key in PRIMUS_KEYS} for number in numbers}


def reduce_log(path):
    """The lines that say on what, how and how fast it ran; of the arguments those without paths."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    begin = next(place for place, line in enumerate(lines) if "--- arguments ---" in line)
    end = next(place for place, line in enumerate(lines) if "--- end of arguments ---" in line)
    gpu = next((place for place, line in enumerate(lines) if line.startswith("|   0  ")), None)
    kept = [] if gpu is None else lines[gpu:gpu + 2]  # of nvidia-smi's table: its name, its memory
    kept += [line for line in lines[begin:end + 1] if "/" not in line]
    wanted = ("> padded vocab", "elapsed time per iteration (ms)", "time (ms) | forward-compute", "max allocated: ")
    kept += [line for line in lines[end:] if any(words in line for words in wanted)]
    return "\n".join(kept) + "\n"


def expected_of_log(name):
    """Of each line but the first and those whose iterations skipped the optimizer: the pipeline's time, and the share of
    it in which the last rank ran nothing."""
    iterations, elapsed, skipped = [], None, None
    for line in (HERE / f"{name}.log").read_text().splitlines():
        if "elapsed time per iteration (ms): " in line:
            elapsed = float(line.split("elapsed time per iteration (ms): ")[1].split()[0])
            skipped = int(line.split("number of skipped iterations:")[1].split()[0])
        elif line.startswith("time (ms) | "):
            timers = {key.strip(): float(time) for key, time in (one.split(": ") for one in line.split(" | ")[1:])}
            step = elapsed - timers["optimizer"] - timers["backward-params-all-reduce"]
            busy = timers["forward-compute"] + timers["backward-compute"]
            iterations.append((skipped, {"step_ms": round(step, 6), "bubble": round(1 - busy / step, 8)}))
    return {"0": [one for count, one in iterations[1:] if count == 0]}


def figures(ops):
    """Of (rank, begin, end) in one unit: the span from the first begin to the last end, and the idle share of it."""
    ranks = {rank for rank, _, _ in ops}
    span = max(end for _, _, end in ops) - min(begin for _, begin, _ in ops)
    busy = sum(end - begin for _, begin, end in ops)
    return span, 1 - busy / (span * len(ranks))


def expected_of_straggler(events):
    ranks = {(event["pid"], event["tid"]): int(event["args"]["name"].split()[2].rstrip(","))
             for event in events if event["ph"] == "M"}
    ops = collections.defaultdict(list)
    for event in events:
        if event["ph"] == "X" and event["name"] in COMPUTE:
            rank = ranks[event["pid"], event["tid"]]
            ops[event["pid"], event["args"]["step"]].append((rank, event["ts"], event["ts"] + event["dur"]))
    replicas = collections.defaultdict(list)
    for (replica, _), spans in sorted(ops.items()):
        span, bubble = figures(spans)
        replicas[str(replica)].append({"step_ms": round(span / 1000, 6), "bubble": round(bubble, 8)})
    return replicas


def expected_of_primus(ranks):
    iterations = []
    for number in sorted(ranks[0], key=int)[1:]:
        ops = [(place, begin, end) for place, rank in enumerate(ranks) for part in ("fwd", "bwd")
               for begin, end in zip(rank[number][part + "_start"], rank[number][part + "_end"])]
        span, bubble = figures(ops)
        iterations.append({"step_ms": round(span, 6), "bubble": round(bubble, 8)})
    return {"0": iterations}


def list_of_runs(folder):
    """runs.json: what tools/accuracy/measured_runs.py predicts."""
    runs = [{"id": name.replace("_", "-"), "source": "straggler-analysis", "files": [f"{name}.json.gz"]}
            for name in ("straggler_st_0", "straggler_st_1", *(f"straggler_ar_{replica}" for replica in range(4)))]
    runs += [{"id": name.replace("_", "-"), "source": "primus", "files": [f"{name}.json.gz"]} for name in PRIMUS]
    for row in load(folder / VOCABULARY):
        name = row["name"].replace("fullpp_", "").replace("_dp1_pp8_tp1", "").replace("_", "-")
        runs.append({"id": f"vocabulary-{name}", "source": "vocabulary-parallelism", "schedule": "1f1b",
                     "microbatches": row["m"], "forward_ns": [1000 * time for time in row["F_us"]],
                     "backward_ns": [1000 * time for time in row["B_us"]], "step_ns": round(1e6 * row["iter_ms"])})
    runs += sailor.rows(folder / "sailor")
    runs += [{"id": name.replace("_", "-"), "source": "bigscience", "log": f"{name}.log"} for name in BIGSCIENCE]
    runs += [{"id": f"cpu-{name}", "source": "cpu-2-processes", "files": [f"cpu_2_processes/{name}.json.gz"]}
             for name in measure_cpu.SCHEDULES]
    runs += [{"id": name, "source": "h100-parts", "files": [f"h100/{name}.json.gz"]} for name in H100_RUNS]
    return {"schema": "debubble.measured/1", "sources": SOURCES, "runs": runs}


def main():
    folder = pathlib.Path(sys.argv[1])
    expected = {}
    for name, (file, places) in STRAGGLER.items():
        events = reduce_straggler(folder / "bytedance_straggler" / file, places)
        expected[name] = expected_of_straggler(events)
        for replica in range(len(expected[name])):
            write(f"{name}_{replica}.json.gz", recorded_runs.straggler_run(events, replica))
    for name, source in PRIMUS.items():
        ranks = [reduce_primus(load(path)) for path in sorted((folder / "primus" / source).glob("pp_rank_*.json"))]
        expected[name] = expected_of_primus(ranks)
        write(f"{name}.json.gz", recorded_runs.primus_run(load(folder / "primus" / source / "config.json"), ranks))
    sailor.write_files(folder / "sailor", HERE / "sailor_opt350")
    for name, source in BIGSCIENCE.items():
        (HERE / f"{name}.log").write_text(reduce_log(folder / "bigscience" / source))
        expected[name] = expected_of_log(name)
    (HERE / "runs.json").write_text(json.dumps(list_of_runs(folder), indent=1) + "\n")
    (HERE / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main()
