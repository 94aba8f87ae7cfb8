#!/usr/bin/env python3
"""Writes the profiles of this folder from the published figures below.

    python3 traces/published/make.py [FOLDER]

The figures stand here and nowhere else; a test checks that the files are what this script makes of them. The output
is byte for byte what debubble's own writer would write. Times are kept in integers: a table's milliseconds, given as
decimal text, become nanoseconds exactly.
"""

import json
import sys
from decimal import Decimal
from pathlib import Path

# --- Zero Bubble ------------------------------------------------------------------------------------------------------

ZERO_BUBBLE_CITATION = (
    "Qi et al., Zero Bubble Pipeline Parallelism, ICLR 2024, arXiv:2401.10241, bubble-rate table")

ZERO_BUBBLE_NOTES = (
    "T_F, T_B, T_W and T_comm of one stage and microbatch as the table gives them; microbatch sizes from Table 4; the "
    "same figures stand in the authors' repository, sail-sg/zero-bubble-pipeline-parallelism, branch arxiv, "
    "megatron/core/pipeline_parallel/efficiency.py. "
    "Every stage has the same published times. A stage's time is divided evenly over its {per_stage} layers, exact to "
    "the nanosecond in their sum. The authors removed one layer from the first and one from the last stage, which hold "
    "the embedding and the head; the {layers} layers here are {stages} equal stages of {per_stage} and stand for them. "
    "Memory by the paper's formulas without flash attention: kept for backward s*b*(34h+5as), held from I to W 32*s*b*h, "
    "output 2*s*b*h, parameters 12*h*h in 2 bytes, with s=1024, b={batch}, h={hidden}, a={heads}. The paper used m={m} "
    "microbatches.")

# Hidden size, attention heads, stages, layers per stage, samples per microbatch.
ZERO_BUBBLE_MODELS = {
    "1.5B": (2304, 24, 8, 3, 6),
    "6.2B": (4096, 32, 8, 4, 3),
    "14.6B": (5120, 40, 16, 3, 1),
    "28.3B": (6144, 48, 32, 2, 1),
}

# Model, microbatches, then milliseconds of one stage and microbatch: forward, input gradient, weight gradient, hop.
ZERO_BUBBLE_TIMES = [
    ("1.5B", 24, "18.522", "18.086", "9.337", "0.601"),
    ("1.5B", 32, "18.513", "18.086", "9.331", "0.626"),
    ("1.5B", 64, "18.546", "18.097", "9.321", "0.762"),
    ("6.2B", 24, "29.718", "29.444", "19.927", "0.527"),
    ("6.2B", 32, "29.802", "29.428", "19.530", "0.577"),
    ("6.2B", 64, "29.935", "29.621", "19.388", "0.535"),
    ("14.6B", 48, "11.347", "11.248", "8.132", "0.377"),
    ("14.6B", 64, "11.307", "11.254", "8.101", "0.379"),
    ("14.6B", 128, "11.325", "11.308", "8.109", "0.378"),
    ("28.3B", 96, "10.419", "10.207", "7.715", "0.408"),
    ("28.3B", 128, "10.408", "10.204", "7.703", "0.408"),
    ("28.3B", 256, "10.402", "10.248", "7.698", "0.460"),
]

# --- BERT on P100 -----------------------------------------------------------------------------------------------------

BERT_CITATION = (
    "Osawa, Li, Hoefler: PipeFisher: Efficient Training of Large Language Models Using Pipelining and Fisher Information "
    "Matrices, MLSys 2023, arXiv:2211.14133: profile of one transformer block in the authors' repository")

BERT_COMMON_NOTES = (
    "One profiled block, repeated {layers} times; embedding and head are not part of the figures. fp32, {batch} "
    "samples; 128 tokens each (phase 1 of BERT's training) is our reading. No split backward was published. ")

BERT_LARGE_NOTES = BERT_COMMON_NOTES + (
    "Memory as published, 352.1 MB activations and 64.1 MB parameters per block; MB is read as 2^20 bytes, since the 168 "
    "MB published for the block's Kronecker factors are 42*h*h*4 bytes, exactly 168*2^20 with h=1024, and since the "
    "activations then are 22 tensors of 32*128*1024 fp32 values. Output: one such tensor.")

BERT_BASE_NOTES = BERT_COMMON_NOTES + (
    "Memory was not published for this model: activations are 22 tensors of 32*128*768 fp32 values, as for BERT-Large, "
    "whose heads are as wide; parameters (12*h*h + 13*h)*4 bytes; output one tensor.")

MEBIBYTE = 1 << 20


# --- The format -------------------------------------------------------------------------------------------------------

def nanoseconds(milliseconds):
    exact = Decimal(milliseconds) * 1_000_000
    assert exact == int(exact), milliseconds
    return int(exact)


def shares(total, parts):
    """`total` in `parts` integers that differ by at most one and add up to it."""
    return [total * (k + 1) // parts - total * k // parts for k in range(parts)]


def runs(layers):
    """Equal neighbours become one entry with a count; the names of a run are numbered on."""
    result = []
    for layer in layers:
        unnamed = {key: value for key, value in layer.items() if key != "name"}
        if result and result[-1][1] == unnamed:
            result[-1][2] += 1
        else:
            result.append([layer["name"], unnamed, 1])
    for name, unnamed, count in result:
        entry = {"name": name, "kind": unnamed["kind"]}
        if count > 1:
            entry["count"] = count
        yield entry | unnamed


def literal(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)}: {literal(item)}" for key, item in value.items()) + "}"
    return json.dumps(value, ensure_ascii=False)


def block(members, indent):
    separator = ",\n" + " " * (indent + 2)
    lines = separator.join(f"{json.dumps(key)}: {text}" for key, text in members)
    return "{\n" + " " * (indent + 2) + lines + "\n" + " " * indent + "}"


def document(profile):
    members = []
    for key, value in profile.items():
        if key == "origin":
            text = block([(name, literal(item)) for name, item in value.items()], 2)
        elif key == "layers":
            entries = [block([(name, literal(item)) for name, item in run.items()], 4) for run in runs(value)]
            text = "[\n    " + ",\n    ".join(entries) + "\n  ]"
        else:
            text = literal(value)
        members.append((key, text))
    return block(members, 0) + "\n"


# --- The profiles -----------------------------------------------------------------------------------------------------

def zero_bubble(model, m, forward, input_grad, weight_grad, hop):
    hidden, heads, stages, per_stage, batch = ZERO_BUBBLE_MODELS[model]
    tokens = 1024 * batch
    times = [shares(nanoseconds(time), per_stage) for time in (forward, input_grad, weight_grad)]
    layers = [{
        "name": f"layer.{number}",
        "kind": "transformer",
        "forward": {"median_ns": times[0][number % per_stage]},
        "input_grad": {"median_ns": times[1][number % per_stage]},
        "weight_grad": {"median_ns": times[2][number % per_stage]},
        "activation_bytes": tokens * (34 * hidden + 5 * heads * 1024),
        "weight_grad_held_bytes": 32 * tokens * hidden,
        "output_bytes": 2 * tokens * hidden,
        "parameter_bytes": 12 * hidden * hidden * 2,
    } for number in range(stages * per_stage)]
    return {
        "schema": "debubble.profile/1",
        "model": f"gpt-{model.lower()}",
        "dtype": "mixed 16-bit",
        "microbatch_size": batch,
        "sequence_length": 1024,
        "hop": {"latency_ns": nanoseconds(hop)},
        "origin": {
            "times": "published",
            "memory": "modelled",
            "device": "NVIDIA A100 80GB SXM, RoCE between nodes",
            "method": "the authors' profile of their Megatron-LM runs; one set of average times for all stages",
            "citation": ZERO_BUBBLE_CITATION,
            "notes": ZERO_BUBBLE_NOTES.format(per_stage=per_stage, layers=stages * per_stage, stages=stages,
                                              batch=batch, hidden=hidden, heads=heads, m=m),
        },
        "layers": layers,
    }


def bert(model, layers, forward, backward, memory, sizes, notes):
    batch = 32
    return {
        "schema": "debubble.profile/1",
        "model": model,
        "dtype": "fp32",
        "microbatch_size": batch,
        "sequence_length": 128,
        "origin": {
            "times": "published",
            "memory": memory,
            "device": "NVIDIA Tesla P100",
            "method": "the authors' profile of one block",
            "citation": BERT_CITATION,
            "notes": notes.format(layers=layers, batch=batch),
        },
        "layers": [{
            "name": f"block.{number}",
            "kind": "transformer",
            "forward": {"median_ns": nanoseconds(forward)},
            "backward": {"median_ns": nanoseconds(backward)},
        } | sizes for number in range(layers)],
    }


def bert_sizes(hidden, activation, parameters):
    return {"activation_bytes": activation, "output_bytes": 32 * 128 * hidden * 4, "parameter_bytes": parameters}


def profiles():
    for row in ZERO_BUBBLE_TIMES:
        yield f"zb-a100-{row[0].lower()}-m{row[1]}.json", zero_bubble(*row)
    large = bert_sizes(1024, round(Decimal("352.1") * MEBIBYTE), round(Decimal("64.1") * MEBIBYTE))
    yield "bert-large-p100.json", bert("bert-large", 24, "16.1004", "26.9529", "published", large, BERT_LARGE_NOTES)
    base = bert_sizes(768, 22 * 32 * 128 * 768 * 4, (12 * 768 * 768 + 13 * 768) * 4)
    yield "bert-base-p100.json", bert("bert-base", 12, "9.7481", "16.4502", "modelled", base, BERT_BASE_NOTES)


def main():
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    for name, profile in profiles():
        (folder / name).write_bytes(document(profile).encode())


if __name__ == "__main__":
    main()
