"""Sailor's validation runs (eth-easl/sailor): OPT-350 on GH200, layers profiled alone, steps of real runs. For reduce.py.

What the source says is copied: times of layers, plans, steps. What it does not say is published or follows from it here;
README.md says how.
"""

import json
import statistics

TENSOR = 4  # ranks; a machine has four GPUs, and every plan uses them so
# Zhang et al., OPT, arXiv:2205.01068, Table 1 and section 2: 350M has 24 layers of width 1024; 2048 tokens, and its
# released configuration 50,272 words and two positions more than tokens.
BLOCKS, WIDTH, TOKENS, WORDS, POSITIONS = 24, 1024, 2048, 50272, 2050
NUMBER = 4  # bytes: README.md says what shows it
MEMORY_BANDWIDTH = "3600GB/s"  # 90 % of 4 TB/s: NVIDIA's GH200 data sheet, 96 GB HBM3
EMBEDDING_TABLE = WORDS * WIDTH // TENSOR * NUMBER
PARAMETERS = {  # bytes of one tensor rank; matrices and the biases of their columns are split, norms and other biases not
    "embedding": EMBEDDING_TABLE + POSITIONS * WIDTH * NUMBER,
    "block": ((12 * WIDTH * WIDTH + 7 * WIDTH) // TENSOR + 6 * WIDTH) * NUMBER,
    "head": 2 * WIDTH * NUMBER,  # the last norm; the matrix is the embedding's
}
SOURCE = {
    "name": "sailor",
    "title": "Sailor: OPT-350 on GH200, four per machine, tp 4; layers were profiled alone, then steps of real runs",
    "where": "eth-easl/sailor, commit cf2c8e3cc53ce178fe58a4003f46b4b6b848fc33, "
             "sailor/Planner/simulations/validation/clariden/OPT-350 and simulations/profiles_tmp.json",
    "licence": "MIT",
    "not_modelled": [
        "how far the host runs ahead: up to 4 samples per microbatch a layer's forward, measured alone, takes nearly the "
        "same time (1.5 to 1.8 ms, rounded in the source), so it is launches that take it. With 1 sample and nothing to "
        "wait for (n1-d1) the layers alone add up to 12 and 16 % more than the measured step",
        "why steps without a pipeline and with 2 and 4 samples (n2-d2, n4-d4) are longer than their layers: n4-d4 is said "
        "to have reduced gradients for 1.06 s of a step of 1.24 s, so that time was not one of the network",
        "replicas that wait for each other: reductions took up to 3.7 times as long as the bandwidth gives (n16-d4)",
        "the update of weights as it was profiled, layer by layer, 3 to 12 ms: what is simulated are the optimizer's passes "
        "over memory, at most 1.3 ms, for the two runs of n1-d1 leave 2.4 ms of a step to all that is not a microbatch. "
        "With the profiled update on top the mean error of the steps is 5.6 %",
        "a bubble: none was measured. Runs with p=1 have no pipeline",
    ],
}


def layers_of(folder, samples):
    """[forward, backward, update] seconds of each layer."""
    profile = json.loads((folder / "profiles_opt350.json").read_text())["OPT-350"]["GH-96"][str(samples)][str(TENSOR)]
    return [profile[str(layer)] for layer in range(len(profile))]


def plans(folder):
    """One for each run, by id; those of the authors' files in our words."""
    found = []
    for path in (folder / "OPT-350").rglob("plan_config_*.json"):
        plan = json.loads(path.read_text())
        (pipeline,) = plan["pipeline_list"]
        (replicas,) = set(pipeline["dp"])
        found.append({
            "id": "sailor-" + path.stem.removeprefix("plan_config_").lower().replace("_", "-"), "replicas": replicas,
            "layers": pipeline["layers_per_stage"], "samples": plan["mbs"],
            "microbatches": plan["gbs"] // plan["mbs"] // replicas, "reduction_s": plan["red_grads"],
            "step_s": plan["real"]})
    return sorted(found, key=lambda plan: plan["id"])


def calibration_half(folder):
    return plans(folder)[::2]


def kind_of(layer):
    return "embedding" if layer == 0 else "head" if layer == BLOCKS + 1 else "block"


def ring_bytes(plan):
    """What a rank sends to add up the gradients of the stage that has most."""
    most = max(sum(PARAMETERS[kind_of(layer)] for layer in stage) for stage in plan["layers"])
    return 2 * (plan["replicas"] - 1) / plan["replicas"] * most


def bandwidth(folder):
    """Bytes per second between machines: the fastest reduction of gradients among the half's runs.

    The time of a reduction holds waiting for the slowest replica, too, which is no matter of bandwidth; the fastest has
    least of it. No step time is looked at.
    """
    rates = [ring_bytes(plan) / plan["reduction_s"] for plan in calibration_half(folder)
             if plan["replicas"] > 1 and plan["reduction_s"] > 0]
    return round(max(rates), -7), round(statistics.median(rates), -7), len(rates)


def transfer_bytes(samples):
    return samples * TOKENS * WIDTH * NUMBER


def rows(folder):
    fastest, median, count = bandwidth(folder)
    SOURCE["calibrated"] = (
        f"the network's bandwidth per GPU, {fastest / 1e9:.2f} GB/s of nominal 25 GB/s: the fastest of the {count} "
        "reductions of gradients that were timed in its half, for each holds waiting for the slowest replica, too; it "
        "predicts the other reductions, and all transfers between stages. No step time was used. Which effects are "
        f"modelled, and how, was chosen with all runs in view; with the median, {median / 1e9:.2f} GB/s, the mean error of "
        "the steps would be 7.6 %")
    SOURCE["calibrated_on"] = [plan["id"] for plan in calibration_half(folder)]
    found = []
    for plan in plans(folder):
        stages = len(plan["layers"])
        scenario = {
            "schedule": "1f1b", "devices": stages, "microbatches": plan["microbatches"], "tp": TENSOR,
            "dp": plan["replicas"], "profile": f"sailor_opt350/mbs{plan['samples']}.profile.json",
            "partition": ",".join(str(len(stage)) for stage in plan["layers"]), "p2p": "coupled",
            "topology": f"switch:{TENSOR * stages * plan['replicas']},bandwidth={fastest / 1e9:.2f}GB/s", "step": "on",
            "optimizer-bandwidth": MEMORY_BANDWIDTH}
        if stages > 1:
            scenario["tied-embedding"] = f"{EMBEDDING_TABLE / 1e6}MB"
        found.append({"id": plan["id"], "source": "sailor", "scenario": scenario,
                      "step_ns": round(1e9 * plan["step_s"])})
    return found


def profile(folder, samples):
    layers = []
    for layer, (forward, backward, _) in enumerate(layers_of(folder, samples)):
        kind = kind_of(layer)
        name = f"block.{layer - 1}" if kind == "block" else kind
        layers.append({"name": name, "forward": {"median_ns": round(1e9 * forward)},
                       "backward": {"median_ns": round(1e9 * backward)}, "activation_bytes": 0,
                       "output_bytes": transfer_bytes(samples), "parameter_bytes": PARAMETERS[kind]})
    origin = {
        "times": "published", "memory": "modelled", "device": "GH-96",
        "method": "every layer alone on one machine, 4 tensor ranks, by the authors",
        "citation": SOURCE["where"],
        "notes": "GH-96 is the source's word for a GH200 with 96 GB. Parameters follow from OPT's published shape, four "
                 "bytes each; activations are not in the source and stand here as 0. Forward times of 1, 2 and 4 samples "
                 "are rounded to 0.1 ms there, but for the first and the last layer."}
    return {"schema": "debubble.profile/1", "model": "OPT-350", "dtype": "fp32", "microbatch_size": samples,
            "sequence_length": TOKENS, "origin": origin, "layers": layers}


def write_files(folder, target):
    target.mkdir(exist_ok=True)
    for samples in sorted({plan["samples"] for plan in plans(folder)}):
        path = target / f"mbs{samples}.profile.json"
        path.write_text(json.dumps(profile(folder, samples), indent=1) + "\n")
    (target / "expected.json").write_text(json.dumps(expected(folder), indent=1) + "\n")


def expected(folder):
    """Step as measured, and when the last backward ends, by rules of our own: Megatron-LM's 1F1B with fused exchanges."""
    fastest, _, _ = bandwidth(folder)
    found = {}
    for plan in plans(folder):
        layers = layers_of(folder, plan["samples"])
        stages = [[sum(layers[layer][part] for layer in stage) for part in (0, 1)] for stage in plan["layers"]]
        transfer = transfer_bytes(plan["samples"]) / fastest + 2 * 500e-9  # and two links' latency
        found[plan["id"]] = {"step_ms": round(1e3 * plan["step_s"], 6),
                             "pipeline_ms": round(1e3 * pipeline_end(stages, plan["microbatches"], transfer), 6)}
    return found


def order_of(stage, stages, microbatches):
    ahead = min(stages - 1 - stage, microbatches)
    row = [("F", k) for k in range(ahead)]
    for k in range(microbatches - ahead):
        row += [("F", ahead + k), ("B", k)]
    return row + [("B", k) for k in range(microbatches - ahead, microbatches)]


def pipeline_end(stages, microbatches, transfer):
    """Between two ops a device sends what the first made and receives what the second needs; both must have ended."""
    last = len(stages) - 1
    rows = [order_of(stage, len(stages), microbatches) for stage in range(last + 1)]
    place = [{op: k for k, op in enumerate(row)} for row in rows]
    posted = [[0.0] for _ in rows]  # the exchange before op k: when the op before it has ended

    def arrival(stage, op):
        """Of op's output at its neighbour; nothing while that is unknown; 0 where it goes nowhere."""
        to = stage + (1 if op[0] == "F" else -1)
        if not 0 <= to <= last:
            return 0.0
        ends = (place[stage][op] + 1, place[to][op])
        if len(posted[stage]) <= ends[0] or len(posted[to]) <= ends[1]:
            return None
        return max(posted[stage][ends[0]], posted[to][ends[1]]) + transfer

    def next_end(stage):
        done = len(posted[stage]) - 1
        kind, microbatch = op = rows[stage][done]
        source = stage - (1 if kind == "F" else -1)
        waits = [arrival(source, op)] if 0 <= source <= last else []
        if done > 0:
            waits.append(arrival(stage, rows[stage][done - 1]))
        if None in waits:
            return None
        return max([posted[stage][done], *waits]) + stages[stage][kind == "B"]

    while any(len(posted[stage]) <= len(rows[stage]) for stage in range(last + 1)):
        for stage in range(last + 1):
            while len(posted[stage]) <= len(rows[stage]):
                end = next_end(stage)
                if end is None:
                    break
                posted[stage].append(end)
    return max(ends[-1] for ends in posted)
