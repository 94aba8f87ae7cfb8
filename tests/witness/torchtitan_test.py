#!/usr/bin/env python3
"""torchtitan's own configurations, its cut of the layers, and what it refuses of pipelines."""
import contextlib
import copy
import dataclasses
import importlib
import inspect
import io
import itertools
import json
import logging
import re
import types

import door
import hollow
import pastes
from pytorch_test import V_SHAPED, stages_of

ABSENT = ("PIL", "datasets", "einops", "fla", "flash_attn", "google", "requests", "safetensors", "spmd_types", "tensorboard", "tokenizers",
          "torch.utils.tensorboard", "torch_checkpointing", "torchao", "torchdata", "torchvision", "wandb")
FAMILIES = ("llama3", "qwen3", "qwen3_5", "deepseek_v3", "gpt_oss", "kimi_k2_7", "muse_glimmer")


def configurations():
    """Those that torchtitan comes with: of each family, name and configuration."""
    for family in FAMILIES:
        registry = importlib.import_module(f"torchtitan.models.{family}.config_registry")
        for name, make in inspect.getmembers(registry, inspect.isfunction):
            if make.__module__ == registry.__name__ and not name.startswith("_") and not inspect.signature(make).parameters:
                try:
                    yield name, make()
                except (ImportError, ValueError) as error:  # needs a package that is hollow here
                    print(f"{name} is not made here: {error}")


def read(witness, name, config, world):
    return witness.imported("torchtitan", f"{name}.json", json.dumps(config.to_dict()), "--world-size", str(world), "--all-notes")


def compare_model(witness, name, config):
    import torch
    model = config.model_spec.model
    if any("vision" in field.name for field in dataclasses.fields(model)):
        return  # an encoder beside the decoder: not modelled
    degrees = config.parallelism
    world = max(1, degrees.tensor_parallel_degree * degrees.pipeline_parallel_degree * degrees.context_parallel_degree
                * max(1, degrees.data_parallel_replicate_degree), degrees.expert_parallel_degree)
    ours = read(witness, name, config, world)
    witness.check("configurations", f"{name} ({ours if not ours.starts else ''})", True, ours.starts)
    if not ours.starts:
        return
    witness.check("unread keys", name, [], re.findall('unknown key "([^"]*)"', ours.said))
    witness.check("blocks", name, len(model.layers), ours.size("layers"))
    witness.check("hidden", name, model.dim, ours.size("hidden"))
    witness.check("vocabulary", name, model.vocab_size, ours.size("vocabulary"))
    if degrees.tensor_parallel_degree * degrees.pipeline_parallel_degree * degrees.expert_parallel_degree == 1:
        try:
            with torch.device("meta"):
                held = sum(parameter.numel() for parameter in model.build().parameters())
        except (ImportError, TypeError):  # built of classes that are hollow here
            return
        witness.check("parameters", name, held, ours.weights()[0] // (2 if "bf" in ours.scenario["dtype"] else 4))


def compare_arguments(witness, name, config):
    """What a job is started with, beside what it saves: the converters to 8 bits stand in the first alone."""
    degrees = config.parallelism
    ranks = ("--world-size", str(8 * degrees.tensor_parallel_degree), "--all-notes")
    words = f"--module {config.model_spec.name} --config {name}"
    for more, change in (("", lambda _: None), (" --training.seq_len 1024", lambda one: setattr(one.training, "seq_len", 1024))):
        started = witness.imported("torchtitan", f"{name}.args", words + more + "\n", *ranks, hardware="b200")
        if "the configuration" in str(started):
            return  # has no row
        changed = copy.copy(config)
        changed.training = copy.copy(config.training)
        change(changed)
        saved = witness.imported("torchtitan", f"{name}.json", json.dumps(changed.to_dict()), *ranks, hardware="b200")
        witness.check("arguments", f"{name}{more} ({started if not started.starts else ''})", True, started.starts and saved.starts)
        if not (started.starts and saved.starts):
            return
        scenarios = [{key: value for key, value in one.scenario.items() if key not in ("dtype", "fp8-recipe", "model-size")}
                     for one in (started, saved)]
        witness.check("arguments", f"{name}{more}", scenarios[1], scenarios[0])
        if started.scenario["dtype"] == saved.scenario["dtype"]:
            witness.check("arguments", f"{name}{more}, step", saved.report["makespan_ns"], started.report["makespan_ns"])


def compare_refusals(witness, name, config):
    """What a model refuses of the job, before it is built: of its saved JSON, and of its list where that says more."""
    from torchtitan.distributed.full_dtensor import validate_config

    def takes(job):
        model = job.model_spec.model
        mesh = types.SimpleNamespace(cp_enabled=job.parallelism.context_parallel_degree > 1, spmd_backend=job.parallelism.spmd_backend)
        try:
            job.__post_init__()
            model.update_from_config(config=job)
            attention = model.layers[0].attention.inner_attention.build()
            validate_config(mesh, types.SimpleNamespace(modules=lambda: [attention]))
        except (ValueError, NotImplementedError):
            return False
        return True

    def checked(case, truth, *read):
        ours = witness.imported("torchtitan", *read, "--world-size", "4")
        witness.check("refusals", f"{case} ({ours if not ours.starts else ''})", truth, ours.starts)

    for cp, p, sequence in itertools.product((1, 2), (1, 2), (4096, 16384, 40960, 131072, 262144)):
        job = copy.deepcopy(config)
        job.training.seq_len, job.training.local_batch_size, job.training.disable_cuda_graphs = sequence, 8, True
        job.parallelism.context_parallel_degree, job.parallelism.pipeline_parallel_degree = cp, p
        job.parallelism.tensor_parallel_degree = job.parallelism.expert_parallel_degree = 1
        case = f"{name}, cp {cp}, pp {p}"
        if not witness.wanted(case):
            continue
        saved, truth = json.dumps(job.to_dict()), takes(job)  # which changes the job
        if p == 2 or sequence in (4096, 262144):
            checked(f"{case}, sequence {sequence}, saved", truth, "saved.json", saved)
        if p == 1 and not name.endswith("_mtp"):
            checked(f"{case}, sequence {sequence}, started", truth, "started.args", f"--module {config.model_spec.name} --config {name} --training.seq_len "
                    f"{sequence} --training.disable_cuda_graphs --parallelism.context_parallel_degree {cp} "
                    f"--parallelism.tensor_parallel_degree 1 --parallelism.expert_parallel_degree 1\n")


def cut_of(package, config, dims):
    """Blocks of each stage and the microbatches, from torchtitan's functions; None where one refuses."""
    p = dims.pp
    try:
        stages, layers, first, last = package._get_pipeline_metadata(dims, config.parallelism, config.model_spec.model)
        parts = config.parallelism.module_fqns_per_model_part or package._generate_llm_fqn_per_model_part(stages, layers, first, last)
        v_shaped = config.parallelism.pipeline_parallel_schedule in V_SHAPED
        made = package._build_pipeline_schedule(parallelism=config.parallelism, local_batch_size=config.training.local_batch_size,
                                                stages=stages_of(0, p, len(parts) // p, v_shaped), loss_fn=lambda *_: None)
    except (ValueError, AssertionError):
        return None
    return [sum(name.startswith("layers.") for name in part) for part in parts], made._n_microbatches


def compare_cut(witness, package, config, blocks, p, schedule, first, last, layers_per_stage, batch, more):
    config = copy.copy(config)
    config.parallelism, config.training, config.model_spec = map(copy.copy, (config.parallelism, config.training, config.model_spec))
    config.model_spec.model = copy.copy(config.model_spec.model)
    config.model_spec.model.layers = config.model_spec.model.layers[:blocks]
    config.training.local_batch_size, config.training.disable_cuda_graphs = batch, True  # these and pipelines exclude each other
    asked = config.parallelism
    asked.pipeline_parallel_degree, asked.pipeline_parallel_schedule = p, schedule
    asked.pipeline_parallel_first_stage_less_layers, asked.pipeline_parallel_last_stage_less_layers = first, last
    asked.pipeline_parallel_layers_per_stage = layers_per_stage
    for key, value in more.items():
        setattr(asked, key, value)
    case = f"{blocks} blocks, pp {p}, {schedule}, less {first} and {last}, {layers_per_stage} per stage, batch {batch}{more or ''}"
    if not witness.wanted(case):
        return
    truth, ours = cut_of(package, config, types.SimpleNamespace(pp=p)), read(witness, "cut", config, p)
    witness.check("starts", f"{case} ({ours if not ours.starts else ''})", truth is not None, ours.starts)
    if truth is None or not ours.starts:
        return
    blocks_of = ours.layers()
    blocks_of[0] -= 1
    blocks_of[-1] -= 1
    witness.check("cut", case, truth[0], blocks_of)
    witness.check("microbatches", case, truth[1], ours.report["schedule"]["microbatches"])


def runs(witness, package, config):
    """Runs as plan and export see them, and torchtitan's own choice of stages, schedule and mesh."""
    ours_of = {"1F1B": "1f1b", "GPipe": "gpipe", "Interleaved1F1B": "interleaved", "LoopedBFS": "breadth-first",
               "InterleavedZeroBubble": "interleaved-zb", "ZBVZeroBubble": "zb-v", "DualPipeV": "dualpipe-v"}
    own = {"GPipe": ("--param", "backward=ascending"), "Interleaved1F1B": ("--param", "rounding=pytorch")}
    for name, p, m in itertools.product(ours_of, (2, 4), (1, 2, 3, 4, 6, 8, 9, 12)):
        case = f"runs {name}, pp {p}, m {m}"
        if not witness.wanted(case):
            continue
        flags = ("--schedule", ours_of[name], "-p", str(p), "-m", str(m), *own.get(name, ()))
        if witness.order(*flags) is None:
            continue  # no order at all
        asked = copy.copy(config)
        asked.parallelism, asked.training = copy.copy(config.parallelism), copy.copy(config.training)
        asked.training.local_batch_size = m
        asked.parallelism.pipeline_parallel_degree, asked.parallelism.pipeline_parallel_schedule = p, name
        truth = cut_of(package, asked, types.SimpleNamespace(pp=p)) is not None
        witness.check("runs", case, truth, witness.exports("torchtitan", "--model", "llama3-8b", "--hardware", "h100", *flags))


def graphs_of_experts(witness, why):
    """CUDA graphs beside expert ranks, whose exchange waits for the host unless its dispatcher says otherwise."""
    for experts in (1, 4):
        case = f"runs with CUDA graphs, ep {experts}"
        if witness.wanted(case):
            words = ["--module", "deepseek_v3", "--config", "deepseek_v3_16b", "--training.no-disable_cuda_graphs",
                     "--parallelism.expert_parallel_degree", str(experts), "--parallelism.data_parallel_shard_degree", "4"]
            flags = ("--model", "mixtral-8x7b", "--hardware", "h100", "-p", "1", "-m", "4", "--dp", "4", "--ep", str(experts), "--zero", "3")
            witness.check("runs", case, why(words, 4, {}) is None, witness.exports("torchtitan", *flags, "--cuda-graphs", "on"))


def accepts(package):
    """What refuses a paste: torchtitan's parser, its configuration, its mesh, its cut, or PyTorch's schedule."""
    from torchtitan.config.manager import ConfigManager
    from torchtitan.distributed import ParallelDims

    def why(words, ranks, environment):
        known = "--config" in words  # else it is the person's own; of these the model is not compared
        said = io.StringIO()
        try:
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                config = ConfigManager().parse_args(words if known else ["--module", "llama3", "--config", "llama3_8b", *words])
            of = config.parallelism
            ParallelDims(dp_replicate=of.data_parallel_replicate_degree, dp_shard=of.data_parallel_shard_degree,
                         cp=of.context_parallel_degree, tp=of.tensor_parallel_degree, pp=of.pipeline_parallel_degree,
                         ep=of.expert_parallel_degree, world_size=ranks)
        except (SystemExit, Exception) as error:  # whatever stops the job
            return f"{error} {said.getvalue()}"[:300]
        if known and of.pipeline_parallel_degree > 1 and cut_of(package, config, types.SimpleNamespace(pp=of.pipeline_parallel_degree)) is None:
            return "the pipeline"
        return None
    return why


def main():
    witness = door.Door("torchtitan 0.3.0")
    hollow.prepare(witness.frameworks, *ABSENT)
    import torch
    from torchtitan.distributed import pipeline_parallel as package
    logging.disable(logging.WARNING)
    real = torch.cuda.is_available
    torch.cuda.is_available = lambda: True
    torch.cuda.get_device_capability = lambda *_: (10, 0)  # configurations for Blackwell ask
    torch.cuda.current_device = lambda: 0
    torch.cuda.get_device_name = lambda *_: "NVIDIA B200"
    every = dict(configurations())
    torch.cuda.is_available = real
    for name, config in every.items():
        if witness.wanted(name):
            compare_model(witness, name, config)
            compare_arguments(witness, name, config)
    pastes.compare(witness, "torchtitan", accepts(package), lambda run, paste: () if "\n--config " in paste else ("--model", run.split()[1]), 3, (
        f"{pastes.DENSE} -p 1 -m 4 --dp 2 --zero 3 --master-weights none --moment-dtype bf16",
        "--model llama3-405b --hardware h100 --tp 8 --sequence-parallel -p 4 -m 8 --dp 2 --zero 3"))
    graphs_of_experts(witness, accepts(package))
    for name in ("llama3_8b", "qwen3_debugmodel", "qwen3_14b", "deepseek_v3_debugmodel_mtp", "deepseek_v3_16b", "gpt_oss_20b"):
        compare_refusals(witness, name, every[name])
    base = every["llama3_8b"]
    singles, several = ("1F1B", "GPipe"), ("Interleaved1F1B", "LoopedBFS", "InterleavedZeroBubble", "ZBVZeroBubble", "DualPipeV")
    for blocks, p, schedule, (first, last) in itertools.product(
            (8, 15, 31, 32), (2, 4), singles[:1] + several[:1] + several[3:4], ((1, 1), (0, 0), (2, 3))):
        for layers_per_stage in (None, 2, 5, 9):
            compare_cut(witness, package, base, blocks, p, schedule, first, last, layers_per_stage, 8, {})
    for schedule, p, batch, size in itertools.product(singles + several, (2, 4), (1, 2, 4, 6, 8, 10), (1, 2)):
        compare_cut(witness, package, base, 32, p, schedule, 1, 1, None, batch, {"pipeline_parallel_microbatch_size": size})
    names = [["tok_embeddings", "layers.0"], ["layers.1", "layers.2", "layers.3"], ["layers.4"], ["layers.5", "layers.6", "layers.7", "norm", "lm_head"]]
    for p, schedule in ((4, "1F1B"), (2, "Interleaved1F1B"), (4, "GPipe")):
        compare_cut(witness, package, base, 8, p, schedule, 1, 1, None, 8, {"module_fqns_per_model_part": names})
    runs(witness, package, base)
    witness.finish()


if __name__ == "__main__":
    main()
