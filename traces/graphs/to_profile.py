#!/usr/bin/env python3
"""Makes a profile (docs/profile.schema.json) of a layer graph of PipeDream, dnn-partitioning or Piper.

    to_profile.py GRAPH > profile.json

    PipeDream         graph.txt of its profiler: times in ms, sizes in bytes, both measured
    dnn-partitioning  JSON with "maxFPGAs", of a training graph: fpgaLatency is in ms; size is all that a node holds, in
                      bytes, and an edge's what it sends; each forward node has a backward node of its colorClass
    Piper             JSON with "maxDevices": timePerSample is in s, forward and backward of one microbatch; one device
                      without tensor parallelism ("1") and without recomputation ("vanilla") is taken

The graphs are MIT: README.md says where they come from. The graph becomes a chain, in the order of execution: always
the lowest number of those whose predecessors ran. Data inputs are dropped; a layer begins with every node that takes
time, also inside of branches. A layer's output is what crosses the boundary after it: each tensor that is made before
it and needed after it, once. What is assumed on the way is in the profile's notes.
"""

import dataclasses
import heapq
import json
import pathlib
import re
import sys
from decimal import Decimal

MOST = 2**52  # of nanoseconds and of bytes, in a profile
FIELDS = {"forward_compute_time": 6, "backward_compute_time": 6, "activation_size": 0, "parameter_size": 0}
IMAGES = (3 * 224 * 224 * 4, 3 * 299 * 299 * 4)  # bytes of one, as torchvision's models take them


def fail(message):
    raise SystemExit(f"to_profile.py: {message}")


@dataclasses.dataclass
class Node:
    number: int
    kind: str = ""
    forward: int = 0  # ns
    backward: int = 0
    output: int = 0  # bytes, to each of its readers
    kept: int = 0  # for its backward
    parameters: int = 0
    is_input: bool = False
    readers: set = dataclasses.field(default_factory=set)

    def takes_time(self):
        return self.forward + self.backward > 0

    def times(self):
        return f"node{self.number} ({self.kind}, forward {milliseconds(self.forward)}, backward {milliseconds(self.backward)})"


def milliseconds(time):
    return f"{time // 1000 / 1000:.3f} ms"


def counted(count, what):
    return f"{count} {what}" + ("" if count == 1 else "s")


# --- PipeDream --------------------------------------------------------------------------------------------------------


def exact(text, places, where):
    """A decimal as a whole number of 10^-places of its unit."""
    if not re.fullmatch(r"\d+(\.\d+)?", text):
        fail(f'{where} must be a decimal number like 12.345, at least 0; got "{text}"')
    value = Decimal(text).scaleb(places)
    if value > MOST or value != int(value):
        fail(f'{where} must be whole {"nanoseconds" if places else "bytes"}, of at most {MOST}; got "{text}"')
    return int(value)


def pipedream_node(line, where):
    fields = line.split(" -- ")
    if not re.fullmatch(r"node\d{1,9} -- [^\x00-\x1f]+ -- .+?( -- stage_id=\d+)?", line) or len(fields) > 4:
        fail(f"{where}: a node line reads: node4 -- ReLU -- forward_compute_time=0.5, ...; got {line!r}")
    values = {}
    for item in fields[2].split(", "):
        key, _, text = item.partition("=")
        if key not in FIELDS or key in values:
            fail(f'{where}: {key!r} is {"given twice" if key in values else "no attribute of a node"}')
        sizes = text[1:-1].split("; ") if key == "activation_size" and re.fullmatch(r"\[.+\]", text) else [text]
        values[key] = sum(exact(size, FIELDS[key], f"{where}: {key}") for size in sizes)
    if len(values) < len(FIELDS):
        fail(f"{where}: {', '.join(key for key in FIELDS if key not in values)} is missing")
    forward, backward, size, parameters = (values[key] for key in FIELDS)
    return Node(int(fields[0][4:]), fields[1].split("(")[0], forward, backward, size, size, parameters,
                re.fullmatch(r"Input\d*", fields[1]) is not None)


def read_pipedream(text):
    nodes, edges = {}, {}
    for place, line in enumerate(text.splitlines(), 1):
        where = f"line {place}"
        if line.startswith("\t"):
            edge = re.fullmatch(r"\tnode(\d+) -- node(\d+)", line)
            if edge is None:
                fail(f"{where}: an edge line reads: <TAB>node1 -- node2; got {line!r}")
            ends = int(edge[1]), int(edge[2])
            if ends in edges or ends[0] == ends[1]:
                fail(f"{where}: {'this edge appears twice' if ends in edges else f'node{ends[0]} depends on itself'}")
            edges[ends] = where
        elif line:
            node = pipedream_node(line, where)
            if node.number in nodes:
                fail(f"{where}: node{node.number} is described twice")
            nodes[node.number] = node
    for (source, target), where in edges.items():
        for end in (source, target):
            if end not in nodes:
                fail(f"{where}: no line describes node{end}")
        if nodes[target].is_input:
            fail(f"{where}: an edge leads into node{target}, which is an Input")
        nodes[source].readers.add(target)
    if not any(node.is_input for node in nodes.values()):
        fail("the graph has no Input node: it is not a whole graph.txt of PipeDream's profiler")
    return nodes


def pipedream_notes(nodes, order, text):
    inputs = [node for node in nodes.values() if node.is_input]
    lost = milliseconds(sum(node.forward for node in inputs))
    samples = [inputs[0].output // size for size in IMAGES if len(inputs) == 1 and inputs[0].output % size == 0]
    notes = [f"dropped {counted(len(inputs), 'Input node')}: {lost} of data loading, no part of the model",
             f"microbatch size {samples[0]} worked out from the Input's fp32 images" if samples
             else "microbatch size unknown: the file does not name it",
             "activations kept for backward are the sums of the layers' outputs, an upper bound"]
    if " -- stage_id=" in text:
        notes.append("stage_id fields are ignored: give --partition to cut the chain")
    first = next((node for node in order if node.takes_time()), None)
    for node in order:
        if node is first and node.forward > node.backward:
            notes.append(f"{node.times()} ran first: its forward time probably includes the libraries' warm-up")
        if node.takes_time() and node.parameters > 0 and node.backward < node.forward // 100:
            notes.append(f"{node.times()} has parameters and hardly any backward: the profiler missed it")
    return samples[0] if samples else None, notes


# --- dnn-partitioning and Piper ---------------------------------------------------------------------------------------


def amount(item, key, scale=1):
    value = item.get(key)
    if not isinstance(value, (int, float)) or not 0 <= value * scale <= MOST:
        fail(f'"{key}" of {item} must be a number of at least 0')
    return int(value * scale + 0.5)


def piper_node(item):
    ways = [way for way in item["TMPCs"].get("1", []) if way.get("id") == "vanilla"]
    if not ways:
        fail(f'there is no way to run node {item["id"]} on 1 device called "vanilla"')
    time = amount(ways[0], "timePerSample", 1e9)
    return Node(item["id"], item["name"], time // 3, time - time // 3, kept=amount(ways[0], "memoryUsageA"),
                parameters=amount(ways[0], "parameterSize"))


def read_json(graph):
    piper = "maxDevices" in graph
    if not piper and "maxFPGAs" not in graph:
        fail('neither "maxFPGAs" (dnn-partitioning) nor "maxDevices" (Piper) is there')
    nodes, backwards, classes = {}, set(), {}
    for item in graph["nodes"]:
        if item["id"] in nodes or item["id"] in backwards:
            fail(f"there is another node {item['id']}")
        if piper:
            nodes[item["id"]] = piper_node(item)
            continue
        time, back = amount(item, "fpgaLatency", 1e6), item["isBackwardNode"]
        classes.setdefault(item["colorClass"], ([], []))[back].append((item["id"], time))
        if back:
            backwards.add(item["id"])
        else:
            nodes[item["id"]] = Node(item["id"], forward=time, parameters=amount(item, "size"))
    for color, (ahead, back) in classes.items():
        if len(ahead) != 1 or len(back) != 1:
            fail(f"class {color} has {counted(len(ahead), 'forward node')} and {counted(len(back), 'backward node')}: "
                 "a training graph has one of each")
        nodes[ahead[0][0]].backward = back[0][1]
    for edge in graph["edges"]:
        ends = [edge["sourceId"], edge["destId"]]
        for end in ends:
            if end not in nodes and end not in backwards:
                fail(f"there is no node {end}")
        if backwards.isdisjoint(ends):  # else it mirrors one of the forward
            source = nodes[ends[0]]
            source.output = max(source.output, amount(edge, "communicationCost" if piper else "size"))
            source.readers.add(ends[1])
    read = set().union(*(node.readers for node in nodes.values()))
    for node in nodes.values():
        if piper:
            node.is_input = not node.takes_time() and node.parameters == 0 and node.number not in read
        else:
            node.kept, node.parameters = node.output, max(0, node.parameters - node.output)
    return nodes


# --- the chain --------------------------------------------------------------------------------------------------------


def execution_order(nodes):
    waiting = {number: 0 for number in nodes}
    for node in nodes.values():
        for reader in node.readers:
            waiting[reader] += 1
    ready = [number for number, count in waiting.items() if count == 0]
    heapq.heapify(ready)
    order = []
    while ready:
        order.append(nodes[heapq.heappop(ready)])
        for reader in order[-1].readers:
            waiting[reader] -= 1
            if waiting[reader] == 0:
                heapq.heappush(ready, reader)
    if len(order) < len(nodes):
        late = [f"node{number}" for number in sorted(number for number, count in waiting.items() if count > 0)]
        fail(f"nodes wait for each other: {', '.join(late[:8])}")
    return [node for node in order if not node.is_input]


def layers_of(order):
    """Lists of nodes: each begins with one that takes time, but the first may have others before it."""
    layers = []
    for node in order:
        if not layers or (node.takes_time() and any(one.takes_time() for one in layers[-1])):
            layers.append([])
        layers[-1].append(node)
    return layers


def chain_of(order):
    layers = layers_of(order)
    place = {node.number: k for k, nodes in enumerate(layers) for node in nodes}
    last = {node.number: max((place[reader] for reader in node.readers), default=0) for node in order}
    chain = []
    for k, nodes in enumerate(layers):
        name = f"node{nodes[0].number}" + (f"..node{nodes[-1].number}" if len(nodes) > 1 else "")
        layer = {"name": name, "kind": "+".join(node.kind for node in nodes if node.kind),
                 "forward": {"median_ns": sum(node.forward for node in nodes)},
                 "backward": {"median_ns": sum(node.backward for node in nodes)},
                 "activation_bytes": sum(node.kept for node in nodes),
                 "output_bytes": sum(node.output for node in order if place[node.number] <= k < last[node.number]),
                 "parameter_bytes": sum(node.parameters for node in nodes)}
        for value in layer.values():
            if (value.get("median_ns", 0) if isinstance(value, dict) else value if isinstance(value, int) else 0) > MOST:
                fail(f"the sums of layer {name} are too large")
        chain.append({key: value for key, value in layer.items() if value != ""})
    return chain


ORIGINS = {
    "pipedream": {
        "times": "measured", "memory": "modelled",
        "device": "V100 (the file does not name the GPU; the PipeDream paper profiles on V100)",
        "method": "PipeDream's profiler: one time per module and direction, of PyTorch modules run eagerly in fp32",
        "citation": "Narayanan et al., PipeDream: Generalized Pipeline Parallelism for DNN Training, SOSP 2019; graph.txt "
                    "of its profiler"},
    "dnn-partitioning": {
        "times": "published", "memory": "published",
        "device": "the file's accelerator (the files of the repository are PipeDream's profiles of V100)",
        "method": "input of dnn-partitioning: one time per node",
        "citation": "Tarnawski et al., Efficient Algorithms for Device Placement of DNN Graph Operators, NeurIPS 2020"},
    "piper": {
        "times": "published", "memory": "published",
        "device": "A100 (the file does not name the GPU; Piper's paper profiles on A100)",
        "method": "input of Piper: one time per layer",
        "citation": "Tarnawski, Narayanan, Phanishayee: Piper: Multidimensional Planner for DNN Parallelization, NeurIPS "
                    "2021"},
}
UNKNOWN = "microbatch size unknown, and 32-bit numbers assumed: the file names neither"
NOTES = {
    "dnn-partitioning": [UNKNOWN, "weights are what a node holds beside its largest output; CPU times are dropped"],
    "piper": [UNKNOWN, "forward is taken as a third of each time and backward as the rest: the file has their sum",
              "one device, not recomputed: tensor-parallel times and what they exchange are dropped",
              "memoryUsageB is dropped: gradients and optimizer follow from the weights, as in every profile"],
}


def model_of(path):
    """Of its folder, as in resnet50/graph.txt, or of its file."""
    path = pathlib.Path(path)
    return path.parent.name if path.name == "graph.txt" and path.parent.name not in ("", "..") else path.stem


def profile_of(text, path):
    graph = json.loads(text) if text.lstrip().startswith("{") else None
    tool = "pipedream" if graph is None else "piper" if "maxDevices" in graph else "dnn-partitioning"
    nodes = read_pipedream(text) if graph is None else read_json(graph)
    order = execution_order(nodes)
    if not order:
        fail("the graph has no layers")
    chain = chain_of(order)
    samples, notes = pipedream_notes(nodes, order, text) if graph is None else (None, list(NOTES[tool]))
    if len(chain) < len(order):
        notes.insert(1 if graph is None else 0, f"{counted(len(order), 'node')} make {counted(len(chain), 'layer')}: "
                                                "nodes that take no time stay with the layer before them")
    return {"schema": "debubble.profile/1", "model": model_of(path), "dtype": "fp32", "microbatch_size": samples,
            "sequence_length": None, "origin": {**ORIGINS[tool], "notes": "; ".join(notes)}, "layers": chain}


def text_of(profile):
    """A line for each member, and for each layer."""
    members = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in profile.items() if key != "layers"]
    layers = ",\n  ".join(json.dumps(layer) for layer in profile["layers"])
    return "{\n " + ",\n ".join([*members, f'"layers": [\n  {layers}]']) + "\n}"


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    print(text_of(profile_of(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"), sys.argv[1])))


if __name__ == "__main__":
    main()
