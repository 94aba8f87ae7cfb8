#!/usr/bin/env python3
"""Lines of arguments and orders, as Megatron-LM has them and as the command reads them."""
import contextlib
import io
import json
import logging
import os
import shlex

import door
import hollow
import megatron_lines
import pastes
import virtual_clock

# Experts of fewer tensor ranks than the rest; a head that a layout puts before the last stage; norms of queries and keys have
# biases, too; an activation that the default fusion does not know.
KNOWN = ("parameters: .*expert-tensor-parallel-size 1", r"parameters: .*Et\*12\|\|L", "parameters: .*qk-layernorm", "starts: .*squared-relu",
         # where the last group is smaller, the flush waits for receives in the order in which they were posted
         "step: .*(m 8, v ., group 3|m 9, v ., group [56]|m 12, v ., group 8), flush")


def compare(witness, part, words, world, counted, truth, ours):
    case = f"{part}: {words.replace(megatron_lines.LLAMA.strip(), 'LLAMA').replace(megatron_lines.SHARED.strip(), 'SHARED')} on {world}"
    if truth.starts != ours.starts:
        why = truth.why.splitlines()[-1][:120] if not truth.starts else str(ours)
        return witness.check("starts", f"{case} ({why})", truth.starts, ours.starts)
    witness.check("starts", case, truth.starts, ours.starts)
    if not truth.starts:
        return
    schedule = ours.report["schedule"]
    witness.check("microbatches", case, truth.microbatches, schedule["microbatches"])
    witness.check("stages", case, truth.stages, schedule["stages"])
    witness.check("cut", case, truth.cut, ours.layers() or [sum(truth.cut)])  # one stage has no cut
    witness.check("vocabulary", case, truth.vocabulary, ours.size("vocabulary"))
    if truth.group:
        witness.check("group", case, str(truth.group), schedule["params"].get("group"))
    if counted:
        witness.check("parameters", case, truth.parameters, [weights // 2 for weights in ours.weights()])


def orders(witness, package):
    """1F1B and the interleaved schedule; None where Megatron refuses."""
    for p in (2, 3, 4, 8):
        for v in (1, 2, 3):
            for m in (1, 2, 4, 5, 8, 9, 12, 16, 19):
                for group in {p, p + 1, 2 * p, m} if v > 1 else {p}:
                    try:
                        truth = package.order_of(p, m, v, group)
                    except (ValueError, RuntimeError):
                        continue  # refusals are among the lines
                    schedule = ("--schedule", "interleaved", "-v", str(v), "--param", f"group={group}") if v > 1 else ()
                    ours = witness.order("-p", str(p), "-m", str(m), *schedule)
                    witness.check("order", f"p {p}, m {m}, v {v}, group {group}", truth, ours)
    for p, v in ((1, 1), (2, 2), (3, 2), (4, 2), (4, 3), (8, 2)):
        for m in (1, 2, 4, 5, 8, 12):
            for group in {p, p + 1, m} if v > 1 else {p}:
                try:
                    truth = package.order_of(p, m, v, group, combined=True)
                except (ValueError, RuntimeError):
                    continue
                schedule = ("--schedule", "interleaved", "-v", str(v), "--param", f"group={group}") if v > 1 else ()
                ours = witness.order("-p", str(p), "-m", str(m), *schedule, "--param", "extra_warmup=1")
                witness.check("order", f"combined, p {p}, m {m}, v {v}, group {group}", truth, ours)


def steps(witness, package):
    """The step where messages take a while, by what each rank posts and waits for; --runs-in knows it but for what flags turn: they
    are --p2p overlapped and coupled here."""
    forward, backward, message = 12, 26, 3
    for p in (2, 3, 4, 8):
        for v in (1, 2, 3):
            for m in (2, 4, 8, 9, 12, 16):
                for group in sorted({p, p + 1, 2 * p, m}) if v > 1 else (None,):
                    # Two ranks with --no-overlap-p2p-communication are refused.
                    for turned, p2p in ((None, ()), ("flush", ("--p2p", "overlapped")), ("no overlap", ("--p2p", "coupled")))[:1 if v == 1 else 3 - (p < 3)]:
                        case = f"step: p {p}, m {m}, v {v}, group {group}{f', {turned}' if turned else ''}"
                        if not witness.wanted(case):
                            continue
                        try:
                            events = package.events_of(p, m, v, group, turned)
                        except (ValueError, RuntimeError):
                            continue  # refusals are among the lines
                        truth = virtual_clock.step_time(events, {"F": forward, "B": backward}, message)
                        schedule = ("--schedules", "interleaved", "-v", str(v), "--param", f"group={group}") if v > 1 else ("--schedules", "1f1b")
                        ran = witness.run("compare", "--runs-in", "megatron", *schedule, *p2p, "-p", str(p), "-m", str(m), "--times",
                                          f"f={forward * v}ms,b={backward * v}ms", "--comm", f"{message}ms", "--format", "json")
                        found = json.loads(ran.stdout)["runs"]
                        witness.check("step", case, truth, found[0]["makespan_ns"] / 10**6 if found and "makespan_ns" in found[0] else ran.stderr)


def runs(witness, package):
    """What plan and export say of runs, and Megatron of the same ones as its arguments: orders, then what else a plan chooses."""
    shape = "layers=16,hidden=1024,heads=16,kv_heads=4,feed_forward=3584,vocabulary=32000,tied_embedding=no"
    dense = ("--model", "llama-7b", "--model-size", shape, "--sequence", "2048", "--hardware", "h100")
    mixed = ("--model", "mixtral-8x7b", "--model-size", "layers=8,hidden=1024,heads=16,kv_heads=4", "--sequence", "2048", "--hardware", "h100")
    cases = []
    for p in (2, 4):
        for v in (1, 2):
            for m in (1, 2, 3, 4, 6, 9, 10):
                for group in (None, p + 1, 2 * p) if v > 1 else (None,):
                    ours = ("--schedule", "interleaved", "-v", "2", *(("--param", f"group={group}") if group else ())) if v > 1 else ()
                    if v > 1 and group and group < min(p, m):
                        continue
                    stages = "|".join(["t" * (16 // p // v)] * (p * v))
                    theirs = f"--pipeline-model-parallel-layout E{stages}L " + (f"--microbatch-group-size-per-virtual-pipeline-stage {group}" if group else "")
                    cases.append((dense, (*ours, "-p", str(p), "-m", str(m)), f"{megatron_lines.LLAMA} --num-layers 16 --pipeline-model-parallel-size "
                                  f"{p} --micro-batch-size 1 --global-batch-size {m} {theirs}", p))
    line = f"{megatron_lines.LLAMA} --num-layers 16 --micro-batch-size 1 --global-batch-size 16"
    fsdp = "--use-megatron-fsdp --ckpt-format fsdp_dtensor --data-parallel-sharding-strategy"
    for ours, theirs, world in (
            ("-p 1 -m 8 --dp 2 --zero 1", "--use-distributed-optimizer", 2), ("-p 1 -m 8 --dp 2 --zero 2", f"{fsdp} optim_grads", 2),
            ("-p 1 -m 8 --dp 2 --zero 3", f"{fsdp} optim_grads_params", 2),
            ("-p 2 -m 8 --dp 2 --zero 3", f"--pipeline-model-parallel-size 2 {fsdp} optim_grads_params", 4),
            ("-p 1 -m 16 --recompute full --recompute-blocks first:2",
             "--recompute-granularity full --recompute-method block --recompute-num-layers 2", 1),
            ("-p 1 -m 16 --recompute selective --recompute-modules mlp", "--recompute-granularity selective --recompute-modules mlp", 1),
            ("-p 1 -m 16 --recompute selective --recompute-modules op", "--recompute-granularity selective --recompute-modules op", 1),
            ("-p 1 -m 16 --cp 2", "--context-parallel-size 2", 2), ("-p 1 -m 16 --tp 2", "--tensor-model-parallel-size 2", 2),
            ("-p 1 -m 16 --tp 8 --sequence-parallel", "--tensor-model-parallel-size 8 --sequence-parallel", 8),
            ("-p 1 -m 8 --dp 2 --moment-dtype bf16", "--use-precision-aware-optimizer --exp-avg-dtype bf16 --exp-avg-sq-dtype bf16", 2),
            ("-p 1 -m 8 --dp 2 --zero 1 --moment-dtype bf16",
             "--use-distributed-optimizer --use-precision-aware-optimizer --exp-avg-dtype bf16 --exp-avg-sq-dtype bf16", 2),
            ("-p 1 -m 8 --dp 2 --dtype fp8 --fp8-weights alone", "--fp8-format hybrid --fp8-param-gather", 2),
            ("-p 1 -m 8 --dp 2 --zero 1 --dtype fp8 --fp8-weights alone", "--use-distributed-optimizer --fp8-format hybrid --fp8-param-gather", 2)):
        cases.append((dense, ours.split(), f"{line} {theirs}", world))
    line = f"{megatron_lines.EXPERTS} --moe-token-dispatcher-type alltoall --micro-batch-size 1 --global-batch-size 16"
    overlap = "--overlap-moe-expert-parallel-comm"
    for ours, theirs, world in (
            ("-p 1 -m 4 --dp 4 --ep 4", "--expert-model-parallel-size 4", 4),
            ("-p 1 -m 4 --dp 4 --ep 4 --moe-overlap on", f"--expert-model-parallel-size 4 {overlap}", 4),
            ("-p 2 -m 4 --dp 4 --ep 4 --moe-overlap on", f"--expert-model-parallel-size 4 --pipeline-model-parallel-size 2 {overlap}", 8),
            ("-p 2 -m 4 --dp 4 --ep 4 --moe-overlap on --schedule interleaved -v 2",
             f"--expert-model-parallel-size 4 --pipeline-model-parallel-size 2 --num-virtual-stages-per-pipeline-rank 2 {overlap}", 8),
            ("-p 1 -m 4 --dp 4 --ep 4 --moe-overlap on --recompute full",
             f"--expert-model-parallel-size 4 {overlap} --recompute-granularity full --recompute-method uniform --recompute-num-layers 1", 4),
            ("-p 1 -m 4 --dp 4 --ep 2 --tp 2", "--expert-model-parallel-size 2 --tensor-model-parallel-size 2", 8),
            ("-p 1 -m 4 --dp 4 --ep 2 --tp 2 --sequence-parallel",
             "--expert-model-parallel-size 2 --tensor-model-parallel-size 2 --sequence-parallel", 8),
            ("-p 1 -m 4 --dp 4 --ep 4 --etp 1 --tp 2 --sequence-parallel --rank-order tp,cp,pp,dp",
             "--expert-model-parallel-size 4 --expert-tensor-parallel-size 1 --tensor-model-parallel-size 2 --sequence-parallel "
             "--use-tp-pp-dp-mapping", 8),
            ("-p 2 -m 4 --dp 4 --ep 4 --etp 1 --tp 2 --sequence-parallel --rank-order tp,cp,pp,dp",
             "--expert-model-parallel-size 4 --expert-tensor-parallel-size 1 --tensor-model-parallel-size 2 --sequence-parallel "
             "--pipeline-model-parallel-size 2 --use-tp-pp-dp-mapping", 16)):
        cases.append((mixed, ours.split(), f"{line} {theirs}", world))
    cases = [case for case in cases if witness.wanted("runs " + " ".join(case[1]))]
    ours = witness.of_all(lambda case: witness.exports("megatron", *case[0], *case[1]), cases)
    for (_, flags, words, world), exported in zip(cases, ours):
        os.environ["CUDA_DEVICE_MAX_CONNECTIONS"] = "32" if "fsdp" in words else "1"
        truth = package.verdict(words.split(), world, False)
        starts = truth.starts and package.experts_run(truth.args) and package.optimizer_made(truth.args)
        witness.check("runs", f"runs {' '.join(flags)} ({'' if truth.starts else truth.why.splitlines()[-1][:120]})", starts, exported)
    os.environ["CUDA_DEVICE_MAX_CONNECTIONS"] = "1"


def block_of(package, args):
    """What Megatron-LM prints of its arguments when it starts."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        package.arguments._print_args("arguments", args)
    return said.getvalue()


def said(scenario):
    """A block has what a line leaves to its default, too: the head's size, biases of queries, keys and values."""
    sizes = scenario.get("model-size", "").replace(",qkv_biases=yes", "").split(",")
    named = dict(size.split("=") for size in sizes if size)
    if int(named.get("head_size", 0)) * int(named.get("heads", 1)) == int(named.get("hidden", 0)):
        named.pop("head_size", None)
    return {**scenario, "model-size": named}


def blocks(witness, package, cases, typed):
    """A log's block of arguments is the run that its line of arguments is."""
    def read(numbered):
        number, truth = numbered
        dummies = truth.vocabulary - truth.args.vocab_size
        padded = f" > padded vocab (size: {truth.args.vocab_size}) with {dummies} dummy tokens (new size: {truth.vocabulary})\n"
        return witness.imported("megatron", f"{number}.log", block_of(package, truth.args) + padded)

    same = [(case, truth, ours) for case, truth, ours in zip(cases, (package.verdict(words.split(), world, False) for _, words, world, _ in cases), typed)
            if truth.starts and ours.starts]
    for ((part, words, world, _), _, ours), logged in zip(same, witness.of_all(read, enumerate(truth for _, truth, _ in same))):
        case = f"block: {part}: {words} on {world}"
        witness.check("block", case, said(ours.scenario), said(logged.scenario) if logged.starts else str(logged))
        if logged.starts:
            witness.check("block's step", case, ours.report["makespan_ns"], logged.report["makespan_ns"])


def accepts(package):
    """What Megatron refuses of a paste, with the variables that it names and no other."""
    def why(words, ranks, environment):
        usual = os.environ.pop("CUDA_DEVICE_MAX_CONNECTIONS")
        os.environ.update(environment)
        truth = package.verdict(words, ranks, False)
        os.environ["CUDA_DEVICE_MAX_CONNECTIONS"] = usual
        return None if truth.starts else truth.why.splitlines()[-1][:160]
    return why


def main():
    witness = door.Door("Megatron-LM 0.19.2", KNOWN)
    hollow.prepare(witness.frameworks)
    import megatron_package as package
    logging.disable(logging.WARNING)
    cases = [case for case in megatron_lines.lines() if witness.wanted(" ".join((case[0], case[1])))]

    def read(numbered):
        number, (_, words, world, _) = numbered
        return witness.imported("megatron", f"{number}.sh", f"torchrun --nproc-per-node {world} pretrain_gpt.py {shlex.join(words.split())}\n")

    taken = witness.of_all(read, enumerate(cases))
    for (part, words, world, counted), ours in zip(cases, taken):
        compare(witness, part, words, world, counted, package.verdict(words.split(), world, counted), ours)
    if witness.wanted("block"):
        blocks(witness, package, cases, taken)
    pastes.compare(witness, "megatron", accepts(package))
    if witness.wanted("order"):
        orders(witness, package)
    if witness.wanted("step"):
        steps(witness, package)
    runs(witness, package) if witness.wanted("runs") else None
    witness.finish()


main()
