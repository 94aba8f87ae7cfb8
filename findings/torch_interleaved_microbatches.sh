#!/usr/bin/env bash
# Which numbers of microbatches PyTorch's interleaved 1F1B takes.
#
# One would guess: multiples of the ranks, as in the paper that the class names and in Megatron-LM, whose order it should have;
# if others are taken, then whatever is at least the number of ranks.
# What happens: there are max(1, m div p) rounds, and m must be a multiple of these. On 4 ranks all m below 8 run, 5 and 7
# among them and 1 and 3, too; 10 and 15 run in rounds of 5, where Megatron-LM goes by 4 and refuses both; of 9 to 20 these
# and the multiples of 4 are all. 18 is to be a multiple of the rounds, it is said, which follow from it.
# Why it matters here: debubble read the class as Megatron-LM's order. 10 microbatches on 4 ranks with 2 stages each, f = 1 ms
# and b = 2 ms per rank, take 39.5 ms so, and 34.5 ms as PyTorch runs them; 18 were simulated though no run starts.
#
# Needs PyPI and Python with venv. Fails where what is seen is not what is written here.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0 numpy 2>"$folder/pip" || { cat "$folder/pip" >&2; exit 1; }

cat >"$folder/rounds.py" <<'PYTHON'
import torch
import torch.distributed as dist
from torch.distributed.pipelining import PipelineStage, ScheduleInterleaved1F1B
from torch.testing._internal.distributed.fake_pg import FakeStore

print("torch", torch.__version__.partition("+")[0])
dist.init_process_group("fake", rank=0, world_size=4, store=FakeStore())
stages = [PipelineStage(torch.nn.Linear(4, 4), index, 8, torch.device("cpu")) for index in (0, 4)]
taken = []
for microbatches in range(1, 21):
    try:
        schedule = ScheduleInterleaved1F1B(stages, microbatches)
        taken.append(microbatches)
    except ValueError as error:
        said = f"{microbatches}: {error}" if microbatches == 18 else ""
        print(said, end="\n" if said else "")
    if microbatches == 10:
        forwards = [str(action) for action in schedule.pipeline_order[0] if action and str(action)[1] == "F"]
print("taken:", *taken)
print("forwards of rank 0, 10 microbatches:", *forwards)
PYTHON
seen=$("$folder/venv/bin/python" "$folder/rounds.py" 2>"$folder/said") || { cat "$folder/said" >&2; exit 1; }
echo "$seen"
diff - <(echo "$seen") <<'EXPECTED'
torch 2.13.0
18: Interleaved 1F1B requires the number of microbatches to be a multiple of the number of rounds (4), but got 18.
taken: 1 2 3 4 5 6 7 8 10 12 15 16 20
forwards of rank 0, 10 microbatches: 0F0 0F1 0F2 0F3 0F4 4F0 4F1 4F2 4F3 4F4 0F5 0F6 0F7 0F8 0F9 4F5 4F6 4F7 4F8 4F9
EXPECTED
