#!/usr/bin/env python3
"""Tables and refusals of PyTorch's pipeline classes, and the orders that the command makes for them."""
import json
import logging

import door
import hollow
import pytorch_step
import virtual_clock

KNOWN = ()
V_SHAPED = ("ZBVZeroBubble", "DualPipeV")
# Each class, and the flags that run it here (v: the stages of a rank).
CLASSES = (
    ("GPipe", (1,), "gpipe", ("--param", "backward=ascending")), ("1F1B", (1,), "1f1b", ()),
    ("LoopedBFS", (2, 3), "breadth-first", ()), ("Interleaved1F1B", (2, 3), "interleaved", ("--param", "rounding=pytorch")),
    ("InterleavedZeroBubble", (2, 3), "interleaved-zb", ()), ("InterleavedZeroBubble", (1,), "zb-h1", ()),
    ("ZBVZeroBubble", (2,), "zb-v", ()), ("DualPipeV", (2,), "dualpipe-v", ()))


def stages_of(rank, p, v, v_shaped):
    of_rank = [rank, 2 * p - 1 - rank] if v_shaped else range(rank, p * v, p)
    ranks = {stage: min(stage, 2 * p - 1 - stage) if v_shaped else stage % p for stage in range(p * v)}
    return [pytorch_step.Stage(stage_index=stage, num_stages=p * v, group_size=p, group_rank=rank, group=None, has_backward=True,
                               is_first=stage == 0, is_last=stage == p * v - 1, device="cpu", stage_index_to_group_rank=ranks,
                               submod=None)
            for stage in of_rank]


def words(action):
    """0F0 of an action, of both where two overlap."""
    return [word for part in action.sub_actions for word in words(part)] if action.sub_actions else [str(action)]


def made_for(schedules, name, p, m, v):
    """The schedule of each rank; None where the constructor refuses."""
    kind = schedules.get_schedule_class(name)
    try:
        stages = [stages_of(rank, p, v, name in V_SHAPED) for rank in range(p)]
        return [kind(of[0] if issubclass(kind, schedules.PipelineScheduleSingle) else of, m) for of in stages]
    except (ValueError, AssertionError):
        return None


def rows_of(made, events):
    """Ops of each rank."""
    if hasattr(made[0], "_stages"):
        return [[word for action in made[0].pipeline_order[rank] if action for word in words(action)] for rank in range(len(made))]
    # as it runs: the table that these classes show is another (findings/torch_1f1b_table.sh)
    return [[f"{of[1]}{of[0]}{of[2]}" for what, of in rank if what == "run"] for rank in events]


def compare_step(witness, events, case, v, flags):
    """The step with messages that take a while, in ns. --runs-in knows when this framework posts them."""
    f, b, i, hop = 6, 12, 5, 1
    times = {"F": f, "B": b, "I": i, "W": b - i}
    names = f"f={f * v}ms,b={b * v}ms,i={i * v}ms,w={(b - i) * v}ms"
    answer = witness.run("compare", "--runs-in", "pytorch", "--schedules", flags[1], "--times", names, "--comm", f"{hop}ms", "--format", "json",
                         *flags[2:])
    runs = json.loads(answer.stdout)["runs"]
    ours = runs[0]["makespan_ns"] // 10**6 if runs and runs[0].get("makespan_ns") else answer.stderr
    witness.check("steps", case, virtual_clock.step_time(events, times, hop), ours)


def sorted_reshards(row):
    """Those side by side by stage: their order is that of a Python set."""
    result = []
    for cell in row:
        place = len(result)
        while cell.endswith("RESHARD") and place and result[place - 1].endswith("RESHARD") and int(result[place - 1][:-7]) > int(cell[:-7]):
            place -= 1
        result.insert(place, cell)
    return result


def table_of(schedules, name, p, m, v):
    """What the class's runtime makes of its order: with transfers, weights and reductions."""
    made = schedules.get_schedule_class(name)(stages_of(0, p, v, name in V_SHAPED), m)
    rows = {rank: schedules._add_reduce_grad(schedules._add_unshard_reshard(row), m) for rank, row in made.pipeline_order.items()}
    ranks = made.stage_index_to_group_rank
    table = schedules._add_send_recv(rows, stage_to_rank=lambda stage: ranks[stage], num_stages=p * v)
    return [sorted_reshards(map(str, table[rank])) for rank in range(p)]


def compare_table(witness, schedules, name, case, sizes, flags):
    rows = witness.run("export", "--to", "pytorch-comms", "--torch", "2.13", *flags).stdout.splitlines()
    witness.check("tables", case, table_of(schedules, name, *sizes), [sorted_reshards(row.split(",")) for row in rows])


def main():
    witness = door.Door("PyTorch 2.13.0", KNOWN)
    hollow.prepare(witness.frameworks)
    from torch.distributed.pipelining import schedules
    logging.disable(logging.WARNING)
    for name, chunks, ours, more in CLASSES:
        for p in (2, 3, 4, 6, 8):
            for v in chunks:
                for m in (1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 16, 18, 19):
                    case = f"{name}, p {p}, m {m}, v {v}"
                    if not witness.wanted(case):
                        continue
                    asked = ("-v", str(v)) if len(chunks) > 1 else ()
                    flags = ("--schedule", ours, "-p", str(p), "-m", str(m), *asked, *more)
                    order = witness.order(*flags)
                    made = made_for(schedules, name, p, m, v)
                    events = made and pytorch_step.events_of(schedules, made)
                    rows = made and rows_of(made, events)
                    if rows is not None or ours not in ("1f1b", "zb-h1"):  # what PyTorch alone refuses: torchtitan_test.py
                        witness.check(name, case, rows, order)
                    if made:
                        compare_step(witness, events, case, v, flags)
                    if rows is not None and v > 1 and m in (4, 8, 9):
                        compare_table(witness, schedules, name, case, (p, m, v), flags)
    witness.finish()


if __name__ == "__main__":
    main()
