#!/usr/bin/env python3
"""Lines of arguments and orders, as Megatron-LM has them and as the command reads them."""
import logging
import shlex

import door
import hollow
import megatron_lines

# Experts of fewer tensor ranks than the rest; a head that a layout puts before the last stage; norms of queries and keys have
# biases, too; an activation that the default fusion does not know.
KNOWN = ("parameters: .*expert-tensor-parallel-size 1", r"parameters: .*Et\*12\|\|L", "parameters: .*qk-layernorm", "starts: .*squared-relu")


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
    if witness.wanted("order"):
        orders(witness, package)
    witness.finish()


main()
