#include "sim/topologies/hxmesh.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <utility>

#include "sim/core/at.hpp"
#include "sim/topologies/presets.hpp"

namespace debubble {

namespace {

constexpr std::size_t kSides = 4;  // W, E, N, S: dimension * 2 + (1 where the coordinate grows)

// Links by where they are; -1: there is none.
struct HxMeshLinks {
  std::vector<std::array<std::int32_t, kSides>> mesh;    // by device and side: to the neighbour on the board
  std::vector<std::array<std::int32_t, kSides>> port;    // to the tree; the next number is the link back
  std::array<std::vector<std::int32_t>, 2> first_inner;  // by dimension and tree: leaf 0 to spine 0
};

struct Coordinates {
  std::array<std::int32_t, 2> board{};
  std::array<std::int32_t, 2> place{};  // on the board
};

Coordinates coordinates_of(const HxMeshShape& shape, std::int32_t device) {
  const std::int32_t board = device / (shape.length[0] * shape.length[1]);
  const std::int32_t place = device % (shape.length[0] * shape.length[1]);
  return {{board % shape.boards[0], board / shape.boards[0]}, {place % shape.length[0], place / shape.length[0]}};
}

std::int32_t device_at(const HxMeshShape& shape, const Coordinates& at) {
  const std::int32_t board = at.board[1] * shape.boards[0] + at.board[0];
  return (board * shape.length[1] + at.place[1]) * shape.length[0] + at.place[0];
}

// The row or column of devices that a tree serves.
std::int32_t board_line(const HxMeshShape& shape, const Coordinates& at, std::size_t dimension) {
  const std::size_t other = 1 - dimension;
  return at.board.at(other) * shape.length.at(other) + at.place.at(other);
}

// What a route is free to choose.
struct RouteChoice {
  bool column_first = false;
  bool leave_high = false;  // where both edges are equally near: the one at the larger coordinate
  bool enter_high = false;
};

class HxMeshRouter final : public Router {
 public:
  HxMeshRouter(const HxMeshShape& shape, HxMeshLinks links) : shape_(shape), links_(std::move(links)) {}

  void route(std::int32_t from, std::int32_t to, std::vector<std::int32_t>& links) const override {
    const std::int32_t sum = from + to;
    route(from, to, {(sum & 1) != 0, (sum & 2) != 0, (sum & 4) != 0}, links);
  }

  void route(std::int32_t from, std::int32_t to, RouteChoice choice, std::vector<std::int32_t>& links) const {
    Coordinates at = coordinates_of(shape_, from);
    const Coordinates target = coordinates_of(shape_, to);
    const std::size_t first = choice.column_first ? 1 : 0;
    go(at, target, first, choice, links);
    go(at, target, 1 - first, choice, links);
  }

  [[nodiscard]] std::vector<SplitRoute> minimal_routes(std::int32_t from, std::int32_t to) const {
    std::vector<SplitRoute> routes;
    const bool ties = shape_.length[0] % 2 == 1 || shape_.length[1] % 2 == 1;
    for (int k = 0; k < (ties ? 8 : 2); ++k) {
      SplitRoute& one = routes.emplace_back(SplitRoute{ties ? 0.125 : 0.5, {}});
      route(from, to, {(k & 1) != 0, (k & 2) != 0, (k & 4) != 0}, one.links);
    }
    return routes;
  }

 private:
  void go(Coordinates& at, const Coordinates& target, std::size_t dimension, RouteChoice choice,
          std::vector<std::int32_t>& links) const {
    const std::int32_t length = shape_.length.at(dimension);
    std::int32_t& place = at.place.at(dimension);
    const std::int32_t goal = target.place.at(dimension);
    if (at.board.at(dimension) == target.board.at(dimension)) {
      const bool up = goal > place;
      const std::int32_t around = tree_links(at, dimension, up ? 0 : 1, up ? 1 : 0) +
                                  (up ? place + length - 1 - goal : length - 1 - place + goal);
      if (!shape_.wrap || around >= std::abs(goal - place)) {
        walk(at, dimension, goal, links);
      } else {
        through_tree(at, target, dimension, up ? 0 : 1, up ? 1 : 0, links);
      }
    } else {
      through_tree(at, target, dimension, nearest_edge(place, length, choice.leave_high),
                   nearest_edge(goal, length, choice.enter_high), links);
    }
  }

  static std::int32_t nearest_edge(std::int32_t place, std::int32_t length, bool high_on_tie) {
    const std::int32_t low = place;
    const std::int32_t high = length - 1 - place;
    return low == high ? (high_on_tie ? 1 : 0) : (low < high ? 0 : 1);
  }

  // Along the mesh of the board.
  void walk(Coordinates& at, std::size_t dimension, std::int32_t goal, std::vector<std::int32_t>& links) const {
    std::int32_t& place = at.place.at(dimension);
    while (place != goal) {
      const bool up = goal > place;
      links.push_back(links_.mesh[index(device_at(shape_, at))].at(dimension * 2 + (up ? 1 : 0)));
      place += up ? 1 : -1;
    }
  }

  // A board's ports on the tree of a line: its low edge, then its high one.
  [[nodiscard]] std::int32_t leaf_of(std::int32_t board, std::int32_t edge, std::size_t dimension) const {
    return shape_.leaves(dimension) == 1 ? 0 : (2 * board + edge) / (shape_.radix / 2);
  }

  // Links of the route through the tree and back to the same board.
  [[nodiscard]] std::int32_t tree_links(const Coordinates& at, std::size_t dimension, std::int32_t leave,
                                        std::int32_t enter) const {
    const std::int32_t board = at.board.at(dimension);
    return leaf_of(board, leave, dimension) == leaf_of(board, enter, dimension) ? 2 : 4;
  }

  // To the edge `leave` of the board, through the tree, in at the edge `enter` of the target's board, to its place.
  void through_tree(Coordinates& at, const Coordinates& target, std::size_t dimension, std::int32_t leave,
                    std::int32_t enter, std::vector<std::int32_t>& links) const {
    const std::int32_t last = shape_.length.at(dimension) - 1;
    walk(at, dimension, leave == 0 ? 0 : last, links);
    links.push_back(links_.port[index(device_at(shape_, at))].at(dimension * 2 + index(leave)));
    const std::int32_t near = leaf_of(at.board.at(dimension), leave, dimension);
    const std::int32_t far = leaf_of(target.board.at(dimension), enter, dimension);
    if (near != far) {
      const std::int32_t first = links_.first_inner.at(dimension)[index(board_line(shape_, at, dimension))];
      const std::int32_t spine = (2 * target.board.at(dimension) + enter) % shape_.leaf_uplinks;
      links.push_back(first + 2 * (near * shape_.leaf_uplinks + spine));
      links.push_back(first + 2 * (far * shape_.leaf_uplinks + spine) + 1);
    }
    at.board.at(dimension) = target.board.at(dimension);
    at.place.at(dimension) = enter == 0 ? 0 : last;
    links.push_back(links_.port[index(device_at(shape_, at))].at(dimension * 2 + index(enter)) + 1);
    walk(at, dimension, target.place.at(dimension), links);
  }

  static std::size_t index(std::int32_t number) { return static_cast<std::size_t>(number); }

  HxMeshShape shape_;
  HxMeshLinks links_;
};

void add_mesh(GraphBuilder& builder, const HxMeshShape& shape, LinkSpeed speed, HxMeshLinks& links) {
  for (std::int32_t device = 0; device < shape.devices(); ++device) {
    const Coordinates at = coordinates_of(shape, device);
    for (std::size_t dimension = 0; dimension < 2; ++dimension) {
      if (at.place.at(dimension) + 1 == shape.length.at(dimension)) continue;
      Coordinates next = at;
      ++next.place.at(dimension);
      const std::int32_t neighbour = device_at(shape, next);
      const std::int32_t link = builder.connect(device, neighbour, speed);
      links.mesh[to_index(device)].at(dimension * 2 + 1) = link;
      links.mesh[to_index(neighbour)].at(dimension * 2) = link + 1;
    }
  }
}

// The tree of one row or column, and its links to the edges of the boards.
void add_tree(GraphBuilder& builder, const HxMeshShape& shape, std::size_t dimension, std::int32_t line,
              const PresetValues& values, HxMeshLinks& links) {
  const std::size_t other = 1 - dimension;
  const std::string name = (dimension == 0 ? "row" : "column") + std::to_string(line);
  std::vector<std::int32_t> leaves;
  for (std::int32_t k = 0; k < shape.leaves(dimension); ++k) {
    leaves.push_back(builder.add_node(GraphNode::Kind::kSwitch,
                                      shape.leaves(dimension) == 1 ? name : name + ".leaf" + std::to_string(k)));
  }
  Coordinates at;
  at.board.at(other) = line / shape.length.at(other);
  at.place.at(other) = line % shape.length.at(other);
  for (std::int32_t board = 0; board < shape.boards.at(dimension); ++board) {
    at.board.at(dimension) = board;
    for (std::int32_t edge = 0; edge < 2; ++edge) {
      at.place.at(dimension) = edge == 0 ? 0 : shape.length.at(dimension) - 1;
      const std::int32_t device = device_at(shape, at);
      const std::size_t leaf =
          leaves.size() == 1 ? 0 : static_cast<std::size_t>((2 * board + edge) / (shape.radix / 2));
      links.port[to_index(device)].at(dimension * 2 + static_cast<std::size_t>(edge)) =
          builder.connect(device, leaves[leaf], values.speed("bandwidth", "latency"));
    }
  }
  links.first_inner.at(dimension).push_back(static_cast<std::int32_t>(builder.graph().links.size()));
  if (leaves.size() == 1) return;
  std::vector<std::int32_t> spines;
  for (std::int32_t k = 0; k < shape.leaf_uplinks; ++k) {
    spines.push_back(builder.add_node(GraphNode::Kind::kSwitch, name + ".spine" + std::to_string(k)));
  }
  const std::int64_t uplinks = scaled_rate(values["bandwidth"], shape.radix / 2, values["taper"]);
  for (const std::int32_t leaf : leaves) {
    for (const std::int32_t spine : spines) {
      builder.connect(leaf, spine, {std::max<std::int64_t>(1, uplinks / shape.leaf_uplinks), values["latency"]});
    }
  }
}

LinkGraph build_hxmesh(const PresetValues& values) {
  HxMeshShape shape;
  shape.length = {values.count("b"), values.count("a")};
  shape.boards = {values.count("y"), values.count("x")};
  check_devices(values, values["a"] * values["b"] * values["x"] * values["y"]);
  shape.radix = values.count("radix");
  shape.leaf_uplinks =
      static_cast<std::int32_t>((std::int64_t{shape.radix / 2} * 1000 + values["taper"] - 1) / values["taper"]);
  shape.wrap = values["wrap"] != 0;
  GraphBuilder builder;
  for (std::int32_t k = 0; k < shape.devices(); ++k) builder.add_device(k / (shape.length[0] * shape.length[1]));
  HxMeshLinks links;
  const auto devices = static_cast<std::size_t>(shape.devices());
  links.mesh.assign(devices, {-1, -1, -1, -1});
  links.port.assign(devices, {-1, -1, -1, -1});
  add_mesh(builder, shape, values.speed("bandwidth", "latency"), links);
  for (std::size_t dimension = 0; dimension < 2; ++dimension) {
    const std::size_t other = 1 - dimension;
    for (std::int32_t line = 0; line < shape.boards.at(other) * shape.length.at(other); ++line) {
      add_tree(builder, shape, dimension, line, values, links);
    }
  }
  return builder.finish(values.text, std::make_shared<HxMeshRouter>(shape, std::move(links)));
}

}  // namespace

std::vector<SplitRoute> hxmesh_minimal_routes(const LinkGraph& graph, std::int32_t from, std::int32_t to) {
  const auto* router = dynamic_cast<const HxMeshRouter*>(graph.router.get());
  return router == nullptr ? std::vector<SplitRoute>{} : router->minimal_routes(from, to);
}

std::vector<TopologyEntry> hammingmesh_topologies() {
  const char* paper = "the constants of the paper's simulations";
  return {
      {"hxmesh",
       "hxmesh:a=2,b=2,x=16,y=16",
       "",
       0,
       0,
       "HammingMesh: x by y boards of a by b GPUs, a tree per row and per column",
       {count_param("a", 2, 1, 64, "rows of GPUs on a board"), count_param("b", 2, 1, 64, "columns of GPUs on a board"),
        count_param("x", 16, 1, 1024, "rows of boards"), count_param("y", 16, 1, 1024, "columns of boards"),
        rate_param("bandwidth", 50'000'000'000, "each of a GPU's four links, one way", Source::kPublished, paper),
        time_param("latency", 80, "each link with the buffers at its ends", Source::kPublished, paper),
        count_param("radix", 64, 4, 1024, "ports of a switch; a tree with more has two levels"),
        ratio_param("taper", 1000, "ports down over ports up of a leaf of such a tree"),
        count_param("wrap", 1, 0, 1, "1: around through the tree where that is shorter")},
       build_hxmesh}};
}

}  // namespace debubble
