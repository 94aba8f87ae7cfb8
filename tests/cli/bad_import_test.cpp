// Layer graphs that are none: refused with the exact words and the line.
#include <doctest/doctest.h>

#include "tests/cli/inputs.hpp"
#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

TEST_CASE("a graph that is cut off is refused") {
  const Folder folder;
  folder.write("g.txt", kGraph.substr(0, 140));
  CHECK(folder.refusal({"import", "--from", "pipedream", "g.txt"}) == R"(error[P005]: unknown attribute "for"
  --> g.txt:2
  = help: a node line reads: node4 -- ReLU -- forward_compute_time=0.5, backward_compute_time=0.9, activation_size=4.0, parameter_size=0.0
error[P006]: forward_compute_time is missing
  --> g.txt:2
  = help: a node line reads: node4 -- ReLU -- forward_compute_time=0.5, backward_compute_time=0.9, activation_size=4.0, parameter_size=0.0
error[P006]: backward_compute_time is missing
  --> g.txt:2
  = help: a node line reads: node4 -- ReLU -- forward_compute_time=0.5, backward_compute_time=0.9, activation_size=4.0, parameter_size=0.0
error[P006]: activation_size is missing
  --> g.txt:2
  = help: a node line reads: node4 -- ReLU -- forward_compute_time=0.5, backward_compute_time=0.9, activation_size=4.0, parameter_size=0.0
error[P006]: parameter_size is missing
  --> g.txt:2
  = help: a node line reads: node4 -- ReLU -- forward_compute_time=0.5, backward_compute_time=0.9, activation_size=4.0, parameter_size=0.0
5 errors
)");
  folder.write("h.txt", kGraph.substr(0, kGraph.size() - 3));
  CHECK(folder.refusal({"import", "--from", "pipedream", "h.txt"}) == R"(error[G002]: not an edge: "node1 -- nod"
  --> h.txt:3
  = help: an edge line reads: <TAB>node1 -- node2
)");
  folder.write("e.txt", "");
  CHECK(folder.refusal({"import", "--from", "pipedream", "e.txt"}) == R"(error[P016]: the graph has no layers
  --> e.txt
  = help: is this a graph.txt of PipeDream's profiler?
)");
}

TEST_CASE("wrong times in a graph are refused") {
  const Folder folder;
  folder.write("g.txt", replaced(kGraph, "=0.500", "=-0.500"));
  CHECK(folder.refusal({"import", "--from", "pipedream", "g.txt"}) ==
        R"(error[P004]: forward_compute_time must be a decimal number of milliseconds, at least 0; got "-0.500"
  --> g.txt:2
  = help: durations and sizes are never negative
)");
  folder.write("n.txt", replaced(kGraph, "=0.500", "=nan"));
  CHECK(folder.refusal({"import", "--from", "pipedream", "n.txt"}) ==
        R"(error[P007]: forward_compute_time must be a decimal number of milliseconds; got "nan"
  --> n.txt:2
  = help: numbers read 12.345, without exponent
)");
  folder.write("b.txt", replaced(kGraph, "=0.500", "=99999999999999"));
  CHECK(folder.refusal({"import", "--from", "pipedream", "b.txt", "-o", "out.json"}) ==
        R"(error[P004]: forward_compute_time is too large: "99999999999999" milliseconds
  --> b.txt:2
  = help: the largest is 4503599627370496 whole nanoseconds
)");
}

TEST_CASE("unknown and missing attributes are refused") {
  const Folder folder;
  folder.write("g.txt", replaced(kGraph, "parameter_size=32.000", "parameter_sise=32.000"));
  CHECK(folder.refusal({"import", "--from", "pipedream", "g.txt"}) == R"(error[P005]: unknown attribute "parameter_sise"
  --> g.txt:2
  = help: did you mean parameter_size?
error[P006]: parameter_size is missing
  --> g.txt:2
  = help: a node line reads: node4 -- ReLU -- forward_compute_time=0.5, backward_compute_time=0.9, activation_size=4.0, parameter_size=0.0
2 errors
)");
}

TEST_CASE("edges to nowhere and cycles are refused") {
  const Folder folder;
  folder.write("g.txt", replaced(kGraph, "\tnode1 -- node2", "\tnode1 -- node7"));
  CHECK(folder.refusal({"import", "--from", "pipedream", "g.txt"}) == R"(error[G014]: no line describes node7
  --> g.txt:3
  = help: add the node's line or remove the edge
)");
  folder.write("c.txt", kGraph + "\tnode2 -- node2\n");
  CHECK(folder.refusal({"import", "--from", "pipedream", "c.txt"}) == R"(error[G014]: node2 depends on itself
  --> c.txt:4
  = help: remove the edge
)");
}

TEST_CASE("a profile is not a graph") {
  const Folder folder;
  folder.write("p.json", "{\"schema\": \"debubble.profile/1\"}\n");
  CHECK(folder.refusal({"import", "--from", "pipedream", "p.json"}) ==
        R"(error[P010]: this is a profile of layer times, which debubble import --from pipedream does not take
  --> p.json
  = help: `debubble simulate --profile p.json` reads it; debubble import --from pipedream takes: files the tool wrote; traces: one per rank
)");
}

}  // namespace
}  // namespace debubble::testing
