#!/usr/bin/env python3
"""Writes the profiles of this folder from the published figures below.

    python3 traces/published/make.py [FOLDER]

The figures are kept here and nowhere else; a test checks that the files are what this script makes of them. The output
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

# --- GPT-1.3B on V100 at four microbatch sizes ------------------------------------------------------------------------

ACESO_CITATION = (
    "Aceso's operator times: microsoft/SuperScaler, commit fa80ad0, profiler/profiled-time-eurosys, "
    "gpt_1_3B_mbs{1,2,4,8}_tp1_algo0.csv, MIT licence")

ACESO_NOTES = (
    "Times of single operators, added up to layers: encoder-embedding; the thirteen operators of a block, enc-...; "
    "final-layernorm and gpt-post-process, the head. One block was measured; its {blocks} repetitions are our reading "
    "of the model's name, for they make 1.3 billion parameters. fp16, 2048 tokens, one tensor-parallel rank, "
    "CUDA 11.6, PyTorch 1.12. The source times a backward as one. Sizes: the operators' MiB, three decimals; what an "
    "allocator reserved beside them is left out.")

ACESO_BATCHES = (1, 2, 4, 8)
ACESO_BLOCKS = 24

# Operator, MiB of weights; then for 1, 2, 4 and 8 samples microseconds forward, backward, and MiB kept for backward.
ACESO_OPERATORS = [
    ("encoder-embedding", 208,
     "173.631 1486.725 12.000", "397.784 1753.943 24.000",
     "743.853 2096.262 48.000", "1452.242 2727.610 96.000"),
    ("enc-1st-layernorm", 0,
     "43.762 119.377 8.016", "63.090 218.985 16.031",
     "112.634 439.912 32.062", "209.060 871.879 64.125"),
    ("enc-attention-qkv", 24,
     "708.879 1296.924 24.000", "1423.016 2489.197 48.000",
     "2844.338 4735.873 96.000", "5632.635 9174.732 192.000"),
    ("enc-attention-score", 0,
     "531.875 1127.807 256.000", "1071.849 2217.574 512.000",
     "2157.028 4147.884 1024.000", "4528.797 8067.127 2048.000"),
    ("enc-attention-softmax", 0,
     "610.657 837.961 256.000", "1221.486 1645.683 512.000",
     "2433.293 3275.157 1024.000", "4834.197 6582.925 2048.000"),
    ("enc-attention-dropout", 0,
     "957.260 826.848 384.000", "1957.101 1648.972 768.000",
     "3873.298 3295.368 1536.000", "7760.000 6584.795 3072.000"),
    ("enc-attention-context", 0,
     "638.769 899.239 8.000", "1283.791 1768.544 16.000",
     "2436.684 3472.596 32.000", "4849.256 7027.851 64.000"),
    ("enc-attention-dense", 8,
     "230.813 444.943 8.000", "484.507 810.127 16.000",
     "881.999 1493.109 32.000", "1700.754 2840.737 64.000"),
    ("enc-post-attention-dropout", 0,
     "100.067 76.482 12.000", "189.402 100.186 24.000",
     "368.631 193.195 48.000", "730.205 379.480 96.000"),
    ("enc-2nd-layernorm", 0,
     "42.201 120.645 8.016", "62.951 218.923 16.031",
     "113.395 441.437 32.062", "209.062 868.996 64.125"),
    ("enc-MLP-GEMM-1", 32,
     "866.761 1476.009 32.000", "1670.904 2937.909 64.000",
     "3311.126 5600.250 128.000", "6640.315 10628.326 256.000"),
    ("enc-MLP-gelu", 0,
     "94.056 192.648 32.000", "183.358 362.841 64.000",
     "362.349 682.606 128.000", "716.548 1349.027 256.000"),
    ("enc-MLP-GEMM-2", 32,
     "852.051 1598.179 8.000", "1704.979 2887.144 16.000",
     "3233.504 5590.496 32.000", "6590.631 10826.190 64.000"),
    ("enc-post-MLP-dropout", 0,
     "99.375 78.251 12.000", "187.242 100.617 24.000",
     "362.581 193.304 48.000", "716.624 379.409 96.000"),
    ("final-layernorm", 0,
     "46.190 942.417 8.016", "120.533 1584.696 32.031",
     "223.148 1582.500 64.062", "427.171 1564.845 128.125"),
    ("gpt-post-process", 200,
     "9476.845 10278.254 400.025", "18843.632 20264.800 800.051",
     "37422.134 39164.308 1600.102", "74799.174 82127.341 3200.203"),
]

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


def aceso_layer(name, kind, operators, column, output):
    picked = [row for row in ACESO_OPERATORS if row[0] in operators]
    assert len(picked) == len(operators), operators
    forward, backward, kept = (sum(Decimal(row[2 + column].split()[k]) for row in picked) for k in range(3))
    return {
        "name": name,
        "kind": kind,
        "forward": {"median_ns": int(forward * 1000)},
        "backward": {"median_ns": int(backward * 1000)},
        "activation_bytes": round(kept * MEBIBYTE),
        "output_bytes": output,
        "parameter_bytes": sum(row[1] for row in picked) * MEBIBYTE,
    }


def aceso(column):
    batch = ACESO_BATCHES[column]
    output = batch * 2048 * 2048 * 2
    names = [row[0] for row in ACESO_OPERATORS]
    block = aceso_layer("block", "transformer", [name for name in names if name.startswith("enc-")], column, output)
    return {
        "schema": "debubble.profile/1",
        "model": "gpt-1.3b",
        "dtype": "fp16",
        "microbatch_size": batch,
        "sequence_length": 2048,
        "origin": {
            "times": "published",
            "memory": "published",
            "device": "NVIDIA V100-SXM2-32GB",
            "method": "the authors' profile of single operators",
            "citation": ACESO_CITATION,
            "notes": ACESO_NOTES.format(blocks=ACESO_BLOCKS),
        },
        "transformer": {"hidden": 2048, "heads": 32, "kv_heads": 32, "head_size": 64, "feed_forward": 8192,
                        "vocabulary": 51200, "gated": False, "flash_attention": False, "tensor_parallel": 1},
        "layers": [
            aceso_layer("embedding", "embedding", ["encoder-embedding"], column, output),
            *(block | {"name": f"block.{number}"} for number in range(ACESO_BLOCKS)),
            aceso_layer("head", "head", ["final-layernorm", "gpt-post-process"], column, 0),
        ],
    }


def profiles():
    for row in ZERO_BUBBLE_TIMES:
        yield f"zb-a100-{row[0].lower()}-m{row[1]}.json", zero_bubble(*row)
    large = bert_sizes(1024, round(Decimal("352.1") * MEBIBYTE), round(Decimal("64.1") * MEBIBYTE))
    yield "bert-large-p100.json", bert("bert-large", 24, "16.1004", "26.9529", "published", large, BERT_LARGE_NOTES)
    base = bert_sizes(768, 22 * 32 * 128 * 768 * 4, (12 * 768 * 768 + 13 * 768) * 4)
    yield "bert-base-p100.json", bert("bert-base", 12, "9.7481", "16.4502", "modelled", base, BERT_BASE_NOTES)
    for column, batch in enumerate(ACESO_BATCHES):
        yield f"gpt-1.3b-v100/b{batch}.json", aceso(column)


def main():
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    for name, profile in profiles():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(document(profile).encode())


if __name__ == "__main__":
    main()
