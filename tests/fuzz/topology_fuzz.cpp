// Clusters: whatever the bytes, the reader of topology files throws InputError or gives a graph that survives being
// written and read again, with whole routes; and so does the text of --topology, which the first byte chooses.
#include "formats/topology/topology_file.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

using namespace debubble;
using namespace debubble::fuzz;

std::string written(const LinkGraph& graph) {
  std::string text;
  write_topology(graph, [&](std::string_view piece) { text += piece; });
  return text;
}

// From the first device to some others and back.
void check_routes(const LinkGraph& graph) {
  constexpr std::int32_t kEnough = 16;
  for (std::int32_t other = 0; other < std::min(graph.device_count(), kEnough); ++other) {
    for (const bool back : {false, true}) {
      const std::int32_t from = back ? other : 0;
      const std::int32_t to = back ? 0 : other;
      std::vector<std::int32_t> links;
      graph.router->route(from, to, links);
      std::int32_t at = graph.devices[static_cast<std::size_t>(from)];
      for (const std::int32_t number : links) {
        const Link& link = graph.links[static_cast<std::size_t>(number)];
        require(link.from == at);
        at = link.to;
      }
      require(at == graph.devices[static_cast<std::size_t>(to)]);
    }
  }
}

void check_file(std::string_view text) {
  const LinkGraph graph = read_topology(text, "fuzz").graph;
  check_routes(graph);
  if (graph.links.size() > 10'000) return;  // a preset's name makes a large file from few bytes
  const std::string once = written(graph);
  require(written(read_topology(once, "fuzz").graph) == once);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    if (text.starts_with('{')) {
      check_file(text);
    } else {
      check_routes(build_topology(text));
    }
  } catch (const InputError& error) {
    check_refusal(error);
  }
  return 0;
}
