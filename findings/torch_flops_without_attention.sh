#!/usr/bin/env bash
# PyTorch's FLOP counter and attention, on a CPU.
#
# One would guess: FlopCounterMode counts scaled_dot_product_attention of a given shape as the same number on every device, since
# it counts formulas, not time: 4 x batch x heads x tokens^2 x head size for the forward pass.
# What happens: tensors on the meta device give that number; the same tensors on the CPU give 0, forward and backward, without
# a word: the operator that a CPU runs in attention's place has no formula. Half of the tokens masked changes neither number.
# Why it matters here: a model's FLOPs are often counted on a machine without a GPU, to know MFU or to check a forecast. With
# long sequences a third and more of the work is missing there. Counts to compare with come from the meta device.
#
# Needs PyPI and Python 3.10 or newer with venv. Fails where what is seen is not what is written here.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0 numpy 2>"$folder/pip" || { cat "$folder/pip" >&2; exit 1; }

cat >"$folder/count.py" <<'PYTHON'
import torch
from torch.nn.functional import linear, scaled_dot_product_attention
from torch.utils.flop_counter import FlopCounterMode

print("torch", torch.__version__.split("+")[0])
batch, heads, tokens, size = 2, 4, 64, 16
print("forward by the formula", 4 * batch * heads * tokens**2 * size)
for device in ("meta", "cpu"):
    for causal in (False, True):
        query, key, value = (torch.zeros(batch, heads, tokens, size, device=device, requires_grad=True) for _ in range(3))
        with FlopCounterMode(display=False) as counter:
            out = scaled_dot_product_attention(query, key, value, is_causal=causal)
            forward = counter.get_total_flops()
            out.sum().backward()
        print(f"{device}, causal {causal}: forward {forward}, with backward {counter.get_total_flops()}")
with FlopCounterMode(display=False) as counter:
    linear(torch.zeros(tokens, size), torch.zeros(size, size))
print("cpu, a linear layer:", counter.get_total_flops(), "by the formula", 2 * tokens * size**2)
PYTHON
seen=$("$folder/venv/bin/python" "$folder/count.py" 2>"$folder/said") || { cat "$folder/said" >&2; exit 1; }
echo "$seen"
diff - <(echo "$seen") <<'EXPECTED'
torch 2.13.0
forward by the formula 2097152
meta, causal False: forward 2097152, with backward 6291456
meta, causal True: forward 2097152, with backward 6291456
cpu, causal False: forward 0, with backward 0
cpu, causal True: forward 0, with backward 0
cpu, a linear layer: 32768 by the formula 32768
EXPECTED
