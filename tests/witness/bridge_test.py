#!/usr/bin/env python3
"""Megatron-Bridge's recipes: the cut, chunks and batches that the core makes of each, and what import makes of the run
configuration that such a job saves. Sizes that a recipe asks a hub for are of this table."""
import dataclasses
import enum
import importlib
import importlib.machinery
import json
import logging
import math
import os
import re
import types

import door
import hollow

KNOWN = ("starts: .*(ncclep|deepep)",)  # DeepEP over more than 8 ranks, which simulate refuses
FAMILIES = ("llama", "deepseek", "qwen", "gpt_oss", "kimi")
EVERY = 6  # of the recipes, in their order
BARE = ("megatron.bridge", "megatron.bridge.training", "megatron.bridge.recipes", "megatron.bridge.utils", "megatron.bridge.data")
HOLLOW = tuple("megatron.bridge." + name for name in (
    "models", "peft", "diffusion", "inference", "training.tokenizers", "data.builders", "data.sources", "data.datasets", "data.energon",
    "data.collators", "data.packing", "data.megatron_mimo", "data.conversation_processing", "data.vlm_processing"))
DENSE = {"normalization": "RMSNorm", "gated_linear_unit": True, "add_bias_linear": False, "share_embeddings_and_output_weights": False,
         "position_embedding_type": "rope", "hidden_dropout": 0.0, "attention_dropout": 0.0}


def sizes(layers, hidden, heads, groups, width, vocabulary, **more):
    return {**DENSE, "num_layers": layers, "hidden_size": hidden, "num_attention_heads": heads, "num_query_groups": groups,
            "ffn_hidden_size": width, "vocab_size": vocabulary, "kv_channels": 128, **more}


def experts(count, chosen, width, **more):
    return {"num_moe_experts": count, "moe_router_topk": chosen, "moe_ffn_hidden_size": width, **more}


LATENT = {"multi_latent_attention": True, "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_head_dim": 128, "qk_pos_emb_head_dim": 64,
          "v_head_dim": 128}
SIZES = (  # by a pattern of the hub's name
    ("405B", sizes(126, 16384, 128, 8, 53248, 128256)),
    ("70B", sizes(80, 8192, 64, 8, 28672, 128256)),
    ("lama", sizes(32, 4096, 32, 8, 14336, 128256)),
    ("DeepSeek-V3", sizes(61, 7168, 128, 128, 18432, 129280, mtp_num_layers=1, moe_layer_freq=[0] * 3 + [1] * 58, **LATENT,
                          **experts(256, 8, 2048, moe_shared_expert_intermediate_size=2048))),
    ("Kimi", sizes(61, 7168, 64, 64, 18432, 163840, moe_layer_freq=[0] + [1] * 60, **LATENT,
                   **experts(384, 8, 2048, moe_shared_expert_intermediate_size=2048))),
    ("30B-A3B", sizes(48, 2048, 32, 4, 6144, 151936, **experts(128, 8, 768))),
    ("235B-A22B", sizes(94, 4096, 64, 4, 12288, 151936, **experts(128, 8, 1536))),
    ("gpt-oss-120b", sizes(36, 2880, 64, 8, 2880, 201088, **experts(128, 4, 2880))),
    ("gpt-oss-20b", sizes(24, 2880, 64, 8, 2880, 201088, **experts(32, 4, 2880))),
)


class Model:
    """A model provider: the core's defaults, the sizes above, and what the recipe sets."""

    def __init__(self, name):
        from megatron.core.transformer.transformer_config import TransformerConfig
        for field in dataclasses.fields(TransformerConfig):
            made = field.default_factory
            vars(self)[field.name] = field.default if made is dataclasses.MISSING else made()
        known = [table for part, table in SIZES if part in name]
        if not known:
            raise LookupError(name)
        vars(self).update(known[0])

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return None


class AutoBridge:
    def __init__(self, name):
        self.name = str(name)

    @classmethod
    def from_hf_pretrained(cls, name, *_, **__):
        return cls(name)

    from_hf_config = from_hf_pretrained

    def to_megatron_provider(self, *_, **__):
        return Model(self.name)


class Bare(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Packages whose own first lines import half of the world: their files are there, these lines are not run."""

    def __init__(self, folder):
        self.folder = folder

    def find_spec(self, name, path=None, target=None):
        if name not in BARE:
            return None
        spec = importlib.machinery.ModuleSpec(name, self, is_package=True)
        spec.submodule_search_locations = [os.path.join(self.folder, *name.split("."))]
        return spec

    def create_module(self, spec):
        return types.ModuleType(spec.name)

    def exec_module(self, module):
        if module.__name__ == BARE[0]:
            module.AutoBridge = AutoBridge


def plain(value):
    """As the run configuration has it: objects with their class, words and numbers; nothing else of a machine's."""
    if isinstance(value, enum.Enum):
        return value.name
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {"_target_": f"{type(value).__module__}.{type(value).__qualname__}",
                **{field.name: plain(getattr(value, field.name, None)) for field in dataclasses.fields(value)}}
    text = str(value)
    return text if text.startswith("torch.") and " " not in text else None


def recipes(folder):
    """Name and configuration of each recipe of pretraining."""
    for family in FAMILIES:
        base = os.path.join(folder, "megatron/bridge/perf_recipes", family)
        for kind in sorted(name for name in os.listdir(base) if os.path.isdir(os.path.join(base, name))):
            for file in sorted(name[:-3] for name in os.listdir(os.path.join(base, kind)) if name.endswith(".py")):
                path = f"megatron.bridge.perf_recipes.{family}.{kind}.{file}"
                module = importlib.import_module(path)
                for name, function in sorted(vars(module).items()):
                    if "pretrain" in name and name.endswith("_config") and not name.startswith("_") and function.__module__ == path:
                        yield name, function


def truth_of(package, recipe):
    """The cut, predictors with the head, from the core's own configuration of the model."""
    model = vars(recipe.model)
    fields = {field.name: model[field.name] for field in dataclasses.fields(package.TransformerConfig) if field.name in model}
    layout = fields.get("pipeline_model_parallel_layout")
    if isinstance(layout, (list, tuple)):
        fields["virtual_pipeline_model_parallel_size"] = len(layout) // fields["pipeline_model_parallel_size"]
    # Formats come of another section when a job starts.
    fields = {key: value for key, value in fields.items() if not isinstance(value, hollow.Nothing) and not key.startswith(("fp8", "fp4"))}
    config = package.TransformerConfig(**fields)
    # Its pipeline alone: other groups do not change the cut.
    args = types.SimpleNamespace(tensor_model_parallel_size=1, context_parallel_size=1, expert_model_parallel_size=1,
                                 expert_tensor_parallel_size=1, world_size=config.pipeline_model_parallel_size,
                                 pipeline_model_parallel_size=config.pipeline_model_parallel_size,
                                 virtual_pipeline_model_parallel_size=config.virtual_pipeline_model_parallel_size)
    package.groups(args, 0)
    cut = package.cut_of(args, config)
    cut[-1] += config.mtp_num_layers or 0
    return cut


def saved(name, recipe):
    """The run configuration, and the ranks that it is for."""
    model, number = recipe.model, re.search(r"_(\d+)gpu", name)
    document = {"_target_": "megatron.bridge.training.config.ConfigContainer",
                "model": {key: plain(value) for key, value in vars(model).items()},
                "dataset": {"seq_length": plain(recipe.dataset.seq_length)}}
    for section in ("train", "ddp", "optimizer", "comm_overlap", "mixed_precision"):
        document[section] = plain(getattr(recipe, section))
    least = model.pipeline_model_parallel_size * math.lcm(model_ranks(model) // model.pipeline_model_parallel_size, max(1, model.expert_model_parallel_size))
    world = int(number.group(1)) if number else least
    return json.dumps(document), world if world % least == 0 else least  # a few names are of machines too small for them


def model_ranks(model):
    return model.tensor_model_parallel_size * model.pipeline_model_parallel_size * model.context_parallel_size


def compare(witness, package, name, recipe, world, ours):
    model = recipe.model
    witness.check("starts", f"{name} ({ours if not ours.starts else ''})", True, ours.starts)
    if not ours.starts:
        return
    schedule, dp = ours.report["schedule"], world // model_ranks(model)
    witness.check("ranks", name, [model.tensor_model_parallel_size, model.pipeline_model_parallel_size, dp, max(1, model.expert_model_parallel_size)],
                  [ours.scenario.get("tp", 1), schedule["devices"], ours.scenario.get("dp", 1), ours.scenario.get("ep", 1)])
    witness.check("microbatches", name, recipe.train.global_batch_size // recipe.train.micro_batch_size // dp, schedule["microbatches"])
    witness.check("sequence", name, recipe.dataset.seq_length, ours.scenario["sequence"])
    padded = package.padded(model.vocab_size, 128, model.tensor_model_parallel_size, False) if model.should_pad_vocab else model.vocab_size
    witness.check("vocabulary", name, padded, ours.size("vocabulary"))
    if model.pipeline_model_parallel_size > 1:
        witness.check("cut", name, truth_of(package, recipe), ours.layers())


def main():
    witness = door.Door("Megatron-Bridge 0.6.2", KNOWN)
    hollow.prepare(witness.frameworks, *HOLLOW, "transformers", "tensorboard", "torch.utils.tensorboard", "datasets", "huggingface_hub", "omegaconf", "wandb", "tqdm", "rich",
                   "nvidia_resiliency_ext", "modelopt", "requests", "typer")
    import sys
    sys.meta_path.insert(0, Bare(witness.frameworks))
    import megatron_package as package
    from megatron.core.transformer.transformer_config import TransformerConfig
    from megatron.training.vocab_utils import calculate_padded_vocab_size
    package.TransformerConfig, package.padded = TransformerConfig, calculate_padded_vocab_size
    logging.disable(logging.WARNING)
    every = [case for number, case in enumerate(recipes(witness.frameworks)) if number % EVERY == 0 or witness.only]
    made = []
    for name, function in every:
        try:
            if witness.wanted(name):
                made.append((name, function()))
        except LookupError:  # a model that is not in the table
            pass
    files = [(name, *saved(name, recipe)) for name, recipe in made]
    taken = witness.of_all(lambda file: witness.imported("nemo", f"{file[0]}.yaml", file[1], "--world-size", str(file[2]), hardware="b200"), files)  # JSON is YAML
    for (name, recipe), (_, _, world), ours in zip(made, files, taken):
        compare(witness, package, name, recipe, world, ours)
    witness.finish()


if __name__ == "__main__":
    main()
