#!/usr/bin/env bash
# An estimator of training time that knows pipeline stages, and bubbles.
#
# One would guess: llm-analysis takes pp_size and gradient_accumulation_steps, so its time per step holds the pipeline's fill and
# drain, (p - 1) / m of the work: 35 stages with one microbatch cost 35 times the GPU hours of a full pipeline.
# What happens: a step is the accumulation steps times one stage's time for one microbatch. 35 stages with 1, 4 or 64 microbatches,
# or 105 stages, all come to the same GPU hours within a ten thousandth.
# Why it matters here: its answers are those of a pipeline without bubbles. Set beside a forecast they make every schedule look
# slow, and of two configurations it cannot say which has too few microbatches.
#
# Needs PyPI and Python 3.10 or newer with venv. Fails where what is seen is not what is written here.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-deps llm-analysis==0.2.2 fire==0.7.1 termcolor==3.2.0 2>"$folder/pip" || { cat "$folder/pip" >&2; exit 1; }

cat >"$folder/hours.py" <<'PYTHON'
import logging
from importlib.metadata import version

logging.disable(logging.CRITICAL)
from llm_analysis.analysis import ActivationRecomputation, LLMAnalysis
from llm_analysis.config import (
    ParallelismConfig,
    get_dtype_config_by_name,
    get_gpu_config_by_name,
    get_model_config_by_name,
)

print("llm-analysis", version("llm-analysis"))
job = [get_model_config_by_name("mt-nlg-530b"), get_gpu_config_by_name("a100-sxm-80gb"), get_dtype_config_by_name("w16a16e16")]
for stages, microbatches in ((35, 1), (35, 4), (35, 64), (105, 64)):
    analysis = LLMAnalysis(*job, ParallelismConfig(tp_size=8, pp_size=stages, dp_size=1), flops_efficiency=0.5)
    answer = analysis.training(
        batch_size_per_gpu=1,
        gradient_accumulation_steps=microbatches,
        seq_len=2048,
        total_num_tokens=10**9,
        activation_recomputation=ActivationRecomputation.FULL,
    )
    step, hours = answer["latency_per_iter"], answer["gpu_hours"]
    bubble = (stages - 1) / (microbatches + stages - 1)
    print(f"{stages} stages, {microbatches} microbatches: {step:.3f} s a step, {hours:.0f} GPU hours; bubble of 1F1B: {bubble:.0%}")
PYTHON
seen=$("$folder/venv/bin/python" "$folder/hours.py")
echo "$seen"
diff - <(echo "$seen") <<'EXPECTED'
llm-analysis 0.2.2
35 stages, 1 microbatches: 0.202 s a step, 7668 GPU hours; bubble of 1F1B: 97%
35 stages, 4 microbatches: 0.808 s a step, 7668 GPU hours; bubble of 1F1B: 89%
35 stages, 64 microbatches: 12.923 s a step, 7668 GPU hours; bubble of 1F1B: 35%
105 stages, 64 microbatches: 4.308 s a step, 7668 GPU hours; bubble of 1F1B: 62%
EXPECTED
