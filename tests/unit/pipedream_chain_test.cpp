// How a small graph becomes a chain; every number here can be checked by hand.
#include <doctest/doctest.h>

#include <string>

#include "formats/importers/pipedream.hpp"
#include "formats/profile/profile_json.hpp"
#include "tests/unit/problems_of.hpp"

namespace debubble {
namespace {

// node1 Input -> 2 -> 3 -> 5 Concat -> 6;  2 -> 4 -> 5;  2 -> 6 (a skip edge); 7 hangs off 2 and nobody reads it.
const std::string kBranches =
    "node3 -- ReLU(inplace) -- forward_compute_time=0.500, backward_compute_time=0.250, activation_size=30.000, "
    "parameter_size=0.000\n"
    "node1 -- Input -- forward_compute_time=600.000, backward_compute_time=0.000, activation_size=1204224.000, "
    "parameter_size=0.000\n"
    "node2 -- Conv2d(3, 64, kernel_size=(3, 3)) -- forward_compute_time=1.500, backward_compute_time=3.000, "
    "activation_size=[20.0; 1.0], parameter_size=1000.000\n"
    "node4 -- MaxPool2d(kernel_size=3) -- forward_compute_time=0.000001, backward_compute_time=2, activation_size=40, "
    "parameter_size=0.0\n"
    "node5 -- Concat(1) -- forward_compute_time=0.000, backward_compute_time=0.000, activation_size=70.000, "
    "parameter_size=0.000\n"
    "node6 -- Linear(in_features=4) -- forward_compute_time=2.000, backward_compute_time=4.000, activation_size=8.000, "
    "parameter_size=500.000\n"
    "node7 -- __getitem__(1) -- forward_compute_time=0.000, backward_compute_time=0.000, activation_size=1.000, "
    "parameter_size=0.000\n"
    "\tnode1 -- node2\n\tnode2 -- node3\n\tnode2 -- node4\n\tnode3 -- node5\n\tnode4 -- node5\n\tnode5 -- node6\n"
    "\tnode2 -- node6\n\tnode2 -- node7";

TEST_CASE("nodes become layers in the order of execution, timeless ones with the layer before them") {
  const PipedreamImport import = import_pipedream(kBranches, "profiles/tiny/graph.txt");
  CHECK(import.nodes_in_file == 7);
  CHECK(import.nodes_placed == 6);
  const std::vector<ProfileLayer>& layers = import.profile.layers;
  REQUIRE(layers.size() == 4);
  CHECK(layers[0].name == "node2");
  CHECK(layers[0].kind == "Conv2d");
  CHECK(layers[0].forward.median == 1'500'000);
  CHECK(layers[0].backward->median == 3'000'000);
  CHECK(layers[0].activation == 21);
  CHECK(layers[0].parameters == 1000);
  CHECK_FALSE(layers[0].input_grad);
  CHECK(layers[1].name == "node3");
  CHECK(layers[2].name == "node4..node5");
  CHECK(layers[2].kind == "MaxPool2d+Concat");
  CHECK(layers[2].forward.median == 1);  // 0.000001 ms, exactly
  CHECK(layers[2].activation == 110);
  CHECK(layers[3].name == "node6..node7");
  CHECK(layers[3].kind == "Linear+__getitem__");
}

TEST_CASE("a tensor crosses every boundary up to its last reader, once each") {
  const std::vector<ProfileLayer> layers = import_pipedream(kBranches, "g").profile.layers;
  CHECK(layers[0].output == 21);       // node2's, though three nodes behind the cut read it
  CHECK(layers[1].output == 21 + 30);  // a cut inside the branches: node2's for node4, node3's for the Concat
  CHECK(layers[2].output == 21 + 70);  // the skip edge to node6, and the Concat
  CHECK(layers[3].output == 0);        // nothing leaves the last layer
}

TEST_CASE("an import tells what it did and where the numbers come from") {
  const PipedreamImport import = import_pipedream(kBranches, "profiles/tiny/graph.txt");
  CHECK(import.notes ==
        std::vector<std::string>{"dropped 1 Input node: 600.000 ms of data loading, no part of the model",
                                 "6 nodes make 4 layers: nodes that take no time stay with the layer before them",
                                 "microbatch size 2 worked out from the Input's fp32 images",
                                 "activations kept for backward are the sums of the layers' outputs, an upper bound"});
  const ProfileOrigin& origin = import.profile.origin;
  CHECK(origin.times == Source::kMeasured);
  CHECK(origin.memory == Source::kModelled);
  CHECK(origin.device.find("V100") == 0);
  CHECK(import.profile.microbatch_size == 2);
  CHECK(import.profile.dtype == "fp32");
}

TEST_CASE("times that look wrong are kept and noted") {
  const std::string warm_up = test::replaced(kBranches, "forward_compute_time=1.500", "forward_compute_time=22.316");
  CHECK(import_pipedream(warm_up, "g").notes.back() ==
        "node2 (Conv2d, forward 22.316 ms, backward 3.000 ms) ran first: its forward time probably includes the "
        "libraries' warm-up");
  const std::string missed = test::replaced(kBranches, "backward_compute_time=4.000", "backward_compute_time=0.019");
  CHECK(
      import_pipedream(missed, "g").notes.back() ==
      "node6 (Linear, forward 2.000 ms, backward 0.019 ms) has parameters and hardly any backward: the profiler missed "
      "it");
  CHECK(import_pipedream(missed, "g").profile.layers[3].backward->median == 19'000);
}

TEST_CASE("the model is called after its folder or its file") {
  const auto model = [](const std::string& path) { return import_pipedream(kBranches, path).profile.model; };
  CHECK(model("a/resnet50/graph.txt") == "resnet50");
  CHECK(model("resnet50/graph.txt") == "resnet50");
  CHECK(model("graph.txt") == "graph");
  CHECK(model("../graph.txt") == "graph");
  CHECK(model("/graph.txt") == "graph");
  CHECK(model("a/mine.txt") == "mine");
  CHECK(model("mine") == "mine");
  CHECK(model("") == "pipedream");
  CHECK(model("\xFF.txt") == "pipedream");
}

TEST_CASE("CRLF, stage ids and blank lines change nothing but a note") {
  std::string text;
  for (const char character : kBranches) text += character == '\n' ? "\r\n" : std::string(1, character);
  CHECK(import_pipedream(text + "\r\n\r\n", "g").profile == import_pipedream(kBranches, "g").profile);
  const PipedreamImport staged = import_pipedream(
      test::replaced(kBranches, "parameter_size=500.000", "parameter_size=500.000 -- stage_id=1"), "g");
  CHECK(staged.profile.layers == import_pipedream(kBranches, "g").profile.layers);
  CHECK(staged.notes.back() == "stage_id fields are ignored: give --partition to cut the chain");
}

TEST_CASE("an import can be written and read back") {
  const Profile profile = import_pipedream(kBranches, "g").profile;
  CHECK(read_profile(write_profile(profile), "p") == profile);
}

}  // namespace
}  // namespace debubble
