"""Runs that `export` writes for a framework: what it accepts of them, and the step time of what is imported again."""
import itertools
import re
import shlex

DENSE = "--model llama3-8b --hardware h100 --sequence 4096"
GPT = "--model gpt-1.3b --hardware a100"
EXPERTS = "--model mixtral-8x7b --hardware h100"
LATENT = "--model deepseek-v3 --hardware h100"


# Notes on what the program says beside the arguments: none of them excuses another step time.
BESIDE = re.compile("note: [^:]*: (the model, its sequence|PipelineModule|tensor ranks are the model's own|no configuration of it has)")


def runs(zero):
    """Each once in a field that differs: split, cut, schedule, formats, memory, step, experts; `zero` where the field is another."""
    pipelines = ("-p 1 -m 4", "-p 4 -m 8", "-p 4 -m 8 --p2p coupled", "-p 4 -m 8 --p2p rendezvous", "-p 4 -v 2 -m 8 --schedule interleaved",
                 "-p 4 -v 2 -m 8 --schedule interleaved --param rounding=pytorch --p2p late", "-p 4 -v 2 -m 8 --schedule zb-v --p2p late",
                 "-p 4 -v 4 -m 16 --schedule interleaved --p2p coupled", "-p 4 -v 2 -m 10 --schedule interleaved --param group=5",
                 "-p 4 -v 2 -m 10 --schedule interleaved", "-p 4 -v 2 -m 2 --schedule interleaved", "-p 4 -m 3",
                 "-p 4 -m 8 --partition even", "-p 4 -m 8 --partition 10,8,8,8", "-p 4 -m 8 --partition torchtitan",
                 "-p 4 -m 8 --partition deepspeed", "-p 4 -m 8 --partition deepspeed:uniform", "-p 4 -m 8 --schedule gpipe",
                 "-p 4 -m 8 --schedule zb-h1", "-p 4 -v 2 -m 8 --schedule zb-v", "-p 4 -v 2 -m 11 --schedule interleaved")
    splits = ("", "--tp 2 --dp 2 --zero 1", "--tp 2 --sequence-parallel --dp 2", "--dp 4 --zero 1 --overlap-grad-reduce --overlap-param-gather",
              "--cp 2 --dp 2 --zero 1", "--cp 2 --context-exchange all-to-all --dp 2 --zero 1", "--dp 8 --zero 3", "--dp 8 --zero 2",
              "--tp 2 --sequence-parallel --dp 4 --zero 3", "--dp 4 --rank-order tp,cp,pp,dp", "--tp 2 --dp 2 --zero 1 --bucket-size 1000000 --overlap-grad-reduce")
    fields = ("--recompute full", "--recompute full --recompute-blocks first:2", "--recompute full --recompute-blocks chunks:2",
              "--recompute selective", "--recompute selective --recompute-modules mlp,layernorm", "--recompute selective --recompute-modules op",
              "--recompute full --recompute-stages 0", "--dtype fp16", "--dtype fp32", "--dtype fp8", "--dtype fp8 --fp8-recipe tensorwise",
              "--dtype fp8 --fp8-weights alone", "--grad-dtype bf16", "--moment-dtype bf16", "--moment-dtype fp16 --second-moment-dtype fp32",
              "--master-weights fp16", "--master-weights bf16", "--optimizer sgd", "--optimizer momentum", "--optimizer muon",
              "--low-gradients kept", "--attention unfused", "--loss fused", "--grad-accumulation separate", "--cuda-graphs on",
              "--cuda-graphs on --recompute full", "--dropout", "--norm none", "--tensor-overlap userbuffers --tp 2 --sequence-parallel",
              "--tensor-overlap off --tp 2", "--weight-dtype fp32", "--keep-whole --zero 3", "--scatter-gather --tp 2")
    for pipeline in pipelines:
        yield f"{DENSE} {pipeline}"
    for split in splits:
        for pipeline in ("-p 1 -m 4", "-p 4 -m 8 --p2p coupled"):
            yield f"{DENSE} {pipeline} {split}"
    for field in fields:
        yield f"{DENSE} -p 1 -m 4 --dp 2 {field if '--zero' in field else field + f' --zero {zero}'}"
        if "keep-whole" not in field:
            yield f"{DENSE} -p 4 -v 2 -m 8 --schedule interleaved --dp 2 --zero {zero} {field}"
    for pipeline in ("-p 4 -v 2 -m 8 --schedule interleaved", "-p 4 -m 8 --p2p coupled"):
        yield f"{GPT} {pipeline} --dp 2 --zero 1"
        for field in ("", "--moe-dispatch deepep", "--moe-dispatch hybrid", "--moe-overlap on", "--capacity-factor 1.25",
                      "--capacity-factor 1.25 --moe-dispatch deepep", "--tp 2 --sequence-parallel", "--tp 2", "--tp 2 --etp 1 --sequence-parallel",
                      "--cuda-graphs on", "--recompute selective --recompute-modules moe_act", "--dtype fp8 --fp8-recipe tensorwise"):
            yield f"{EXPERTS} {pipeline} --dp 8 --ep 8 --zero {zero} {field}"
    yield f"{LATENT} -p 16 -v 2 -m 32 --schedule interleaved --dp 16 --ep 16 --zero 1"
    yield f"{LATENT} -p 16 -m 32 --dp 16 --ep 16 --zero 1 --recompute selective --recompute-modules mla_up_proj,layernorm"
    yield f"{LATENT} -p 4 -m 32 --dp 16 --ep 16 --zero 1 --partition even"
    yield "--model llama3-70b --hardware h100 --tp 8 --sequence-parallel -p 4 -m 8 --dp 2 --zero 3"
    yield "--model qwen3-32b --hardware h100 --tp 8 --sequence-parallel -p 4 -v 2 -m 8 --schedule interleaved --param rounding=pytorch --dp 2 --zero 3 --keep-whole"
    yield "--model llama3-8b --hardware h100 -p 1 -m 2 --dp 8 --zero 3 --dtype fp8 --fp8-recipe mxfp8"


def step_of(witness, *words):
    ran = witness.run("simulate", *words, "--format", "json")
    found = re.search(r'"makespan_ns": (\d+)', ran.stdout)
    return int(found.group(1)) if found else ran.stderr.splitlines()[0]


def compare(witness, tool, accepts, more=lambda run, paste: (), zero=1, own=()):
    """`accepts`: of the words of a paste, the ranks and the environment, what the framework refuses it for, or None. A paste that
    takes another time than its run has a note that says why; `more` is what an import is told beside it, `own` are runs that the framework
    takes, as others may not."""
    for run in itertools.chain(runs(zero), own):
        if not witness.wanted(f"paste: {run}"):
            continue
        words = run.split()
        made = witness.run("export", "--to", tool, *words)
        if run in own:
            witness.check("own runs", f"paste: {run} ({made.stderr[:200]})", 0, made.returncode)
        if made.returncode:
            if "error[T054]" not in made.stderr:  # then the run itself is none
                witness.check("refused runs", f"paste: {run}", 2, witness.run("simulate", *words).returncode)
            continue
        lines = made.stdout.splitlines()
        environment = dict(line.split(" ", 2)[2].split("=") for line in lines if line.startswith("# environment: "))
        ranks = 1
        for name in ("-p", "--tp", "--cp", "--dp"):
            ranks *= int(words[words.index(name) + 1]) if name in words else 1
        arguments = shlex.split("\n".join(line for line in lines if not line.startswith("#"))) if tool != "deepspeed" else made.stdout
        why = accepts(arguments, ranks, environment)
        witness.check("pastes accepted", f"paste: {run} ({why})", True, why is None)
        ours = witness.imported(tool, "paste.txt", made.stdout, *more(run, made.stdout), *(("--gpus", str(ranks)) if tool == "megatron" else ("--world-size", str(ranks))))
        hardware = words[words.index("--hardware"):][:2]
        if not ours.starts:
            witness.check("pastes imported", f"paste: {run} ({ours})", True, False)
            continue
        again = step_of(witness, "--config", "paste.txt.toml", *hardware)
        excused = [line for line in made.stderr.splitlines() if not BESIDE.search(line)]
        if again == step_of(witness, *words) or not excused:
            witness.check("step of pastes", f"paste: {run}", step_of(witness, *words), again)
        else:
            witness.counts["otherwise, as noted"] = (witness.counts.get("otherwise, as noted", (0, 0))[0] + 1,) * 2
