#!/usr/bin/env python3
"""Makes run files (docs/run.schema.json) of pipeline runs that StragglerAnalysis and Primus recorded.

    recorded_runs.py straggler TRACE [REPLICA] > run.json       a Chrome trace of all ranks and replicas
    recorded_runs.py primus CONFIG RANK... > run.json           config.json, pp_rank_0.json, pp_rank_1.json, ...

StragglerAnalysis (ByteDance, Apache-2.0): times in us, on one clock. A process is a data-parallel replica, a thread "PP rank
1, TP rank 0, compute" or "... pp-comm". Spans: forward-compute and backward-compute {step, model_chunk, mb_id, seq_id},
forward-send, forward-recv, ... {step, seq_id}; the k-th send of a rank is of the k-th op that has somebody to send to. A
transfer lasts from the later start of its two ends to the end of the receive. An iteration is a step; steps that lack an op
are left out.

Primus (AMD, MIT; pp_vis): times in ms, each rank's from its own begin of the iteration. The k-th forward of a rank is
microbatch k's, or with several chunks that of Megatron-LM's interleaved order. Transfers were not timed: what one takes is
the median of how long after their inputs were made ops began that waited for nothing else. Iterations at the start that take
over a quarter longer than the median are warm-up, and left out.

Costs are medians, by stage and kind. Ops that overlap the next one by up to 1 us, or a thousandth, end where it begins.
"""

import collections
import gzip
import json
import pathlib
import re
import sys
from decimal import ROUND_HALF_UP, Decimal

KINDS = {"forward-compute": "F", "backward-compute": "B"}
SLOWER, MOST_STEPS = Decimal("1.2"), Decimal("0.9")  # of a slow worker: its factor, in so many of the steps
NOT_TIMED = ["input_grad_ns", "weight_grad_ns", "activation_bytes", "weight_grad_held_bytes", "output_bytes",
             "weights_bytes", "gradients_bytes", "optimizer_bytes", "workspace_bytes"]

Op = collections.namedtuple("Op", "device kind stage microbatch begin end")


def fail(message):
    raise SystemExit(f"recorded_runs.py: {message}")


def nanoseconds(number, unit):
    if isinstance(number, bool) or not isinstance(number, (int, float)):
        fail(f"{number!r} is no time")
    return int((Decimal(repr(number)) * unit).to_integral_value(ROUND_HALF_UP))


def median(values):
    return sorted(values)[(len(values) - 1) // 2]


def duration(time):
    """Four digits, as debubble writes them."""
    value, unit = next((Decimal(time) / scale, unit) for scale, unit in
                       ((10**9, "s"), (10**6, "ms"), (10**3, "us"), (1, "ns")) if time >= scale or scale == 1)
    return f"{value:.{max(0, 4 - len(str(int(value))))}f} {unit}"


def exact(time):
    scale, unit = next(((scale, unit) for scale, unit in ((10**9, "s"), (10**6, "ms"), (10**3, "us")) if time >= scale),
                       (1, "ns"))
    return f"{(Decimal(time) / scale).normalize():f} {unit}"


def counted(count, what):
    return f"{count} {what}" + ("" if count == 1 else "s")


def trimmed(ops, per_mille):
    """The ops by device and begin, and how many of them were made to end where the next begins."""
    ops, count = sorted(ops, key=lambda op: (op.device, op.begin, op.end)), 0
    for k in range(1, len(ops)):
        before, op = ops[k - 1], ops[k]
        overlap = before.end - op.begin
        if before.device == op.device and 0 < overlap <= max(
                1000, min(before.end - before.begin, op.end - op.begin) * per_mille // 1000):
            ops[k - 1] = before._replace(end=op.begin)
            count += 1
    return ops, count


def columns(ops, devices):
    rows = [[op for op in ops if op.device == device] for device in range(devices)]
    for row in rows:
        for before, op in zip(row, row[1:]):
            if op.begin < before.end:
                fail(f"rank {op.device} begins {op.stage}{op.kind}{op.microbatch} before the op before it ends")
    return rows


def run_file(iterations, devices, chunks, name, latency, notes, losses, method, clocks, p2p):
    """Of iterations: ops, sorted, and transfers (kind, stage, microbatch, begin, end)."""
    stages = devices * chunks
    times = collections.defaultdict(list)
    rows = columns(iterations[0][0], devices)
    order = [",".join(f"{op.stage}{op.kind}{op.microbatch}" for op in row) for row in rows]
    written = []
    for ops, transfers in iterations:
        start = min(op.begin for op in ops)
        now = columns(ops, devices)
        if [",".join(f"{op.stage}{op.kind}{op.microbatch}" for op in row) for row in now] != order:
            fail("the iterations do not run their ops in one order")
        for op in ops:
            times[op.kind, op.stage].append(op.end - op.begin)
        moved = sorted(transfers, key=lambda one: (one[3], one[0] != "F", one[1], one[2]))
        written.append({"begin_ns": [[op.begin - start for op in row] for row in now],
                        "end_ns": [[op.end - start for op in row] for row in now],
                        "transfers": {"ops": ",".join(f"{stage}{kind}{m}" for kind, stage, m, _, _ in moved),
                                      "begin_ns": [one[3] - start for one in moved],
                                      "end_ns": [one[4] - start for one in moved],
                                      "latency_ns": [0] * len(moved), "bytes": [0] * len(moved)}})
    costs = [{"forward_ns": median(times["F", stage]), "backward_ns": median(times["B", stage]),
              **{key: 0 for key in NOT_TIMED}} for stage in range(stages)]
    return {"format": "debubble.run/1",
            "origin": {"backend": "import", "clock": "gpu", "method": method,
                       "notes": [f"the order of the ops is that of {name}", *notes]},
            "schedule": {"name": name, "devices": devices, "stages": stages, "chunks": chunks,
                         "microbatches": 1 + max(op.microbatch for op in iterations[0][0]), "pieces": 1,
                         "placement": [[stage % devices for stage in range(stages)]], "rows": order},
            "costs": {"stages": costs}, "links": {"latency_ns": latency[0], "p2p": p2p},
            "assumptions": [
                {"what": "op times", "value": "medians of this trace, by stage and kind", "source": "measured"},
                {"what": "hop latency", "value": f"{exact(latency[0])}, {latency[1]}", "source": "measured"},
                {"what": "memory", "value": "not in the trace", "source": "default"}],
            "clocks": clocks, "tensors_checked": 0,
            "losses": [{"what": what, "count": count} for what, count in losses if count > 0], "measured": True,
            "iterations": written}


# --- StragglerAnalysis ------------------------------------------------------------------------------------------------


def spans_of(events):
    """(event, replica, rank, tensor rank, begin, end) of every span on a thread whose name has its rank."""
    threads = {}
    for event in events:
        named = re.search(r"PP rank (\d+)(?:, TP rank (\d+))?", event.get("args", {}).get("name", ""))
        if event["ph"] == "M" and named:
            threads[event["pid"], event["tid"]] = int(named[1]), int(named[2] or 0)
    spans = []
    for event in events:
        thread = threads.get((event["pid"], event["tid"]))
        if event["ph"] == "X" and thread is not None and re.fullmatch(r"(for|back)ward-(compute|send|recv)", event["name"]):
            begin = nanoseconds(event["ts"], 1000)
            spans.append((event, event["pid"], *thread, begin, begin + nanoseconds(event["dur"], 1000)))
    return spans


def slow_workers(spans, replicas):
    """A note for each worker whose median op takes a fifth longer than that of the others of its rank, in most steps."""
    times = collections.defaultdict(lambda: collections.defaultdict(list))
    for event, replica, rank, _, begin, end in spans:
        if event["name"] in KINDS:
            times[replica, rank, event["name"]][event["args"]["step"]].append(end - begin)
    middle = {worker: median([time for step in steps.values() for time in step]) for worker, steps in times.items()}
    notes = []
    for (replica, rank, name), steps in sorted(times.items(), key=lambda one: (one[0][0], one[0][1], KINDS[one[0][2]] != "F")):
        others = [middle[other, rank, name] for other in replicas if other != replica and (other, rank, name) in middle]
        own, usual = middle[replica, rank, name], median(others) if others else 0
        slow = sum(median(step) >= SLOWER * usual for step in steps.values())
        if usual > 0 and own >= SLOWER * usual and slow >= MOST_STEPS * len(steps):
            notes.append(f"rank {rank} of replica {replicas.index(replica)} is {own / usual:.2f} times slower than in the "
                         f"other replicas ({KINDS[name]} {duration(own)} against {duration(usual)}), in {slow} of "
                         f"{len(steps)} steps")
    return notes


def transfers_of(spans, devices, stages):
    """Of one step's spans, in their places: the k-th send of a rank goes with its k-th op that has somebody to send to."""
    transfers, lost = [], 0
    for word, kind, towards in (("forward", "F", 1), ("backward", "B", -1)):
        last, first = (stages - 1, 0) if towards == 1 else (0, stages - 1)
        sent, received = {}, {}
        for device in range(devices):
            ops = [(args["model_chunk"] * devices + device, args["mb_id"]) for args in
                   (event["args"] for event, _, rank, *_ in spans if rank == device and event["name"] == f"{word}-compute")]
            ends = {end: [one[4:] for one in spans if one[2] == device and one[0]["name"] == f"{word}-{end}"]
                    for end in ("send", "recv")}
            sent.update(zip([op for op in ops if op[0] != last], ends["send"]))
            received.update(zip([(stage - towards, m) for stage, m in ops if stage != first], ends["recv"]))
        for made in sent.keys() & received.keys():
            begin = max(sent[made][0], received[made][0])
            transfers.append((kind, *made, begin, max(begin, received[made][1])))
        lost += len(sent.keys() ^ received.keys())
    return transfers, lost


def straggler_run(events, replica=0):
    spans = spans_of(events)
    replicas = sorted({span[1] for span in spans if span[0]["name"] in KINDS})
    if not replicas:
        fail('no compute span is of a thread with a name like "PP rank 0, TP rank 0, compute"')
    if not 0 <= replica < len(replicas):
        fail(f"there is no replica {replica}; the trace has {len(replicas)}")
    own = [span for span in spans if span[1] == replicas[replica]]
    tensor = min(span[3] for span in own if span[0]["name"] in KINDS)
    own = sorted((span for span in own if span[3] == tensor), key=lambda one: (one[2], one[0]["args"]["seq_id"], one[4]))
    computing = [span for span in own if span[0]["name"] in KINDS]
    devices = 1 + max(span[2] for span in computing)
    for rank in range(devices):
        if all(span[2] != rank for span in computing):
            fail(f"the trace has no op of pipeline rank {rank}")
    chunks = 1 + max(span[0]["args"]["model_chunk"] for span in computing)
    steps = {}
    for event, _, device, _, begin, end in computing:
        args = event["args"]
        op = Op(device, KINDS[event["name"]], args["model_chunk"] * devices + device, args["mb_id"], begin, end)
        if steps.setdefault(args["step"], {}).setdefault(op[:4], op) != op:
            fail(f"step {args['step']} has {op.stage}{op.kind}{op.microbatch} on rank {device} twice")
    whole = len(set().union(*steps.values()))
    kept = [step for step in sorted(steps) if len(steps[step]) == whole]
    if not kept:
        fail("no step is whole: in each, some rank lacks an op")
    iterations, cut, lost = [], 0, 0
    for step in kept:
        ops, count = trimmed(steps[step].values(), 1)
        transfers, missing = transfers_of([span for span in own if span[0]["args"]["step"] == step], devices,
                                          devices * chunks)
        iterations.append((ops, transfers))
        cut, lost = cut + count, lost + missing
    notes = [f"replica {replica} of {len(replicas)} data-parallel pipelines"] if len(replicas) > 1 else []
    took = [one[4] - one[3] for _, transfers in iterations for one in transfers]
    return run_file(iterations, devices, chunks, "interleaved" if chunks > 1 else "1f1b",
                    (median(took) if took else 0, "the median of this trace"), notes + slow_workers(spans, replicas),
                    [("iterations that are not whole", len(steps) - len(kept)), ("transfers seen at one end only", lost),
                     ("ops that overlapped the next by up to a thousandth of it, and were trimmed", cut)],
                    "op spans of StragglerAnalysis", {"method": "by the trace's writer", "residual_ns": 0}, "overlapped")


# --- Primus -----------------------------------------------------------------------------------------------------------


def primus_ops(times, rank, devices, chunks):
    lists = [[nanoseconds(time, 10**6) for time in times[key]] for key in ("fwd_start", "fwd_end", "bwd_start", "bwd_end")]
    if len({len(one) for one in lists}) > 1:
        fail(f"the four lists of times of rank {rank} are not equally long")
    ops = []
    for k, (forward, forward_end, backward, backward_end) in enumerate(zip(*lists)):
        chunk, microbatch = 0, k
        if chunks > 1:
            chunk = k % (devices * chunks) // devices
            microbatch = k // (devices * chunks) * devices + k % devices
        ops.append(Op(rank, "F", chunk * devices + rank, microbatch, forward, forward_end))
        ops.append(Op(rank, "B", (chunks - 1 - chunk) * devices + rank, microbatch, backward, backward_end))
    return ops


def begins_after_inputs(ops, devices, chunks):
    """How long after its input was made each op began; and the same of those that waited for nothing else."""
    makers = {(op.kind, op.stage, op.microbatch): op for op in ops}
    waits, all_waits = [], []
    for k, op in enumerate(ops):
        made = makers.get((op.kind, op.stage + (-1 if op.kind == "F" else 1), op.microbatch))
        if made is None:
            continue
        all_waits.append(op.begin - made.end)
        if made.device != op.device and (k == 0 or ops[k - 1].device != op.device or made.end >= ops[k - 1].end):
            waits.append(op.begin - made.end)
    return all_waits, waits


def primus_run(config, ranks):
    devices, chunks, microbatches = (config[key] for key in ("pp_size", "vp_size", "num_mbs"))
    if len(ranks) != devices or min(devices, chunks, microbatches) < 1:
        fail(f"{counted(len(ranks), 'rank')} are given, but pp_size of config.json is {devices}")
    if chunks > 1 and microbatches % devices != 0:
        fail(f"the interleaved order takes microbatches in groups of the ranks: {microbatches} are no multiple of {devices}")
    for rank in ranks:
        for number, times in rank.items():
            if len(times["fwd_start"]) != microbatches * chunks:
                fail(f"iteration {number} has {counted(len(times['fwd_start']), 'forward')}, but num_mbs * vp_size is "
                     f"{microbatches * chunks}")
    whole = sorted(set.intersection(*(set(rank) for rank in ranks)), key=int)
    if not whole:
        fail("no iteration is in the files of all ranks")
    lengths = [ranks[0][number]["bwd_end"][-1] - ranks[0][number]["fwd_start"][0] for number in whole]
    warm_up = next((k for k, length in enumerate(lengths) if length <= 1.25 * median(lengths)))
    iterations, cut, early, waits = [], 0, 0, []
    for number in whole[warm_up:]:
        raw = [op for place, rank in enumerate(ranks) for op in primus_ops(rank[number], place, devices, chunks)]
        early = max([early, *(-wait for wait in begins_after_inputs(raw, devices, chunks)[0])])
        ops, count = trimmed(raw, 0)
        waits += begins_after_inputs(ops, devices, chunks)[1]
        iterations.append((ops, []))
        cut += count
    notes = [f"{counted(warm_up, 'iteration')} at the start, more than a quarter longer than the median, left out as "
             "warm-up"] if warm_up else []
    notes.append("which op a time belongs to follows from Megatron-LM's interleaved order: the files do not say it"
                 if chunks > 1 else "the k-th forward of a rank is taken to be microbatch k's")
    if early > 0:
        notes.append(f"ops begin up to {duration(early)} before their input was made: by so much at least the ranks' clocks "
                     "differ")
    notes.append("no transfer was timed: how long after their input was made ops begin says what one takes")
    # Megatron-LM overlaps transfers by default where ranks hold several chunks, and waits for each where they do not.
    return run_file(iterations, devices, chunks, "interleaved" if chunks > 1 else "1f1b",
                    (max(0, median(waits)) if waits else 0, "by how long after their inputs were made ops began"), notes,
                    [("iterations that are not whole", len(ranks[0]) - len(whole)),
                     ("ops that overlapped the next by up to 1 us, and were trimmed", cut)],
                    "begins and ends that Primus logged on each rank",
                    {"method": "each rank's own begin of the iteration"}, "overlapped" if chunks > 1 else "coupled")


def load(path):
    with (gzip.open if str(path).endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in ("straggler", "primus"):
        raise SystemExit(__doc__)
    files = [load(pathlib.Path(path)) for path in (sys.argv[2:3] if sys.argv[1] == "straggler" else sys.argv[2:])]
    run = straggler_run(files[0], int((sys.argv[3:] or ["0"])[0])) if sys.argv[1] == "straggler" else \
        primus_run(files[0], files[1:])
    print(json.dumps(run, separators=(",", ":")))


if __name__ == "__main__":
    main()
