#!/usr/bin/env python3
"""DeepSpeed's order, its cut of the layers, and what it accepts of a configuration."""
import itertools
import json
import logging
import types
import zlib

import door
import hollow
import pastes

KNOWN = ()


def order_of(schedule, p, m):
    """TrainSchedule's ops of each stage: buffers are those of the microbatches in flight."""
    rows = []
    for stage in range(p):
        ops, counts = [], {"F": 0, "B": 0}
        for step in schedule.TrainSchedule(micro_batches=m, stages=p, stage_id=stage):
            for instruction in step:
                kind = {"ForwardPass": "F", "BackwardPass": "B"}.get(instruction.name)
                if kind:
                    ops.append(f"{stage}{kind}{counts[kind]}")
                    counts[kind] += 1
        rows.append(ops)
    return rows


def dualpipev_order(schedule, p, m):
    """DualPipeVSchedule's ops of each rank, which holds a stage of each phase."""
    kinds = {"ForwardPass": "F", "BackwardPass": "B"}
    return [[f"{rank if instruction.phase == 0 else 2 * p - 1 - rank}{kinds[instruction.name]}{instruction.buffer_id % m}"
             for step in schedule.DualPipeVSchedule(micro_batches=m, stages=p, stage_id=rank) for instruction in step
             if instruction.name in kinds] for rank in range(p)]


def step_time(schedule, p, m, forward, backward, message):
    """TrainSchedule's instructions on a virtual clock: a send and its receive meet, and hold both stages for a while."""
    send = {"SendActivation": 1, "SendGrad": -1}
    receive = {"RecvActivation": -1, "RecvGrad": 1}
    rows = [[instruction.name for step in schedule.TrainSchedule(micro_batches=m, stages=p, stage_id=stage) for instruction in step]
            for stage in range(p)]
    rows = [[name for name in row if name in send or name in receive or name.endswith("Pass")] for row in rows]
    clock, place, moved = [0] * p, [0] * p, True
    while moved:
        moved = False
        for stage, row in enumerate(rows):
            while place[stage] < len(row):
                name = row[place[stage]]
                if name.endswith("Pass"):
                    clock[stage] += forward if name == "ForwardPass" else backward
                else:
                    other = stage + (send | receive)[name]
                    at_other = rows[other][place[other]] if place[other] < len(rows[other]) else ""
                    if at_other != (name.replace("Send", "Recv") if name in send else name.replace("Recv", "Send")):
                        break
                    clock[stage] = clock[other] = max(clock[stage], clock[other]) + message
                    place[other] += 1
                place[stage] += 1
                moved = True
    assert all(at == len(row) for at, row in zip(place, rows)), "the instructions do not end"
    return max(clock)


def _pre_transformer_block(*_):
    """As GPT-NeoX calls what it has before its blocks."""


def _post_transformer_block(*_):
    """And behind them."""


def cut_of(torch, module, method, blocks, hidden, vocabulary, stages, neox):
    """Blocks of each stage, the embedding and the head among them, by PipelineModule's own rule; None where it refuses."""
    class Block(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weights = torch.nn.ParameterList([torch.empty(4 * hidden * hidden + 3 * hidden * 2 * hidden + 2 * hidden)])

    Block.__name__ = "ParallelTransformerLayerPipe" if neox else "Block"
    layers = [module.LayerSpec(torch.nn.Embedding, vocabulary, hidden), *[_pre_transformer_block] * neox,
              *(module.LayerSpec(Block) for _ in range(blocks)), *[_post_transformer_block] * neox,
              module.LayerSpec(torch.nn.RMSNorm, hidden), module.LayerSpec(torch.nn.Linear, hidden, vocabulary, bias=False)]
    pipeline = object.__new__(module.PipelineModule)
    torch.nn.Module.__init__(pipeline)
    pipeline._layer_specs, pipeline.num_stages, pipeline.global_rank = layers, stages, 1
    pipeline._topo = types.SimpleNamespace(get_coord=lambda rank: types.SimpleNamespace(pipe=0))
    with torch.device("meta"):
        pipeline._partition_layers(method)
    counted = [1] + [0] * neox + [1] * blocks + [0] * neox + [0, 1]  # the command takes the norm for a part of the head
    return [sum(counted[begin:end]) for begin, end in itertools.pairwise(pipeline.parts)]


def compare_cuts(witness, torch, module):
    for rule, blocks, hidden, vocabulary, stages in itertools.product(
            ("deepspeed:parameters", "deepspeed:uniform", "deepspeed:type:block", "neox:parameters", "neox:uniform", "neox"), (12, 17, 23, 24, 32, 40), (512, 1024, 4096), (8000, 50304, 128256), (2, 3, 4, 8)):
        case = f"cut: {rule}, {blocks} blocks of {hidden}, vocabulary {vocabulary}, {stages} stages"
        if zlib.crc32(case.encode()) % 5 or not witness.wanted(case):  # a fifth of them
            continue
        sizes = f"layers={blocks},hidden={hidden},feed_forward={2 * hidden},heads=16,kv_heads=16,vocabulary={vocabulary},tied_embedding=no"
        ran = witness.run("simulate", "--model", "llama-7b", "--model-size", sizes, "-p", str(stages), "--partition",
                          rule, "--format", "json")
        ours = door.Taken({}, json.loads(ran.stdout), "").layers() if ran.returncode != 2 else ran.stderr.splitlines()[0]
        method, neox = rule.partition(":")[2] or "type:transformer|mlp", rule.startswith("neox")
        witness.check("cut", case, cut_of(torch, module, method, blocks, hidden, vocabulary, stages, neox), ours)


def compare_configurations(witness, config_of):
    """Which of the three numbers of a batch there are, what they come to, ranks that share it, formats, ZeRO's stage."""
    sizes = itertools.product((None, 6, 16, 32), (None, 1, 2), (None, 4, 8), (1, 2, 4), ("bf16", "fp16", None), (0, 1, 2, 3))
    for number, (batch, micro, steps, dp, dtype, stage) in enumerate(sizes):
        if number % 7:  # a seventh, in which each value still meets each other
            continue
        config = {"train_batch_size": batch, "train_micro_batch_size_per_gpu": micro, "gradient_accumulation_steps": steps}
        config = {key: value for key, value in config.items() if value is not None}
        if dtype:
            config[dtype] = {"enabled": True}
        config["zero_optimization"] = {"stage": stage}
        case = f"{json.dumps(config)} on {dp}"
        if not witness.wanted(case):
            continue
        truth = config_of(config, dp)
        ours = witness.imported("deepspeed", "ds.json", json.dumps(config), "--model", "gpt2-small", "--sequence", "1024", "--world-size", str(dp))
        witness.check("starts", f"{case} ({ours if not ours.starts else ''})", truth is not None, ours.starts)
        if truth and ours.starts:
            witness.check("microbatches", case, truth.gradient_accumulation_steps, ours.report["schedule"]["microbatches"])
            witness.check("microbatch size", case, truth.train_micro_batch_size_per_gpu, ours.scenario.get("microbatch-size", 1))


def runs(witness):
    """ZeRO's stages with and without pipelines, as PipelineEngine takes them."""
    from deepspeed.runtime.pipe import engine, module
    engine.DeepSpeedEngine.__init__ = lambda *_, **__: None

    def takes(p, stage):
        if p == 1:
            return True  # another engine
        made = object.__new__(engine.PipelineEngine)
        object.__setattr__(made, "__dict__", {"module": object.__new__(module.PipelineModule), "zero_optimization_stage": lambda: stage})
        try:
            engine.PipelineEngine.__init__(made)
        except AssertionError as error:
            return "incompatible" not in str(error)
        except AttributeError:  # past its looks
            return True

    for p, stage in itertools.product((1, 2, 4), (0, 1, 2, 3)):
        case = f"runs: p {p}, ZeRO-{stage}"
        if witness.wanted(case):
            flags = ("--model", "llama3-8b", "--hardware", "h100", "-p", str(p), "-m", "4", "--dp", "2", "--zero", str(stage),
                     *(("--grad-dtype", "bf16") if stage == 0 else ()))  # sums in 32 bits need a stage of ZeRO
            witness.check("runs", case, takes(p, stage), witness.exports("deepspeed", *flags))


def main():
    witness = door.Door("DeepSpeed 0.19.8", KNOWN)
    hollow.prepare(witness.frameworks, "cpuinfo", "einops", "msgpack", "ninja", "psutil", "tqdm")
    import torch
    logging.disable(logging.WARNING)
    from deepspeed.module_inject.auto_ep_config import parse_autoep_config, validate_autoep_config
    from deepspeed.runtime import config as configs
    from deepspeed.runtime.pipe import module, schedule

    def config_of(config, dp):
        try:
            return configs.DeepSpeedConfig(dict(config), mpu=types.SimpleNamespace(get_data_parallel_world_size=lambda: dp))
        except (AssertionError, ValueError, TypeError, configs.DeepSpeedConfigError):
            return None

    configs.dist = types.SimpleNamespace(get_rank=lambda *_: 0, get_world_size=lambda *_: 1)
    for p, m in itertools.product((1, 2, 3, 4, 8), (1, 2, 3, 4, 5, 8, 13, 16)):
        if witness.wanted("order"):
            witness.check("order", f"order: p {p}, m {m}", order_of(schedule, p, m), witness.order("-p", str(p), "-m", str(m)))
            ran = witness.run("compare", "--runs-in", "deepspeed", "--schedules", "1f1b", "-p", str(p), "-m", str(m), "--times", "f=6ms,b=13ms",
                              "--comm", "2ms", "--format", "json")
            witness.check("step", f"step: p {p}, m {m}", step_time(schedule, p, m, 6, 13, 2),
                          json.loads(ran.stdout)["runs"][0]["makespan_ns"] // 10**6)
    for p, more in itertools.product((1, 2, 3, 4, 5, 8), (0, 1, 2, 7)):
        if witness.wanted("order"):
            witness.check("order", f"order: DualPipeV, p {p}, m {2 * p + more}", dualpipev_order(schedule, p, 2 * p + more),
                          witness.order("-p", str(p), "-m", str(2 * p + more), "--schedule", "dualpipe-v", "--param", "order=deepspeed"))
    if witness.wanted("cut"):
        compare_cuts(witness, torch, module)
    compare_configurations(witness, config_of)
    runs(witness)

    def accepts(text, ranks, _):
        config = json.loads(text)
        sharing = config["train_batch_size"] // config["train_micro_batch_size_per_gpu"] // config["gradient_accumulation_steps"]
        made = config_of(config, sharing)
        if made is None:
            return "its configuration"
        sequence = config.get("sequence_parallel_size", 1)
        if sequence > 1 and config.get("data_parallel_size", 0) * sequence != ranks:
            return "no mesh (deepspeed.initialize)"
        if not made.zero_config.compute_grad_norm and made.gradient_clipping > 0:
            return "no norm to clip by (DeepSpeedZeroOptimizer)"
        try:
            validate_autoep_config(parse_autoep_config(config.get("expert_parallel")), ranks, config.get("pipeline", {}).get("stages", 1), 1, sequence)
        except ValueError as error:
            return str(error)
        return None

    def beside(run, _):
        words = run.split()
        given = [("--model", "--model"), ("-p", "--stages"), ("--tp", "--tp"), ("--sequence", "--sequence")]
        return [word for name, flag in given if name in words for word in (flag, words[words.index(name) + 1])]

    pastes.compare(witness, "deepspeed", accepts, beside, own=(
        f"{pastes.DENSE} -p 1 -m 4 --dp 8 --zero 2 --norm none", f"{pastes.DENSE} -p 1 -m 4 --cp 2 --context-exchange all-to-all --dp 4 --zero 3",
        f"{pastes.EXPERTS} -p 1 -m 4 --dp 8 --ep 8 --zero 2 --moe-dispatch deepep"))
    witness.finish()


if __name__ == "__main__":
    main()
