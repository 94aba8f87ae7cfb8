#!/usr/bin/env bash
# When PyTorch's pipeline schedules post a receive.
#
# One would guess: the schedule that is there to hide communication, breadth-first (ScheduleLoopedBFS: all microbatches
# through a stage before the next one), has its receives posted long before they are needed, at least as early as
# interleaved 1F1B; all classes share one module and its helpers.
# What happens: ScheduleInterleaved1F1B posts the receive of the next op together with the send of the last one, before the
# next op runs, ScheduleLoopedBFS and ScheduleGPipe post it directly before the op that uses it and wait at once. So where the
# sender is ahead, every microbatch pays its hop.
# Why it matters here: debubble let all transfers overlap, and ranked breadth-first before interleaved for jobs where it is
# behind: 8 microbatches on 4 devices, 2 stages each, f = 1 ms, b = 2 ms, hop 0.1 ms take 32.1 ms, not 29.1. `--p2p late`.
#
# Needs PyPI and Python with venv. Two processes over gloo; fails where what is seen is not what is written here.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0 numpy 2>"$folder/pip" || { cat "$folder/pip" >&2; exit 1; }

cat >"$folder/posts.py" <<'PYTHON'
import os
import sys

import torch
import torch.distributed as dist
import torch.distributed.pipelining.schedules as schedules
import torch.multiprocessing as processes
from torch.distributed import pipelining


def stage_of(index, stages, log):
    stage = pipelining.PipelineStage(torch.nn.Linear(4, 4), index, stages, torch.device("cpu"))
    for name, letter in (("forward_one_chunk", "F"), ("backward_one_chunk", "B")):
        def run(chunk, *arguments, whole=getattr(stage, name), letter=letter, **named):
            log.append(f"{index}{letter}{chunk}")
            return whole(chunk, *arguments, **named)
        setattr(stage, name, run)
    return stage


def rank_of(rank, file):
    dist.init_process_group("gloo", init_method=f"file://{file}", rank=rank, world_size=2)
    log, post = [], schedules._batch_p2p

    def posted(operations, desc=None):
        kinds = {"recv" if "recv" in one.op.__name__ else "send" for one in operations}
        log.extend(["+".join(sorted(kinds))] if kinds else [])
        return post(operations, desc) if operations else []
    schedules._batch_p2p = posted

    batch = torch.ones(4, 4)
    for name, chunks in (("ScheduleGPipe", 1), ("ScheduleLoopedBFS", 2), ("ScheduleInterleaved1F1B", 2)):
        stages = [stage_of(rank + 2 * chunk, 2 * chunks, log) for chunk in range(chunks)]
        schedule = getattr(pipelining, name)(stages if chunks > 1 else stages[0], 4, loss_fn=torch.nn.MSELoss())
        log.clear()
        schedule.step(*([batch] if rank == 0 else []), **({"target": batch} if rank == 1 else {}))
        if rank == 1:
            print(f"{name}: {' '.join(log)}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    print("torch", torch.__version__.partition("+")[0], flush=True)
    processes.spawn(rank_of, args=(sys.argv[1],), nprocs=2)
PYTHON
seen=$("$folder/venv/bin/python" "$folder/posts.py" "$folder/meet" 2>"$folder/said") || { cat "$folder/said" >&2; exit 1; }
echo "$seen"
diff - <(echo "$seen") <<'EXPECTED'
torch 2.13.0
ScheduleGPipe: recv 1F0 recv 1F1 recv 1F2 recv 1F3 1B0 send 1B1 send 1B2 send 1B3 send
ScheduleLoopedBFS: recv 1F0 send recv 1F1 send recv 1F2 send recv 1F3 send recv 3F0 recv 3F1 recv 3F2 recv 3F3 3B3 send recv 3B2 send recv 3B1 send recv 3B0 send recv 1B3 send 1B2 send 1B1 send 1B0 send
ScheduleInterleaved1F1B: recv 1F0 send recv 1F1 send recv 3F0 recv 3B0 send recv 3F1 recv 3B1 send recv 1F2 send recv 1B0 send recv 1F3 send 1B1 send recv 3F2 3B2 send recv 3F3 3B3 send recv 1B2 send 1B3 send
EXPECTED
