"""docs/accuracy-effects.md: every published record predicted anew with one part of the model switched off, each alone.

A part is one that `debubble accuracy --without` names, or a flag that records have or that every run could have.
"""
import json
import pathlib
import tempfile

from accuracy_page import words_for
from words import Published, answer_of, percent, signed, table, template


def switched(part):
    return {"part": part}


def flagged(dropped, added=None, always=False):
    """Flags that records lose ("name", or "name=value"), and the one that they get instead."""
    return {"dropped": dropped, "added": added, "always": always}


USER_BUFFERS = ["tensor-overlap=" + one for one in ("userbuffers", "userbuffers-ag", "userbuffers-rs")]
EFFECTS = [
    ("measured products", "constant shares of the peak, tiles and waves", switched("measured-products")),
    ("products measured on that machine", "tables of the GPU (no --efficiency)", flagged(["efficiency"])),
    ("size of products", "all reach the share of the largest", switched("product-sizes")),
    ("sustained cap", "short runs' shares", switched("sustained")),
    ("a framework's kernels", "as in CUDA graphs of a benchmark", switched("framework")),
    ("sums of gradients in 32 bits", "weight gradients write 16 bits once", switched("accumulation")),
    ("grouped products", "one product of all experts' rows", switched("grouped-products")),
    ("measured attention", "one share of the peak", switched("measured-attention")),
    ("softmax without masked scores", "it reads all of them", switched("causal-softmax")),
    ("sums of biases' gradients", "products have them in passing", switched("bias-sums")),
    ("measured passes over memory", "one share of the bandwidth", switched("measured-passes")),
    ("quantisation", "8-bit factors cost nothing", switched("quantisation")),
    ("logits and router in 16 bits", "in 8 bits as all products", switched("wide-logits")),
    ("launch of kernels on the device", "no time between kernels", switched("kernel-gaps")),
    ("launches by the host", "kernels from CUDA graphs", flagged(["cuda-graphs"], ("cuda-graphs", "on"), True)),
    ("experts' launches one by one", "one launch of the host for all experts' products", switched("expert-launches")),
    ("counts of tokens on the host", "it knows them before the GPU has counted", switched("counted-tokens")),
    ("measured collectives", "NCCL's latencies and bandwidths", switched("measured-collectives")),
    ("compute slowed beside collectives", "not slowed", switched("slowed-compute")),
    ("tensor ranks' overlap", "none (--tensor-overlap off)", flagged(["tensor-overlap"], ("tensor-overlap", "off"), True)),
    ("user buffers", "products and exchanges whole (--tensor-overlap on)", flagged(USER_BUFFERS)),
    ("gradients and weights in buckets", "reduced after the last backward",
     flagged(["overlap-grad-reduce", "overlap-param-gather"])),
    ("scattered activations", "whole activations between stages", flagged(["scatter-gather"])),
    ("coupled sends and receives", "all overlapped with compute", flagged(["p2p"])),
    ("tokens cross once", "every copy by itself (--moe-dispatch alltoall)", flagged(["moe-dispatch"])),
    ("tokens travel while others compute", "exchanges hide behind nothing", flagged(["moe-overlap"])),
    ("one permutation of tokens", "sorted before and after the exchange", switched("one-permutation")),
    ("padding of 8-bit rows", "experts' products take any number of rows", switched("padded-rows")),
    ("PyTorch's allocator", "what is allocated (--allocator exact)", flagged(["allocator"], ("allocator", "exact"), True)),
]


def records_without(published, how):
    """The file of results with other flags."""
    data = published.flattened()
    for record in data["records"]:
        flags = record["flags"]
        if "model" in flags:
            had = [name for name, value in flags.items() if name in how["dropped"] or f"{name}={value}" in how["dropped"]]
            flags = {name: value for name, value in flags.items() if name not in had}
            if how["added"] and (had or how["always"]):
                flags[how["added"][0]] = how["added"][1]
        record["flags"] = flags
    return data


def without(binary, published, how):
    """The records, by id, as they are predicted without it."""
    if "part" in how:
        answer = answer_of(binary, "--records", published.path, "--without", how["part"])
    else:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "results.json"
            path.write_text(json.dumps(records_without(published, how)), encoding="utf-8")
            answer = answer_of(binary, "--records", path)
    return {record["id"]: record for source in answer["sources"] for record in source["records"]}


def errors_of(records, summary):
    return [(record["id"], one) for record in records for one in record["comparisons"]
            if one["quantity"] == summary["quantity"] and summary["group"] in (None, record.get("group"))]


def compared(source, after):
    """By quantity and group: what it is with everything, and without the effect."""
    records = [record if "refused" in after[record["id"]] else after[record["id"]] for record in source["records"]]
    for summary in source["without_constants"]:
        before, now = errors_of(source["records"], summary), errors_of(records, summary)
        errors = [one["error"] for _, one in now]
        yield {"name": f"{source['source']} {words_for(summary)}", "with": summary,
               "changed": sum(a["predicted"] != b["predicted"] for (_, a), (_, b) in zip(before, now)),
               "mean": sum(map(abs, errors)) / len(errors), "bias": sum(errors) / len(errors)}


def overview(judged):
    every = [errors for _, _, errors, _ in judged]
    places = [k for k in range(len(every[0])) if any(errors[k]["changed"] for errors in every)]
    rows = [("nothing: the model as it is", *(percent(every[0][k]["with"]["mean_absolute_error"]) for k in places))]
    for name, _, errors, _ in judged:
        rows.append((name, *(percent(errors[k]["mean"]) if errors[k]["changed"] else "" for k in places)))
    return table(("without", *(">" + every[0][k]["name"] for k in places)), rows)


def details(name, words, errors):
    rows = []
    for one in errors:
        if one["changed"]:
            mean = one["with"]["mean_absolute_error"]
            rows.append((one["name"], f"{one['changed']} of {one['with']['records']}", percent(mean), percent(one["mean"]),
                         f"{100 * (one['mean'] - mean):+.2f}", signed(one["with"]["bias"]), signed(one["bias"])))
    if not rows:
        return f"\n## {name}\n\nWithout it: {words}. No record is predicted otherwise.\n"
    return f"\n## {name}\n\nWithout it: {words}.\n\n" + table(
        ("source", ">records changed", ">with", ">without", ">points", ">bias with", ">bias without"), rows)


def effects_page(binary):
    published = Published()
    sources = answer_of(binary, "--records", published.path)["sources"]
    judged = []
    for name, words, how in EFFECTS:
        after = without(binary, published, how)
        refused = [key for key, record in after.items() if "refused" in record]
        judged.append((name, words, [one for source in sources for one in compared(source, after)], refused))
    lines = [f"- {name}: {', '.join(refused)} cannot be run without it and count as they are\n"
             for name, _, _, refused in judged if refused]
    text = template("effects", overview=overview(judged)) + ("\n" + "".join(lines) if lines else "")
    return text + "".join(details(name, words, errors) for name, words, errors, _ in judged)
