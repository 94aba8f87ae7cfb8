// HammingMesh: the share of its injection bandwidth that a uniform all-to-all reaches with half of the messages along
// the row first and half along the column, as counted independently of this code; its bound; and full rate for rings
// on any aligned rectangle of boards.
#include "sim/topologies/hxmesh.hpp"

#include "sim/topologies/catalog.hpp"
#include "tests/network/link_load.hpp"
#include "tests/support/test.hpp"

namespace debubble::testing {
namespace {

constexpr double kPortsPerDevice = 4;

bool is_device(const LinkGraph& graph, std::int32_t node) {
  return graph.nodes[static_cast<std::size_t>(node)].kind == GraphNode::Kind::kDevice;
}

// A link's place on its board, the same on all boards: both ends within it, or one end and which of its ports.
using Place = std::tuple<std::int32_t, std::int32_t, int>;

std::vector<Place> places_of(const LinkGraph& graph, std::int32_t board_size) {
  std::vector<Place> places;
  std::map<std::pair<std::int32_t, bool>, int> ports;
  for (const Link& link : graph.links) {
    const bool from = is_device(graph, link.from);
    const bool to = is_device(graph, link.to);
    if (from && to) {
      places.emplace_back(link.from % board_size, link.to % board_size, 0);
    } else if (from || to) {
      const std::int32_t device = from ? link.from : link.to;
      const int port = ports[{device, from}]++;
      places.emplace_back(from ? device % board_size : -1, from ? -1 : device % board_size, port);
    } else {
      places.emplace_back(-1, -1, 0);  // within a tree
    }
  }
  return places;
}

struct Loads {
  double port = 0;  // of the most loaded link between a device and a tree
  double mesh = 0;  // of the most loaded link between two devices
};

// Each device sends as much as its four ports carry, spread evenly over all others. Boards are alike: what the devices
// of board 0 put on a place of all boards is what all devices put on that place of one board.
Loads uniform_loads(const LinkGraph& graph, std::int32_t board_size) {
  const std::vector<Place> places = places_of(graph, board_size);
  std::map<Place, double> load;
  const double unit = kPortsPerDevice / (graph.device_count() - 1);
  for (std::int32_t from = 0; from < board_size; ++from) {
    for (std::int32_t to = 0; to < graph.device_count(); ++to) {
      for (const SplitRoute& route : hxmesh_minimal_routes(graph, from, to)) {
        for (const std::int32_t link : route.links) load[places[static_cast<std::size_t>(link)]] += unit * route.share;
      }
    }
  }
  Loads most;
  for (const auto& [place, sum] : load) {
    const bool mesh = std::get<0>(place) >= 0 && std::get<1>(place) >= 0;
    if (std::get<0>(place) < 0 && std::get<1>(place) < 0) continue;
    double& highest = mesh ? most.mesh : most.port;
    highest = std::max(highest, sum);
  }
  return most;
}

struct Golden {
  const char* name;
  std::int32_t board;   // devices along one side
  std::int32_t boards;  // along one side of the machine
  double saturates_at;  // share of the injection bandwidth
};

const std::vector<Golden> kGoldens{{"Hx1, 32 x 32", 1, 32, 0.5156}, {"Hx2, 4 x 4", 2, 4, 0.3281},
                                   {"Hx2, 16 x 16", 2, 16, 0.2664}, {"Hx4, 8 x 8", 4, 8, 0.1427},
                                   {"Hx2, 64 x 64", 2, 64, 0.2540}, {"Hx4, 32 x 32", 4, 32, 0.1290}};

LinkGraph square(std::int32_t board, std::int32_t boards, const std::string& more = "") {
  const std::string a = std::to_string(board);
  const std::string x = std::to_string(boards);
  return build_topology("hxmesh:a=" + a + ",b=" + a + ",x=" + x + ",y=" + x + more);
}

TEST_CASE("uniform traffic saturates HammingMesh at the published shares of injection") {
  for (const Golden& golden : kGoldens) {
    CAPTURE(golden.name);
    const LinkGraph graph = square(golden.board, golden.boards, ",wrap=0");
    const Loads loads = uniform_loads(graph, golden.board * golden.board);
    // The ports of the trees are the bottleneck, and four digits are given.
    CHECK(loads.mesh < loads.port);
    CHECK(std::round(1e4 / loads.port) == std::round(1e4 * golden.saturates_at));
    // Each packet leaves its board by a row port with probability 1 - 1/x, and there are 2a for a x a devices.
    const double bound = 1 / (2.0 * golden.board * (1 - 1.0 / golden.boards));
    CHECK(1 / loads.port <= bound);
    CHECK(1 / loads.port > 0.98 * bound);
  }
}

TEST_CASE("mesh links of HammingMesh carry 3 to 55 percent of what its tree ports carry") {
  const Loads hx2 = uniform_loads(square(2, 16, ",wrap=0"), 4);
  CHECK(std::round(100 * hx2.mesh / hx2.port) == 3);
  const Loads hx4 = uniform_loads(square(4, 8, ",wrap=0"), 16);
  CHECK(std::round(100 * hx4.mesh / hx4.port) == 55);
}

TEST_CASE("counting all senders gives what counting one board's does") {
  const LinkGraph graph = square(2, 4, ",wrap=0");
  std::vector<double> load(graph.links.size(), 0);
  double crossed = 0;
  for (std::int32_t from = 0; from < graph.device_count(); ++from) {
    for (std::int32_t to = 0; to < graph.device_count(); ++to) {
      double shares = 0;
      for (const SplitRoute& route : hxmesh_minimal_routes(graph, from, to)) {
        check_chain(graph, from, to, route.links);
        shares += route.share;
        crossed += route.share * static_cast<double>(route.links.size());
        for (const std::int32_t link : route.links) {
          load[static_cast<std::size_t>(link)] += kPortsPerDevice / 63 * route.share;
        }
      }
      CHECK(shares == doctest::Approx(1));
    }
  }
  const double most = *std::max_element(load.begin(), load.end());
  CHECK(std::round(1e4 / most) == 3281);
  double sum = 0;
  for (const double part : load) sum += part;
  CHECK(sum == doctest::Approx(crossed * kPortsPerDevice / 63));
}

TEST_CASE("the router's route is one of the minimal ones, and the shortest on square boards") {
  for (const std::string text : {"hxmesh:a=2,b=2,x=3,y=4", "hxmesh:a=3,b=3,x=2,y=2", "hxmesh:a=1,b=1,x=5,y=4",
                                 "hxmesh:a=4,b=4,x=1,y=1", "hxmesh:a=2,b=4,x=9,y=3,radix=8"}) {
    CAPTURE(text);
    const LinkGraph graph = build_topology(text);
    const std::shared_ptr<const Router> shortest = shortest_paths(graph);
    for (std::int32_t from = 0; from < graph.device_count(); ++from) {
      for (std::int32_t to = 0; to < graph.device_count(); ++to) {
        const std::vector<std::int32_t> route = checked_route(graph, from, to);
        const std::vector<SplitRoute> all = hxmesh_minimal_routes(graph, from, to);
        REQUIRE(std::any_of(all.begin(), all.end(), [&](const SplitRoute& one) { return one.links == route; }));
        std::vector<std::int32_t> best;
        shortest->route(from, to, best);
        REQUIRE(route.size() >= best.size());
        if (!contains(text, "radix")) REQUIRE(route.size() == best.size());
      }
    }
  }
}

// Rows of devices, each sending to its right neighbour, the last to the first: a ring in every row of a rectangle.
TEST_CASE("rings over the rows of an aligned rectangle of boards have every link to themselves") {
  for (const std::int32_t board : {1, 2, 4}) {
    const LinkGraph graph = square(board, 8);
    for (const std::int32_t first : {0, 2}) {
      CAPTURE(board);
      CAPTURE(first);
      const std::int32_t boards_in_row = 4;
      std::vector<int> flows(graph.links.size(), 0);
      for (std::int32_t board_row = first; board_row < first + 3; ++board_row) {
        for (std::int32_t row = 0; row < board; ++row) {
          const auto device = [&](std::int32_t k) {
            const std::int32_t column = k % (boards_in_row * board);
            const std::int32_t number = board_row * 8 + first + column / board;
            return number * board * board + row * board + column % board;
          };
          for (std::int32_t k = 0; k < boards_in_row * board; ++k) {
            for (const std::int32_t link : checked_route(graph, device(k), device(k + 1))) {
              ++flows[static_cast<std::size_t>(link)];
            }
          }
        }
      }
      CHECK(*std::max_element(flows.begin(), flows.end()) == 1);
    }
  }
}

TEST_CASE("rows of more ports than a switch has meet in a tree of two levels") {
  const LinkGraph graph = build_topology("hxmesh:a=1,b=1,x=1,y=64");
  // 128 ports on 4 leaves of 32, each with 32 uplinks; the one column's ports per device on a switch of its own.
  std::int32_t switches = 0;
  for (const GraphNode& node : graph.nodes) switches += node.kind == GraphNode::Kind::kSwitch ? 1 : 0;
  CHECK(switches == 4 + 32 + 64);
  CHECK(link_count(graph, 0, 1) == 2);   // ports 0..3 of leaf 0
  CHECK(link_count(graph, 0, 63) == 4);  // over a spine
  const LinkGraph tapered = build_topology("hxmesh:a=1,b=1,x=1,y=64,taper=2");
  double up = 0;
  for (const Link& link : tapered.links) {
    if (contains(tapered.nodes[static_cast<std::size_t>(link.to)].name, "spine")) {
      up += static_cast<double>(link.bandwidth);
    }
  }
  CHECK(up == 4 * 16 * 50e9);
}

TEST_CASE("a board alone is a torus: the tree joins its edges where that is shorter") {
  const LinkGraph wrapped = build_topology("hxmesh:a=8,b=8,x=1,y=1");
  CHECK(link_count(wrapped, 0, 7) == 2);
  CHECK(link_count(wrapped, 1, 6) == 4);
  CHECK(link_count(wrapped, 2, 6) == 4);  // as far either way: along the mesh
  const LinkGraph open = build_topology("hxmesh:a=8,b=8,x=1,y=1,wrap=0");
  CHECK(link_count(open, 0, 7) == 7);
}

}  // namespace
}  // namespace debubble::testing
