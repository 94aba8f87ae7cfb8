#!/usr/bin/env bash
# What a checkpointed block does again before its backward pass.
#
# One would guess: torch.utils.checkpoint runs the block's whole forward pass a second time, so full recomputation costs
# 4/3 of the block's products: 3 layers make 9 without (3 forward, 6 backward) and 12 with it.
# What happens: the older form (use_reentrant=True) does; the newer one stops as soon as everything is there that the backward
# pass needs, which is before the last layer's product: 11. set_checkpoint_early_stop(False) makes it 12.
# Why it matters here: the last product of a transformer block is its down projection, about a quarter of a dense block's
# forward pass. A forecast of "full" recomputation is right for one form and that much too high for the other; Megatron-LM
# repeats all of it, torchtitan switches the early stop off, and Hugging Face's trainers leave it on.
#
# Needs PyPI and Python 3.10 or newer with venv. Fails where what is seen is not what is written here.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0 numpy 2>"$folder/pip" || { cat "$folder/pip" >&2; exit 1; }

cat >"$folder/count.py" <<'PYTHON'
import contextlib

import torch
from torch.utils.checkpoint import checkpoint, set_checkpoint_early_stop
from torch.utils.flop_counter import FlopCounterMode

print("torch", torch.__version__.split("+")[0])
tokens, width = 8, 32
block = torch.nn.Sequential(*(torch.nn.Linear(width, width, bias=False) for _ in range(3)))
unit = 2 * tokens * width**2


def counted(label, run, context=contextlib.nullcontext()):
    x = torch.zeros(tokens, width, requires_grad=True)
    with FlopCounterMode(display=False) as counter, context:
        run(x).sum().backward()
    print(f"{label}: {counter.get_total_flops() / unit:g} products")


counted("all kept", block)
counted("use_reentrant=True", lambda x: checkpoint(block, x, use_reentrant=True))
counted("use_reentrant=False", lambda x: checkpoint(block, x, use_reentrant=False))
counted("use_reentrant=False, no early stop", lambda x: checkpoint(block, x, use_reentrant=False), set_checkpoint_early_stop(False))
PYTHON
seen=$("$folder/venv/bin/python" "$folder/count.py" 2>"$folder/said") || { cat "$folder/said" >&2; exit 1; }
echo "$seen"
diff - <(echo "$seen") <<'EXPECTED'
torch 2.13.0
all kept: 9 products
use_reentrant=True: 12 products
use_reentrant=False: 11 products
use_reentrant=False, no early stop: 12 products
EXPECTED
