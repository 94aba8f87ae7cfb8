#!/usr/bin/env bash
# The advice of torchtitan's refusal, followed.
#
# One would guess: pipeline_parallel_layers_per_stage is the number of a model's layers in a stage, so 32 layers on 2 ranks are
# 16, and where torchtitan says "increase it to 16 or higher", 16 is accepted.
# What happens: the embedding and the head count as layers, too, one each unless first_ and last_stage_less_layers say otherwise,
# so 16 make 3 stages and are refused with other words; 17 makes 2 stages, of 16 layers each. The advice leaves the two out.
# Why it matters here: the number of stages follows from this rule, not from the layers. Reading it as layers per stage gives
# runs that torchtitan never starts, and none for those that it does.
#
# Needs PyPI and Python 3.11 with venv. Fails where what is seen is not what is written here.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet torch==2.13.0 torchtitan==0.3.0 numpy 2>"$folder/pip" || { cat "$folder/pip" >&2; exit 1; }

cat >"$folder/advice.py" <<'PYTHON'
import types

from importlib.metadata import version

from torchtitan.config import ParallelismConfig
from torchtitan.distributed import pipeline_parallel

print("torchtitan", version("torchtitan"))
model = types.SimpleNamespace(layers=range(32))
for per_stage in (9, 16, 17):
    asked = ParallelismConfig(pipeline_parallel_degree=2, pipeline_parallel_schedule="1F1B", pipeline_parallel_layers_per_stage=per_stage)
    try:
        stages = pipeline_parallel._get_pipeline_metadata(types.SimpleNamespace(pp=2), asked, model)[0]
        print(f"{per_stage} per stage: {stages} stages")
    except ValueError as error:
        print(f"{per_stage} per stage: {error}")
PYTHON
seen=$("$folder/venv/bin/python" "$folder/advice.py" 2>"$folder/said") || { cat "$folder/said" >&2; exit 1; }
echo "$seen"
diff - <(echo "$seen") <<'EXPECTED'
torchtitan 0.3.0
9 per stage: Single stage schedule requires exactly 1 stage per rank, but got 2 stages per rank. Model has 32 layers with pipeline_parallel_layers_per_stage=9, resulting in num_virtual_stages=4 across 2 PP ranks. Please increase pipeline_parallel_layers_per_stage to 16 or higher to achieve 1 stage per rank.
16 per stage: Number of virtual stages (3) must be divisible by pipeline parallel size (2). Model has 32 layers with pipeline_parallel_layers_per_stage=16. Please adjust pipeline_parallel_layers_per_stage to a value that results in a number of stages divisible by 2.
17 per stage: 2 stages
EXPECTED
