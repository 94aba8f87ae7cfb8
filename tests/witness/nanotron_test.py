#!/usr/bin/env python3
"""Nanotron's cut of the blocks, by its own build_model over its own model."""
import itertools
import json
import logging
import types

import door
import hollow

KNOWN = ()
ABSENT = ("boto3", "dacite", "datasets", "datatrove", "flash_attn", "huggingface_hub", "lighteval", "psutil", "s5cmd", "safetensors",
          "tqdm", "transformers", "nanotron.logging")  # the last: it and nanotron.config import each other


def groups(p):
    def one(size):
        return types.SimpleNamespace(size=lambda: size, rank=lambda: 0)
    return types.SimpleNamespace(pp_pg=one(p), tp_pg=one(1), dp_pg=one(1), world_pg=one(p), expert_pg=one(1))


def cut_of(base, llama, model, p):
    """Blocks of each rank, with the embedding and the head; None where not all ranks get one, which Nanotron takes no care of."""
    cut = [0] * p

    def place(block, rank):
        cut[rank] += block.module_builder.__name__ in ("Embedding", "LlamaDecoderLayer", "TensorParallelColumnLinear")

    llama.PipelineBlock.build_and_set_rank = place
    base.build_model(lambda: llama.LlamaForTraining(model, groups(p), None, None), groups(p), llama.torch.bfloat16,
                     device=llama.torch.device("meta"))
    return cut


def main():
    witness = door.Door("nanotron 0.4", KNOWN)
    hollow.prepare(witness.frameworks, *ABSENT)
    import nanotron.config
    from nanotron.models import base, llama
    llama.P2P = lambda *_, **__: None
    logging.disable(logging.WARNING)
    for blocks, (hidden, forward, heads), vocabulary, p in itertools.product(
            (8, 10, 16, 24, 30, 31, 32, 48), ((1024, 4096, 16), (2048, 8192, 32), (4096, 11008, 32), (4096, 14336, 32)),
            (8192, 32000, 49152, 128256), (1, 2, 3, 4, 8)):
        sizes = {"num_hidden_layers": blocks, "hidden_size": hidden, "intermediate_size": forward, "num_attention_heads": heads,
                 "num_key_value_heads": heads // 2, "vocab_size": vocabulary, "max_position_embeddings": 2048}
        case = f"{sizes}, pp {p}"
        truth = cut_of(base, llama, nanotron.config.LlamaConfig(**sizes), p)
        if 0 in truth or not witness.wanted(case):
            continue
        file = {"parallelism": {"dp": 1, "pp": p, "tp": 1, "pp_engine": "1f1b"}, "model": {"model_config": sizes},
                "tokens": {"micro_batch_size": 1, "batch_accumulation_per_replica": 8, "sequence_length": 2048}}
        ours = witness.imported("nanotron", "nanotron.yaml", json.dumps(file))
        witness.check("starts", f"{case} ({ours if not ours.starts else ''})", True, ours.starts)
        if ours.starts:
            witness.check("cut", case, truth, ours.layers() if p > 1 else [sum(truth)])
    witness.finish()


if __name__ == "__main__":
    main()
