#!/usr/bin/env python3
"""Peaks of a training step by PyTorch's own allocator on one GPU: peaks.py FOLDER [--segments expandable].

A rank of 8 of FSDP2 with a LLaMA of a few blocks: collectives of a process group that sends nothing, every tensor of its
real size. `code` is blocks (separate q, k, v; kept as eager PyTorch keeps them) or transformers (its LlamaForCausalLM,
where it is installed). For every moment of the third step one row: bytes allocated at its end, most bytes allocated in it,
most bytes reserved so far. `held` is what the forward of one block in the middle leaves allocated. Rows go to
FOLDER/peaks-SEGMENTS.csv; what cannot be done is a row with its reason.
"""

import argparse
import collections
import csv
import gc
import os
import pathlib
import sys

COLUMNS = ["code", "recompute", "optimizer", "gradients", "passes", "after_forward", "segments", "layers", "hidden", "ffn",
           "heads", "vocabulary", "samples", "tokens", "ranks", "moment", "allocated", "peak", "reserved", "remark"]
HIDDEN, FFN, HEADS, KEYS, VOCABULARY, RANKS = 4096, 14336, 32, 8, 128256, 8

# code, recompute, optimizer, gradients, passes, after_forward, layers, samples, tokens
CASES = [
    ("blocks", "none", "fused", "none", 1, "free", 8, 1, 8192),
    ("blocks", "selective", "fused", "none", 1, "free", 8, 1, 8192),
    ("blocks", "full", "fused", "none", 1, "free", 8, 1, 8192),
    ("blocks", "full", "foreach", "none", 1, "free", 8, 1, 8192),
    ("blocks", "full", "fused", "zero", 1, "free", 8, 1, 8192),
    ("blocks", "full", "fused", "none", 4, "free", 8, 1, 8192),
    ("blocks", "full", "fused", "none", 1, "keep", 8, 1, 8192),
    ("blocks", "none", "fused", "none", 1, "free", 8, 4, 2048),
    ("blocks", "full", "fused", "none", 1, "free", 32, 1, 8192),
    ("transformers", "none", "fused", "none", 1, "free", 8, 1, 8192),
    ("transformers", "full", "fused", "none", 1, "free", 8, 1, 8192),
    ("transformers", "none", "foreach", "none", 1, "free", 8, 4, 2048),
]


def blocks_model(layers, recompute):
    import torch
    import torch.nn.functional as F
    from torch import nn
    from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts

    def selective():
        """Keeps attention and every second product."""
        aten = torch.ops.aten
        products = collections.Counter()
        attention = {aten._scaled_dot_product_flash_attention.default, aten._scaled_dot_product_cudnn_attention.default,
                     aten._scaled_dot_product_efficient_attention.default}

        def policy(context, op, *_, **__):
            products[context.is_recompute] += op is aten.mm.default
            kept = op in attention or (op is aten.mm.default and products[context.is_recompute] % 2 == 1)
            return CheckpointPolicy.MUST_SAVE if kept else CheckpointPolicy.PREFER_RECOMPUTE

        return create_selective_checkpoint_contexts(policy)

    def rotated(x, turn):
        return torch.view_as_real(torch.view_as_complex(x.float().unflatten(-1, (-1, 2))) * turn).flatten(-2).type_as(x)

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            size = HIDDEN // HEADS
            linear = lambda n, k: nn.Linear(k, n, bias=False)  # noqa: E731
            self.norm1, self.norm2 = nn.RMSNorm(HIDDEN), nn.RMSNorm(HIDDEN)
            self.wq, self.wk, self.wv = linear(HIDDEN, HIDDEN), linear(KEYS * size, HIDDEN), linear(KEYS * size, HIDDEN)
            self.wo, self.w1, self.w2, self.w3 = (linear(HIDDEN, HIDDEN), linear(FFN, HIDDEN), linear(HIDDEN, FFN),
                                                  linear(FFN, HIDDEN))

        def whole(self, x, turn):
            samples, tokens, _ = x.shape
            y = self.norm1(x)
            q, k, v = (product(y).view(samples, tokens, -1, HIDDEN // HEADS) for product in (self.wq, self.wk, self.wv))
            q, k = rotated(q, turn), rotated(k, turn)
            q, k, v = (part.transpose(1, 2) for part in (q, k, v))
            attended = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
            x = x + self.wo(attended.transpose(1, 2).reshape(samples, tokens, HIDDEN))
            y = self.norm2(x)
            return x + self.w2(F.silu(self.w1(y)) * self.w3(y))

        def forward(self, x, turn):
            if recompute == "full":
                return checkpoint(self.whole, x, turn, use_reentrant=False)
            if recompute == "selective":
                return checkpoint(self.whole, x, turn, use_reentrant=False, context_fn=selective)
            return self.whole(x, turn)

    class Llama(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(VOCABULARY, HIDDEN)
            self.blocks = nn.ModuleList(Block() for _ in range(layers))
            self.norm, self.head = nn.RMSNorm(HIDDEN), nn.Linear(HIDDEN, VOCABULARY, bias=False)

        def forward(self, ids):
            x = self.embedding(ids)
            angles = torch.outer(torch.arange(ids.shape[1], device="cuda"),
                                 500000.0 ** -(torch.arange(0, HIDDEN // HEADS, 2, device="cuda") / (HIDDEN // HEADS)))
            turn = torch.polar(torch.ones_like(angles), angles)[:, None]
            for block in self.blocks:
                x = block(x, turn)
            logits = self.head(self.norm(x))
            return F.cross_entropy(logits.flatten(0, 1).float(), ids.flatten())

    model = Llama()
    return model, model.blocks, "silu and RMSNorm of PyTorch; logits in 32 bits for the loss"


def transformers_model(layers, recompute):
    import transformers
    config = transformers.LlamaConfig(
        hidden_size=HIDDEN, intermediate_size=FFN, num_hidden_layers=layers, num_attention_heads=HEADS,
        num_key_value_heads=KEYS, vocab_size=VOCABULARY, max_position_embeddings=8192, use_cache=False,
        attn_implementation="sdpa")
    model = transformers.LlamaForCausalLM(config)
    model.train()
    if recompute == "full":
        model.gradient_checkpointing_enable({"use_reentrant": False})
    return model, model.model.layers, f"transformers {transformers.__version__}"


class Moments:
    """Rows of a step: moment, bytes allocated at its end, most in it, most reserved since `begin`."""

    def __init__(self):
        self.rows, self.reserved = [], 0

    def begin(self):
        self.rows = []
        self.end("before")

    def end(self, name):
        import torch
        torch.cuda.synchronize()
        self.reserved = max(self.reserved, torch.cuda.max_memory_reserved())
        self.rows.append((name, torch.cuda.memory_allocated(), torch.cuda.max_memory_allocated(), self.reserved))
        torch.cuda.reset_peak_memory_stats()


def run_case(case):
    """Rows: moment, allocated at its end, peak in it, most reserved so far; and a remark."""
    import torch
    from step_rows import fake_ranks
    from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
    code, recompute, optimizer_kind, gradients, passes, after_forward, layers, samples, tokens = case
    fake_ranks(RANKS)
    with torch.device("cuda"):
        model, blocks, remark = (blocks_model if code == "blocks" else transformers_model)(layers, recompute)
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    for block in blocks:
        fully_shard(block, mp_policy=policy, reshard_after_forward=after_forward == "free")
    fully_shard(model, mp_policy=policy, reshard_after_forward=False)
    loss_of = model if code == "blocks" else lambda ids: model(ids, labels=ids).loss
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, **{optimizer_kind: True})
    ids = torch.randint(0, VOCABULARY, (samples, tokens), device="cuda")
    held = []
    middle = blocks[len(blocks) // 2]
    middle.register_forward_pre_hook(lambda *_: held.append(torch.cuda.memory_allocated()), prepend=True)
    middle.register_forward_hook(lambda *_: held.append(torch.cuda.memory_allocated()), always_call=True)
    gc.collect()
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    moments = Moments()
    for _ in range(3):
        moments.begin()
        for number in range(passes):
            held.clear()
            loss = loss_of(ids)
            moments.end(f"forward {number + 1}")
            forward_held = held[1] - held[0]
            loss.backward()
            del loss
            moments.end(f"backward {number + 1}")
        optimizer.step()
        moments.end("optimizer")
        optimizer.zero_grad(set_to_none=gradients == "none")
        moments.end("zero_grad")
    return [*moments.rows, ("held", forward_held, "", "")], remark


def measure(folder, segments):
    import torch
    with open(folder / f"peaks-{segments}.csv", "w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(COLUMNS)
        failed = 0
        for case in CASES:
            head = [*case[:6], segments, case[6], HIDDEN, FFN, f"{HEADS}/{KEYS}", VOCABULARY, *case[7:], RANKS]
            try:
                rows, remark = run_case(case)
                for row in rows:
                    out.writerow([*head, *row, remark])
            except Exception as error:  # noqa: BLE001: a case that this PyTorch cannot do is a row, the others go on
                failed += 1
                out.writerow([*head, "none", "", "", "", f"{type(error).__name__}: {str(error)[:200]}".replace("\n", " ")])
            file.flush()
            gc.collect()
            torch.cuda.empty_cache()
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--segments", choices=["default", "expandable"], default="default")
    options = parser.parse_args()
    if options.segments == "expandable":
        os.environ["PYTORCH_ALLOC_CONF"] = os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True"
    import torch
    if not torch.cuda.is_available():
        print("error: PyTorch finds no GPU with CUDA\n  = help: run it on a machine with an NVIDIA GPU", file=sys.stderr)
        return 3
    options.folder.mkdir(parents=True, exist_ok=True)
    failed = measure(options.folder, options.segments)
    print(f"{len(CASES) - failed} cases measured, {failed} could not be; results in {options.folder}")
    return 0 if failed < len(CASES) else 1


if __name__ == "__main__":
    sys.exit(main())
