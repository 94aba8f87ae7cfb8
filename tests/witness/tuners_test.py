#!/usr/bin/env python3
"""ms-swift, verl and LLaMA-Factory: names, defaults and sizes of batches as their own files have them, and what import makes
of commands and files for them. Their sources are read, not run: they are of GPUs and a network."""
import ast
import copy
import itertools
import os
import re

import door
import yaml

KNOWN = ()
SWIFT = "swift/megatron/arguments/megatron_args.py"
VERL = "verl/trainer/config/_generated_ppo_megatron_trainer.yaml"


def fields(path, *names):
    """Names of a module's dataclasses with their defaults, where these are plain; a list's is empty."""
    found = {}
    with open(path) as file:
        tree = ast.parse(file.read())
    for part in tree.body:
        if isinstance(part, ast.ClassDef) and part.name in names:
            for line in part.body:
                if isinstance(line, ast.AnnAssign):
                    value = line.value
                    if isinstance(value, ast.Call):  # field(default=...)
                        value = next((word.value for word in value.keywords if word.arg == "default"), ast.Constant(None))
                    try:
                        found[line.target.id] = ast.literal_eval(value)
                    except ValueError:
                        found[line.target.id] = None
    return found


def command(options):
    return "NPROC_PER_NODE=16 megatron sft --model some/model " + " ".join(f"--{key} {str(value).lower()}" for key, value in options.items()) + "\n"


def swift_names(witness, defaults):
    """Each name at its default: none is unknown."""
    needed = {"max_length": 2048}
    given = {key: value for key, value in defaults.items() if value not in (None, [], "") and key not in ("rlhf_type", "model")}
    ours = witness.imported("megatron", "names.sh", command({**given, **needed}), "--model", "llama3-8b")
    witness.check("names", f"ms-swift's {len(given)} ({ours if not ours.starts else ''})", True, ours.starts)
    for key in given:
        unknown = ours.starts and re.search(rf"--{key.replace('_', '-')}[ :][^\n]*not known", ours.said) is not None
        witness.check("names", key, False, unknown)


def swift_steps(witness, defaults):
    grid = itertools.product(({}, {"tensor_model_parallel_size": 2, "sequence_parallel": True}),
                             ({}, {"pipeline_model_parallel_size": 2}, {"pipeline_model_parallel_size": 4, "virtual_pipeline_model_parallel_size": 2}),
                             ({}, {"micro_batch_size": 2, "global_batch_size": 64}, {"expert_model_parallel_size": 2}),
                             ({}, {"recompute_granularity": "full", "recompute_method": "uniform", "recompute_num_layers": 1},
                              {"recompute_granularity": "none", "use_distributed_optimizer": False}),
                             ("llama3-8b", "mixtral-8x7b"))
    for *parts, model in grid:
        given = {key: value for part in parts for key, value in part.items()}
        case = f"{model}: {given}"
        value = {**defaults, **given}
        experts = model.startswith("mixtral")
        if "expert_model_parallel_size" in given and not experts or not witness.wanted(case):
            continue
        ours = witness.imported("megatron", "swift.sh", command({**given, "max_length": 4096}), "--model", model)
        witness.check("starts", f"{case} ({ours if not ours.starts else ''})", True, ours.starts)
        if not ours.starts:
            continue
        tensor, pipeline = value["tensor_model_parallel_size"], value["pipeline_model_parallel_size"]
        dp = 16 // (tensor * pipeline * value["context_parallel_size"])
        scenario = ours.scenario
        witness.check("microbatches", case, value["global_batch_size"] // (value["micro_batch_size"] * dp), scenario["microbatches"])
        witness.check("stages per rank", case, value["virtual_pipeline_model_parallel_size"] or 1, scenario.get("chunks", 1))
        witness.check("recomputation", case, value["recompute_granularity"], scenario.get("recompute", "none"))
        witness.check("sharding", case, value["use_distributed_optimizer"] and dp > 1, scenario.get("zero", 0) == 1)
        witness.check("loss", case, value["cross_entropy_loss_fusion"], scenario.get("loss") == "fused")
        if experts:
            witness.check("tensor ranks of an expert", case, value["expert_tensor_parallel_size"], scenario.get("etp", tensor))
        if experts and value["expert_model_parallel_size"] > 1:
            witness.check("dispatcher", case, value["moe_token_dispatcher_type"], scenario.get("moe-dispatch", "alltoall"))


def put(config, path, value):
    *sections, last = path.split(".")
    for section in sections:
        config = config.setdefault(section, {})
    config[last] = value


def verl_steps(witness, base):
    """Its whole configuration with changes, as a file and as a command's words."""
    engine, actor = "actor_rollout_ref.actor.megatron.", "actor_rollout_ref.actor."
    grid = itertools.product(({}, {engine + "tensor_model_parallel_size": 2, engine + "pipeline_model_parallel_size": 2}),
                             ({}, {"actor_rollout_ref.rollout.n": 8, actor + "ppo_mini_batch_size": 64}),
                             ({actor + "ppo_micro_batch_size_per_gpu": 2}, {actor + "use_dynamic_bsz": True, actor + "ppo_max_token_len_per_gpu": 4096}),
                             ({}, {"data.max_prompt_length": 1024, "data.max_response_length": 1024}),
                             ({}, {engine + "override_transformer_config.recompute_granularity": "full",
                                   engine + "override_transformer_config.recompute_method": "uniform",
                                   engine + "override_transformer_config.recompute_num_layers": 1}))
    for parts in grid:
        given = {key: value for part in parts for key, value in part.items()}
        case = f"verl: {given}"
        if not witness.wanted(case):
            continue
        config = copy.deepcopy(base)
        for path, value in given.items():
            put(config, path, value)
        ours = witness.imported("nemo", "verl.yaml", yaml.safe_dump(config), "--model", "llama3-8b")
        words = " ".join(f"{key}={value}" for key, value in given.items())
        again = witness.imported("megatron", "verl.sh", f"python3 -m verl.trainer.main_ppo --config-name ppo_megatron_trainer {words}\n", "--model", "llama3-8b")
        witness.check("starts", f"{case} ({ours if not ours.starts else ''})", True, ours.starts and again.starts)
        if not ours.starts or not again.starts:
            continue
        part, parallel = config["actor_rollout_ref"], config["actor_rollout_ref"]["actor"]["megatron"]
        world = config["trainer"]["nnodes"] * config["trainer"]["n_gpus_per_node"]
        dp = world // (parallel["tensor_model_parallel_size"] * parallel["pipeline_model_parallel_size"] * parallel["context_parallel_size"])
        length = config["data"]["max_prompt_length"] + config["data"]["max_response_length"]
        samples = part["actor"]["ppo_mini_batch_size"] * part["rollout"]["n"] // dp
        micro = part["actor"]["ppo_micro_batch_size_per_gpu"]
        if part["actor"]["use_dynamic_bsz"]:
            micro = part["actor"]["ppo_max_token_len_per_gpu"] // length
        granularity = parallel["override_transformer_config"]["recompute_granularity"]
        for form, read in (("file", ours.scenario), ("command", again.scenario)):
            witness.check("sequence", f"{case}, {form}", length, read["sequence"])
            witness.check("microbatches", f"{case}, {form}", samples // micro, read["microbatches"])
            witness.check("recomputation", f"{case}, {form}", granularity or "none", read.get("recompute", "none"))
            witness.check("sharding", f"{case}, {form}", parallel["use_distributed_optimizer"] and dp > 1, read.get("zero", 0) == 1)
            witness.check("sequence parallel", f"{case}, {form}", parallel["sequence_parallel"] and parallel["tensor_model_parallel_size"] > 1,
                          read.get("sequence-parallel", False))


def factory_defaults(witness, folder):
    data = fields(os.path.join(folder, "data_args.py"), "DataArguments")
    tuning = fields(os.path.join(folder, "finetuning_args.py"), "FinetuningArguments")
    lines = "model_name_or_path: meta-llama/Meta-Llama-3-8B\nper_device_train_batch_size: 1\nbf16: true\n"
    full = witness.imported("nemo", "factory.yaml", lines + "finetuning_type: full\n", "--world-size", "8")
    witness.check("starts", f"LLaMA-Factory ({full if not full.starts else ''})", True, full.starts)
    if full.starts:
        witness.check("sequence", "LLaMA-Factory", data["cutoff_len"], full.scenario["sequence"])
    bare = witness.imported("nemo", "factory.yaml", lines, "--world-size", "8")
    witness.check("starts", "LLaMA-Factory's own kind of tuning", tuning["finetuning_type"] == "full", bare.starts)


def main():
    witness = door.Door("ms-swift 4.6.0, verl 0.9.1, LLaMA-Factory 0.9.5", KNOWN)
    defaults = fields(os.path.join(witness.frameworks, SWIFT), "MegatronTunerMixin", "MegatronArguments")
    if witness.wanted("names"):
        swift_names(witness, defaults)
    swift_steps(witness, defaults)
    with open(os.path.join(witness.frameworks, VERL)) as file:
        verl_steps(witness, yaml.safe_load(file))
    factory_defaults(witness, os.path.join(witness.frameworks, "llamafactory/hparams"))
    witness.finish()


if __name__ == "__main__":
    main()
