#!/usr/bin/env python3
"""traces/graphs/to_profile.py: small graphs whose numbers can be checked by hand, what it refuses, and PipeDream's own.

    layer_graphs_test.py ROOT BINARY
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT, BINARY = pathlib.Path(sys.argv.pop(1)).resolve(), str(pathlib.Path(sys.argv.pop(1)).resolve())
SCRIPT = ROOT / "traces/graphs/to_profile.py"
RECORDED = ROOT / "tests/planners/pipedream"


def node(number, kind, forward, backward, activation, parameters):
    return (f"node{number} -- {kind} -- forward_compute_time={forward}, backward_compute_time={backward}, "
            f"activation_size={activation}, parameter_size={parameters}\n")


# node1 Input -> 2 -> 3 -> 5 Concat -> 6;  2 -> 4 -> 5;  2 -> 6 (a skip edge); 7 hangs off 2 and nobody reads it.
BRANCHES = (node(3, "ReLU(inplace)", "0.500", "0.250", "30.000", "0.000")
            + node(1, "Input", "600.000", "0.000", "1204224.000", "0.000")
            + node(2, "Conv2d(3, 64, kernel_size=(3, 3))", "1.500", "3.000", "[20.0; 1.0]", "1000.000")
            + node(4, "MaxPool2d(kernel_size=3)", "0.000001", "2", "40", "0.0")
            + node(5, "Concat(1)", "0.000", "0.000", "70.000", "0.000")
            + node(6, "Linear(in_features=4)", "2.000", "4.000", "8.000", "500.000")
            + node(7, "__getitem__(1)", "0.000", "0.000", "1.000", "0.000")
            + "".join(f"\tnode{a} -- node{b}\n" for a, b in
                      ((1, 2), (2, 3), (2, 4), (3, 5), (4, 5), (5, 6), (2, 6), (2, 7))))


def training_node(number, time, back, color, size):
    return {"id": number, "name": "n", "supportedOnFpga": 1, "cpuLatency": 10, "fpgaLatency": time, "isBackwardNode": back,
            "colorClass": color, "size": size}


def training():
    return {"maxSizePerFPGA": 100, "maxFPGAs": 2, "maxCPUs": 1,
            "nodes": [training_node(1, 1.5, 0, 1, 30), training_node(2, 2, 0, 2, 7.0),
                      training_node(11, 3, 1, 1, 30), training_node(12, 4, 1, 2, 7)],
            "edges": [{"sourceId": 1, "destId": 2, "cost": 0.1, "size": 20},
                      {"sourceId": 12, "destId": 11, "cost": 0.1, "size": 20}]}


def piper():
    def way(time, kept, parameters):
        return {"1": [{"id": "vanilla", "timePerSample": time, "parameterSize": parameters, "memoryUsageA": kept,
                       "memoryUsageB": 9}]}
    return {"maxDevices": 2, "maxMemoryPerDevice": 100, "bandwidth": 1, "mbsInBatch": 4,
            "nodes": [{"id": 0, "name": "Data", "TMPCs": way(0, 0, 0)}, {"id": 1, "name": "A", "TMPCs": way(0.03, 50, 6)},
                      {"id": 2, "name": "B", "TMPCs": way(0.010000001, 60, 7)}],
            "edges": [{"sourceId": 0, "destId": 1, "communicationCost": 3},
                      {"sourceId": 1, "destId": 2, "communicationCost": 5}]}


class Graphs(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def convert(self, graph, name="g.txt"):
        file = self.path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(graph if isinstance(graph, str) else json.dumps(graph), encoding="utf-8")
        return subprocess.run([sys.executable, SCRIPT, file], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def profile(self, graph, name="g.txt"):
        done = self.convert(graph, name)
        self.assertEqual(done.stderr, "")
        (self.path / "p.json").write_text(done.stdout, encoding="utf-8")
        read = subprocess.run([BINARY, "simulate", "--profile", "p.json", "-p", "1", "-m", "2"], cwd=self.path,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.assertEqual((read.returncode, read.stderr), (0, ""))
        return json.loads(done.stdout)

    def refused(self, graph, said):
        done = self.convert(graph)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn(said, done.stderr)
        self.assertNotIn("Traceback", done.stderr)

    def test_nodes_become_layers_in_the_order_of_execution(self):
        layers = self.profile(BRANCHES)["layers"]
        self.assertEqual([layer["name"] for layer in layers], ["node2", "node3", "node4..node5", "node6..node7"])
        self.assertEqual([layer["kind"] for layer in layers],
                         ["Conv2d", "ReLU", "MaxPool2d+Concat", "Linear+__getitem__"])
        self.assertEqual([layer["forward"]["median_ns"] for layer in layers], [1500000, 500000, 1, 2000000])
        self.assertEqual([layer["backward"]["median_ns"] for layer in layers], [3000000, 250000, 2000000, 4000000])
        self.assertEqual([layer["activation_bytes"] for layer in layers], [21, 30, 110, 9])
        self.assertEqual([layer["parameter_bytes"] for layer in layers], [1000, 0, 0, 500])
        # node2's, though three nodes behind the cut read it; inside of the branches also node3's; the skip edge.
        self.assertEqual([layer["output_bytes"] for layer in layers], [21, 21 + 30, 21 + 70, 0])

    def test_notes_say_what_was_dropped_and_assumed(self):
        profile = self.profile(BRANCHES)
        self.assertEqual(profile["origin"]["notes"].split("; "), [
            "dropped 1 Input node: 600.000 ms of data loading, no part of the model",
            "6 nodes make 4 layers: nodes that take no time stay with the layer before them",
            "microbatch size 2 worked out from the Input's fp32 images",
            "activations kept for backward are the sums of the layers' outputs, an upper bound"])
        self.assertEqual(profile["microbatch_size"], 2)
        notes = self.profile(BRANCHES.replace("=1.500", "=22.316"))["origin"]["notes"]
        self.assertTrue(notes.endswith("node2 (Conv2d, forward 22.316 ms, backward 3.000 ms) ran first: its forward time "
                                       "probably includes the libraries' warm-up"))
        notes = self.profile(BRANCHES.replace("=4.000", "=0.019"))["origin"]["notes"]
        self.assertTrue(notes.endswith("has parameters and hardly any backward: the profiler missed it"))
        staged = self.profile(BRANCHES.replace("parameter_size=500.000", "parameter_size=500.000 -- stage_id=1"))
        self.assertIn("stage_id fields are ignored", staged["origin"]["notes"])
        self.assertEqual(staged["layers"], profile["layers"])

    def test_the_model_is_called_after_its_folder_or_its_file(self):
        for name, model in (("resnet50/graph.txt", "resnet50"), ("mine.txt", "mine"), ("mine", "mine")):
            self.assertEqual(self.profile(BRANCHES, name)["model"], model)

    def test_what_is_no_graph_is_refused_with_its_line(self):
        for old, new, said in (
                ("node4 -- MaxPool2d", "node4 MaxPool2d", "line 4: a node line reads"),
                ("node4 -- Max", "knot4 -- Max", "line 4: a node line reads"),
                ("parameter_size=500.000", "parameter_sise=500.000", "line 6: 'parameter_sise' is no attribute"),
                (", parameter_size=500.000", "", "line 6: parameter_size is missing"),
                ("=8.000, ", "=8.000, activation_size=8.000, ", "line 6: 'activation_size' is given twice"),
                ("=2.000", "=-2.000", 'line 6: forward_compute_time must be a decimal number like 12.345, at least 0'),
                ("=2.000", "=2e3", "must be a decimal number"), ("=2.000", "=nan", "must be a decimal number"),
                ("=2.000", "=0.0000001", "must be whole nanoseconds"), ("=8.000", "=8.5", "must be whole bytes"),
                ("=2.000", "=4503599627.370497", "of at most 4503599627370496"),
                ("[20.0; 1.0]", "[20.0; 1.0", "must be a decimal number"), ("[20.0; 1.0]", "[1;2]", "must be a decimal"),
                ("node5 -- node6", "node5", "line 13: an edge line reads"),
                ("node5 -- node6", "node5 -- node9", "line 13: no line describes node9"),
                ("node5 -- node6", "node5 -- node5", "line 13: node5 depends on itself"),
                ("node5 -- node6", "node2 -- node3", "line 13: this edge appears twice"),
                ("node5 -- node6", "node5 -- node1", "line 13: an edge leads into node1, which is an Input"),
                ("node5 -- node6", "node5 -- node3", "nodes wait for each other: node3, node5"),
                ("node6 -- Linear", "node3 -- Linear", "line 6: node3 is described twice"),
                ("node1 -- Input ", "node1 -- Inputs ", "the graph has no Input node"),
                ("=70.000", "=4503599627370496", "the sums of layer node4..node5 are too large")):
            self.assertIn(old, BRANCHES)
            self.refused(BRANCHES.replace(old, new), said)
        self.refused(node(1, "Input", 1, 0, 1, 0), "the graph has no layers")
        self.refused("", "the graph has no Input node")

    def test_pipedreams_graphs_are_converted_whole(self):
        """Sums that were added up independently."""
        for model, forward, backward, activation, parameters, samples in (
                ("alexnet", 44801000, 40520000, 1124573188, 244403360, 256),
                ("gnmt", 33533000, 55883000, 409159680, 775063808, None),
                ("resnet18", 107446000, 152296000, 8428429316, 46758048, 256),
                ("resnet50", 182488000, 260931000, 19231657988, 102228128, 128),
                ("squeezenet1_0", 113247000, 172119000, 12322177028, 4993696, 256),
                ("vgg16", 233902000, 438633000, 14682148868, 553430176, 128)):
            profile = self.profile((RECORDED / f"{model}.txt").read_text(encoding="utf-8"))
            found = [*(sum(layer[part]["median_ns"] for layer in profile["layers"]) for part in ("forward", "backward")),
                     *(sum(layer[part] for layer in profile["layers"]) for part in ("activation_bytes", "parameter_bytes")),
                     profile["microbatch_size"]]
            self.assertEqual(found, [forward, backward, activation, parameters, samples], model)
            if model == "gnmt":
                self.assertEqual(len(profile["layers"]), 17)
                lstm, dropout = profile["layers"][3:5]
                self.assertEqual(lstm["name"], "node7..node9")
                self.assertEqual(lstm["output_bytes"], 6291456)  # one item of the tuple: nobody reads the other
                self.assertEqual(dropout["output_bytes"], 2 * 6291456)  # the residual skips over the LSTM

    def test_a_forward_node_takes_the_time_of_its_backward_and_weights_are_what_it_holds_beside_its_output(self):
        layers = self.profile(training())["layers"]
        self.assertEqual([layer["forward"]["median_ns"] for layer in layers], [1500000, 2000000])
        self.assertEqual([layer["backward"]["median_ns"] for layer in layers], [3000000, 4000000])
        self.assertEqual([layer["output_bytes"] for layer in layers], [20, 0])
        self.assertEqual([layer["parameter_bytes"] for layer in layers], [10, 7])

    def test_of_pipers_times_a_third_is_forward_and_data_is_no_layer(self):
        layers = self.profile(piper())["layers"]
        self.assertEqual([layer["kind"] for layer in layers], ["A", "B"])
        self.assertEqual([layer["forward"]["median_ns"] for layer in layers], [10000000, 3333333])
        self.assertEqual([layer["backward"]["median_ns"] for layer in layers], [20000000, 6666668])
        self.assertEqual([layer["activation_bytes"] for layer in layers], [50, 60])
        self.assertEqual([layer["output_bytes"] for layer in layers], [5, 0])
        self.assertEqual([layer["parameter_bytes"] for layer in layers], [6, 7])

    def test_json_that_is_no_such_graph_is_refused(self):
        self.refused("{}", 'neither "maxFPGAs" (dnn-partitioning) nor "maxDevices" (Piper)')
        for change, said in ((lambda g: g["nodes"][0].update(fpgaLatency=-1), '"fpgaLatency" of'),
                             (lambda g: g["edges"][0].update(destId=9), "there is no node 9"),
                             (lambda g: g["nodes"][1].update(id=1), "there is another node 1"),
                             (lambda g: g["edges"].append({"sourceId": 2, "destId": 1, "size": 1}),
                              "nodes wait for each other: node1, node2"),
                             (lambda g: g["nodes"][3].update(colorClass=1),
                              "class 1 has 1 forward node and 2 backward nodes")):
            graph = training()
            change(graph)
            self.refused(graph, said)
        graph = piper()
        graph["nodes"][1]["TMPCs"] = {"2": []}
        self.refused(graph, 'there is no way to run node 1 on 1 device called "vanilla"')
        self.refused({"maxDevices": 2, "nodes": [], "edges": []}, "the graph has no layers")

    def test_dnn_partitionings_resnet50_is_pipedreams(self):
        """But that data loading is a node like any other, and that the last node's output counts as weights."""
        graph = json.loads((ROOT / "traces/graphs/resnet50_training.profile.json").read_text(encoding="utf-8"))["layers"]
        own = self.profile((RECORDED / "resnet50.txt").read_text(encoding="utf-8"))["layers"]
        self.assertEqual(len(graph), len(own) + 1)
        for ours, theirs in zip(own, graph[1:]):
            self.assertEqual(ours["output_bytes"], theirs["output_bytes"])
            self.assertEqual(ours["forward"], theirs["forward"])
            self.assertEqual(ours["backward"], theirs["backward"])
        loaded, scores = 128 * 3 * 224 * 224 * 4, 128 * 1000 * 4
        self.assertEqual(graph[0]["forward"]["median_ns"], 18962000)
        for part, more in (("activation_bytes", loaded - scores), ("parameter_bytes", scores)):
            self.assertEqual(sum(layer[part] for layer in graph), sum(layer[part] for layer in own) + more)

    def test_pipers_bert32_has_32_layers_of_30_ms_between_embedding_and_pooler(self):
        layers = json.loads((ROOT / "traces/graphs/bert32a100.profile.json").read_text(encoding="utf-8"))["layers"]
        self.assertEqual(len(layers), 33)
        self.assertEqual(sum(layer["forward"]["median_ns"] + layer["backward"]["median_ns"] for layer in layers), 972864000)
        self.assertEqual(sum(layer["parameter_bytes"] for layer in layers), 200824320 + 32 * 176997120 + 14749440)
        self.assertEqual(layers[1]["kind"], "ParallelTransformerLayer")
        self.assertEqual(layers[1]["activation_bytes"], 606478336)


if __name__ == "__main__":
    unittest.main()
