#!/usr/bin/env bash
# What torchtitan saves of a job that multiplies in 8 bits.
#
# One would guess: the configuration that a job saves (debug.save_config_file) or prints says all that its run depends on, so
# those of two jobs differ where the jobs do, and are the same text for one job saved twice.
# What happens: neither. A module is saved by its settings and without its class, so blocks of Float8Linear read as those of
# Linear, and no converter is named. What is saved are also the addresses of the functions that set the first weights, so that
# one configuration saved twice is two texts.
# Why it matters here: the number format of products cannot be read from that file, and is asked for where it matters. Whether
# two jobs are the same cannot be told by comparing their files.
#
# Needs PyPI and Python 3.11 with venv; 1.5 GB of disk. Fails where what is seen is not what is written here.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0 torchtitan==0.3.0 torchao==0.18.0 triton==3.5.1 pillow einops numpy 2>"$folder/pip" ||
  { cat "$folder/pip" >&2; exit 1; }

cat >"$folder/saved.py" <<'PYTHON'
import json
import re
from importlib.metadata import version

from torchtitan.components.quantization import Float8LinearConverter
from torchtitan.models.llama3 import model_registry


def model(eight_bits):
    # Emulated, as without a GPU that has such products.
    converters = [Float8LinearConverter.Config(emulate=True, model_compile_enabled=False)] if eight_bits else None
    return model_registry("debugmodel", converters=converters).model


def saved(one):
    return json.dumps(one.to_dict())


def without_addresses(text):
    return re.sub("0x[0-9a-f]+", "ADDRESS", text)


print("torchtitan", version("torchtitan"), "torchao", version("torchao"))
sixteen, again, eight = model(False), model(False), model(True)
for name, one in (("16 bits", sixteen), ("8 bits", eight)):
    print(f"{name}: w1 is built by {type(one.layers[0].feed_forward.w1).__qualname__}")
print("saved twice, the same text:", saved(sixteen) == saved(again))
print("without addresses:", without_addresses(saved(sixteen)) == without_addresses(saved(again)))
print("16 and 8 bits, without addresses, the same text:", without_addresses(saved(sixteen)) == without_addresses(saved(eight)))
PYTHON
seen=$("$folder/venv/bin/python" "$folder/saved.py" 2>"$folder/said") || { cat "$folder/said" >&2; exit 1; }
echo "$seen"
diff - <(echo "$seen") <<'EXPECTED'
torchtitan 0.3.0 torchao 0.18.0
16 bits: w1 is built by Linear.Config
8 bits: w1 is built by Float8Linear.Config
saved twice, the same text: False
without addresses: True
16 and 8 bits, without addresses, the same text: True
EXPECTED
