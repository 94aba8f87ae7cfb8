#include <doctest/doctest.h>

#include <string>

#include "formats/importers/pipedream.hpp"
#include "tests/unit/problems_of.hpp"

namespace debubble {
namespace {

using test::replaced;

const std::string kGood =
    "node1 -- Input -- forward_compute_time=9.000, backward_compute_time=0.000, activation_size=64.000, "
    "parameter_size=0.000\n"
    "node2 -- Conv2d(3, 4) -- forward_compute_time=1.250, backward_compute_time=2.500, activation_size=[20.0; 4.0], "
    "parameter_size=100.000\n"
    "node3 -- ReLU -- forward_compute_time=0.125, backward_compute_time=0.750, activation_size=30.000, "
    "parameter_size=8.000\n"
    "\tnode1 -- node2\n"
    "\tnode2 -- node3\n";

std::string complaint(const std::string& text) {
  return test::problems_of([&] { (void)import_pipedream(text, "graph.txt"); });
}
std::string complaint_after(const std::string& from, const std::string& to) {
  return complaint(replaced(kGood, from, to));
}

const std::string kLineHelp =
    "  = help: a node line reads: node4 -- ReLU -- forward_compute_time=0.5, backward_compute_time=0.9, "
    "activation_size=4.0, parameter_size=0.0\n";

TEST_CASE("a line that is neither node nor edge is refused") {
  CHECK(complaint(kGood).empty());
  CHECK(complaint_after("node3 -- ReLU --", "node3 ReLU") ==
        "error[G002]: a node has a name, a description and its attributes; got 1 field\n  --> graph.txt:3\n" +
            kLineHelp);
  CHECK(complaint_after("node3 -- ReLU --", "node3 -- ReLU -- x -- y --").find("got 5 fields") != std::string::npos);
  CHECK(complaint_after("parameter_size=8.000", "parameter_size=8.000 -- stage_id=").find("error[G002]") == 0);
  CHECK(complaint_after("node3 -- ReLU", "knot3 -- ReLU")
            .find("error[G002]: not a node's name: \"knot3\"\n  --> graph.txt:3\n"
                  "  = help: nodes are called node1, node2, ...\n") == 0);
  for (const char* name : {"node -- ReLU", "node03 -- ReLU", "node-3 -- ReLU", "node9999999999 -- ReLU"}) {
    CHECK(complaint_after("node3 -- ReLU", name).find("error[G002]") == 0);
  }
  CHECK(
      complaint_after("ReLU", "Re\x1bLU") ==
      "error[G024]: a control character in the description \"Re\\u001bLU\"\n  --> graph.txt:3\n  = help: remove it\n");
  CHECK(complaint_after("ReLU", "Re\xFFLU") ==
        "error[P002]: not UTF-8 text\n  --> graph.txt:3:12\n"
        "  = help: PipeDream's graph.txt is plain text; is this the right file?\n");
}

TEST_CASE("attributes must be the four known ones, once each") {
  CHECK(complaint_after("forward_compute_time=0.125", "forward_compute_tme=0.125") ==
        "error[P005]: unknown attribute \"forward_compute_tme\"\n  --> graph.txt:3\n"
        "  = help: did you mean forward_compute_time?\n"
        "error[P006]: forward_compute_time is missing\n  --> graph.txt:3\n" +
            kLineHelp);
  CHECK(complaint_after(", parameter_size=8.000", ", parameter_size=8.000, parameter_size=8.000") ==
        "error[P003]: parameter_size appears twice\n  --> graph.txt:3\n  = help: keep one of the two\n");
  CHECK(complaint_after(", parameter_size=8.000", "") ==
        "error[P006]: parameter_size is missing\n  --> graph.txt:3\n" + kLineHelp);
  CHECK(complaint_after("parameter_size=8.000", "parameter_size").find("error[P005]: unknown attribute") == 0);
}

TEST_CASE("numbers are decimal, not negative, exact and not too large") {
  const std::string place = "  --> graph.txt:3\n";
  const auto time = [](const std::string& text) { return complaint_after("time=0.125", "time=" + text); };
  const std::string must = "forward_compute_time must be a decimal number of milliseconds";
  for (const char* text : {"", ".", "1.", ".5", "1e3", "nan", "inf", "0x1", "1,5", "1.2.3", "--1", "+1", " 1", "1_0"}) {
    const std::string found = time(text);
    CAPTURE(text);
    CHECK((found.find("error[P007]: " + must) == 0 || found.find("error[P005]: unknown attribute \"5\"") == 0));
  }
  CHECK(time("1e3") ==
        "error[P007]: " + must + "; got \"1e3\"\n" + place + "  = help: numbers read 12.345, without exponent\n");
  CHECK(time("-0.125") == "error[P004]: " + must + ", at least 0; got \"-0.125\"\n" + place +
                              "  = help: durations and sizes are never negative\n");
  CHECK(time("0.0000001") == "error[P004]: " + must + " that makes whole nanoseconds; got \"0.0000001\"\n" + place +
                                 "  = help: give fewer decimal places\n");
  CHECK(time("0.000001000").empty());
  CHECK(time("4503599627.370497") ==
        "error[P004]: forward_compute_time is too large: \"4503599627.370497\" milliseconds\n" + place +
            "  = help: the largest is 4503599627370496 whole nanoseconds\n");
  CHECK(time("99999999999999999999999").find("error[P004]") == 0);
  CHECK(time("4503599627.370496").empty());
  CHECK(complaint_after("size=8.000", "size=8.500")
            .find("error[P004]: parameter_size must be a decimal number of bytes that "
                  "makes whole bytes; got \"8.500\"") == 0);
}

TEST_CASE("lists of sizes are whole") {
  const auto list = [](const std::string& text) { return complaint_after("[20.0; 4.0]", text); };
  CHECK(list("[20.0; 4.0") ==
        "error[G002]: activation_size begins a list that does not end: \"[20.0; 4.0\"\n  --> graph.txt:2\n"
        "  = help: lists read [6291456.0; 131072.0]\n");
  CHECK(list("[]").find("error[G002]") == 0);
  CHECK(list("[1;2]").find("error[P007]") == 0);
  CHECK(list("[1; ]").find("error[P007]") == 0);
  CHECK(list("[4503599627370496; 1]")
            .find("error[P004]: activation_size is too large: \"[4503599627370496; 1]\" bytes\n") == 0);
  CHECK(complaint_after("backward_compute_time=0.750", "backward_compute_time=[0.5; 0.25]").find("error[P007]") == 0);
}

TEST_CASE("edges join two different known nodes, once") {
  const auto edge = [](const std::string& line) { return complaint(kGood + line); };
  CHECK(edge("\tnode1\n") ==
        "error[G002]: not an edge: \"node1\"\n  --> graph.txt:6\n"
        "  = help: an edge line reads: <TAB>node1 -- node2\n");
  CHECK(edge("\tnode1 -- node2 -- node3\n").find("error[G002]") == 0);
  CHECK(edge("\tnode1 -- two\n").find("error[G002]") == 0);
  CHECK(edge("\tnode3 -- node8\n") ==
        "error[G014]: no line describes node8\n  --> graph.txt:6\n"
        "  = help: add the node's line or remove the edge\n");
  CHECK(edge("\tnode8 -- node9\n").find("node8\n") < edge("\tnode8 -- node9\n").find("node9\n"));
  CHECK(edge("\tnode2 -- node2\n") ==
        "error[G014]: node2 depends on itself\n  --> graph.txt:6\n  = help: remove the edge\n");
  CHECK(edge("\tnode1 -- node2\n") ==
        "error[G004]: this edge appears twice: node1 -- node2\n  --> graph.txt:6\n"
        "  = help: keep one of the two lines\n");
  CHECK(edge("\tnode3 -- node1\n") ==
        "error[G014]: an edge leads into node1, which is an Input\n  --> graph.txt:6\n"
        "  = help: inputs are sources: turn the edge round or remove it\n");
}

TEST_CASE("a node is described once") {
  CHECK(complaint(kGood + replaced(kGood.substr(0, kGood.find('\n') + 1), "node1 -- Input", "node3 -- ReLU")) ==
        "error[G004]: node3 is described twice, first in line 3\n  --> graph.txt:6\n"
        "  = help: keep one of the two lines\n");
}

TEST_CASE("a cycle is named") {
  const std::string help = "  = help: a layer graph has no cycles; remove an edge\n";
  CHECK(complaint(kGood + "\tnode3 -- node2\n") ==
        "error[G017]: the nodes wait for each other: node2 -> node3 -> node2\n  --> graph.txt:2\n" + help);
  // A node that only waits for the cycle is not on it.
  const std::string line = kGood.substr(0, kGood.find('\n') + 1);
  std::string text = kGood;
  for (const char* node : {"node4 -- A", "node5 -- B", "node6 -- C"}) text += replaced(line, "node1 -- Input", node);
  text += "\tnode3 -- node5\n\tnode5 -- node6\n\tnode6 -- node5\n\tnode6 -- node4\n";
  CHECK(complaint(text) ==
        "error[G017]: the nodes wait for each other: node5 -> node6 -> node5\n  --> graph.txt:7\n" + help);
}

TEST_CASE("a graph has layers and an Input") {
  CHECK(complaint("") ==
        "error[P016]: the graph has no layers\n  --> graph.txt\n"
        "  = help: is this a graph.txt of PipeDream's profiler?\n");
  CHECK(complaint(kGood.substr(0, kGood.find('\n'))).find("error[P016]") == 0);
  CHECK(complaint_after("node1 -- Input --", "node1 -- Inputs --") ==
        "error[P006]: the graph has no Input node\n  --> graph.txt\n"
        "  = help: PipeDream's profiler writes one, as in: node1 -- Input -- ...; without it the file is not whole\n");
  CHECK(complaint_after("node1 -- Input --", "node1 -- Input12 --").empty());
}

TEST_CASE("sums that overflow are refused") {
  std::string text = replaced(kGood, "[20.0; 4.0]", "4503599627370496.0");
  text = replaced(text, "activation_size=30.000", "activation_size=1");
  CHECK(complaint(text).empty());
  const std::string line = kGood.substr(0, kGood.find('\n') + 1);
  const std::string fourth = replaced(line, "node1 -- Input", "node4 -- Add") + "\tnode2 -- node4\n\tnode3 -- node4\n";
  CHECK(complaint(text + fourth) ==
        "error[X001]: the tensors that cross the boundary after this node are too large together\n  --> graph.txt:3\n"
        "  = help: the largest sum is 4503599627370496 bytes\n");
  const std::string view = replaced(replaced(line, "node1 -- Input", "node4 -- View"), "forward_compute_time=9.000",
                                    "forward_compute_time=0.000");
  CHECK(complaint(replaced(text, "activation_size=1,", "activation_size=4503599627370490,") + view +
                  "\tnode3 -- node4\n") ==
        "error[X001]: the layer that ends with this node is too large\n  --> graph.txt:6\n"
        "  = help: no sum of a layer may be beyond 4503599627370496\n");
}

TEST_CASE("all problems of the lines are reported at once, and an edge to a broken node is not another one") {
  std::string text = replaced(kGood, "time=0.125", "time=x");
  text = replaced(text, "parameter_size=100.000", "parameter_size=-1");
  const std::string all = complaint(text + "\tnode7 -- node8\n");
  CHECK(all.find("error[P004]") < all.find("error[P007]"));
  CHECK(all.find("error[P007]") < all.find("no line describes node7"));
  CHECK(all.find("no line describes node8") != std::string::npos);
  CHECK(all.find("no line describes node3") == std::string::npos);
}

TEST_CASE("a graph too large for a profile is refused") {
  std::string text = kGood;
  for (int k = 4; k < 100'010; ++k) {
    text += "node" + std::to_string(k) +
            " -- A -- forward_compute_time=1.0, backward_compute_time=1.0, activation_size=1.0, parameter_size=1.0\n";
  }
  CHECK(complaint(text) ==
        "error[P017]: more than 100000 nodes\n  --> graph.txt\n  = help: no model has that many layers\n");
}

}  // namespace
}  // namespace debubble
