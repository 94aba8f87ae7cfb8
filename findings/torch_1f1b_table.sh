#!/usr/bin/env bash
# The table that PyTorch's 1F1B shows of itself.
#
# One would guess: a schedule's pipeline_order, which every pipeline class has and tables and drawings are made of, lists what
# each rank runs; at the least each microbatch once forward and once backward.
# What happens: Schedule1F1B runs microbatches 0 to m - 1, but in its table the last rank has the forwards 1 to m: none for
# microbatch 0, whose backward comes all the same, and one for a microbatch that there is not. With one rank it is so, too.
# Why it matters here: tables of PyTorch are read as schedules. This one is no order that can run, though the class itself
# is fine, so our 1f1b is held against what the class does, not against what it says.
#
# Needs PyPI and Python with venv. Fails where what is seen is not what is written here.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0 numpy 2>"$folder/pip" || { cat "$folder/pip" >&2; exit 1; }

cat >"$folder/table.py" <<'PYTHON'
import torch
import torch.distributed as dist
from torch.distributed.pipelining import PipelineStage, Schedule1F1B, ScheduleGPipe
from torch.testing._internal.distributed.fake_pg import FakeStore

print("torch", torch.__version__.partition("+")[0])
for ranks in (1, 3):
    dist.init_process_group("fake", rank=0, world_size=ranks, store=FakeStore())
    stage = PipelineStage(torch.nn.Linear(4, 4), 0, ranks, torch.device("cpu"))
    for kind in (ScheduleGPipe, Schedule1F1B):
        rows = kind(stage, 4).pipeline_order
        row = [action for action in rows[ranks - 1] if action is not None]
        print(f"{kind.__name__}, 4 microbatches, rank {ranks - 1} of {ranks}:", *(str(action) for action in row))
    dist.destroy_process_group()
PYTHON
seen=$("$folder/venv/bin/python" "$folder/table.py" 2>"$folder/said") || { cat "$folder/said" >&2; exit 1; }
echo "$seen"
diff - <(echo "$seen") <<'EXPECTED'
torch 2.13.0
ScheduleGPipe, 4 microbatches, rank 0 of 1: 0F0 0F1 0F2 0F3 0B0 0B1 0B2 0B3 0REDUCE_GRAD
Schedule1F1B, 4 microbatches, rank 0 of 1: 0F1 0B0 0F2 0B1 0F3 0B2 0F4 0B3 0REDUCE_GRAD
ScheduleGPipe, 4 microbatches, rank 2 of 3: 2F0 2F1 2F2 2F3 2B0 2B1 2B2 2B3 2REDUCE_GRAD
Schedule1F1B, 4 microbatches, rank 2 of 3: 2F1 2B0 2F2 2B1 2F3 2B2 2F4 2B3 2REDUCE_GRAD
EXPECTED
