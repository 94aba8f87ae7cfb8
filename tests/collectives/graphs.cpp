#include "tests/collectives/graphs.hpp"

#include <string>

namespace debubble::tests {

namespace {

class BoardRouter final : public Router {
 public:
  explicit BoardRouter(const BoardSizes& sizes) : sizes_(sizes) {}

  void route(std::int32_t from, std::int32_t to, std::vector<std::int32_t>& links) const override {
    if (from == to) return;
    const std::int32_t ports = 2 * sizes_.boards * sizes_.per_board;
    const auto board = [&](std::int32_t device) { return device / sizes_.per_board; };
    if (board(from) == board(to)) {
      links.insert(links.end(), {2 * from, 2 * to + 1});
    } else if (sizes_.card_per_device) {
      links.insert(links.end(), {ports + 2 * from, ports + 2 * to + 1});
    } else {
      links.insert(links.end(), {ports + 2 * board(from), ports + 2 * board(to) + 1});
    }
  }

 private:
  BoardSizes sizes_;
};

class TorusRouter final : public Router {
 public:
  TorusRouter(int rows, int columns) : rows_(rows), columns_(columns) {}

  // Device d has links 4 d to 4 d + 3: right, left, down, up.
  void route(std::int32_t from, std::int32_t to, std::vector<std::int32_t>& links) const override {
    int row = from / columns_;
    int column = from % columns_;
    walk(
        column, to % columns_, columns_, [&] { return 4 * (row * columns_ + column); }, links);
    walk(
        row, to / columns_, rows_, [&] { return 4 * (row * columns_ + column) + 2; }, links);
  }

 private:
  template <typename FirstLink>
  static void walk(int& at, int goal, int size, const FirstLink& first, std::vector<std::int32_t>& links) {
    const bool up = (goal - at + size) % size <= size / 2;
    while (at != goal) {
      links.push_back(first() + (up ? 0 : 1));
      at = (at + (up ? 1 : size - 1)) % size;
    }
  }

  int rows_;
  int columns_;
};

}  // namespace

LinkGraph board_graph(const BoardSizes& sizes) {
  LinkGraph graph;
  graph.name = "boards";
  const std::int32_t devices = sizes.boards * sizes.per_board;
  const std::int32_t first_switch = devices;
  const std::int32_t outer_switch = devices + sizes.boards;
  for (std::int32_t d = 0; d < devices; ++d) {
    graph.nodes.push_back({GraphNode::Kind::kDevice, "gpu" + std::to_string(d)});
    graph.devices.push_back(d);
    graph.domain.push_back(d / sizes.per_board);
  }
  for (int b = 0; b < sizes.boards; ++b) {
    graph.nodes.push_back({GraphNode::Kind::kSwitch, "switch" + std::to_string(b), sizes.reducing});
  }
  graph.nodes.push_back({GraphNode::Kind::kSwitch, "spine"});
  for (std::int32_t d = 0; d < devices; ++d) {
    const std::int32_t board = first_switch + d / sizes.per_board;
    graph.links.push_back({d, board, sizes.inside, sizes.inside_latency, true, ""});
    graph.links.push_back({board, d, sizes.inside, sizes.inside_latency, true, ""});
  }
  for (std::int32_t k = 0; k < (sizes.card_per_device ? devices : sizes.boards); ++k) {
    const std::int32_t owner = sizes.card_per_device ? k : first_switch + k;
    graph.links.push_back({owner, outer_switch, sizes.outside, sizes.outside_latency, true, ""});
    graph.links.push_back({outer_switch, owner, sizes.outside, sizes.outside_latency, true, ""});
  }
  graph.router = std::make_shared<BoardRouter>(sizes);
  return graph;
}

LinkGraph torus_graph(int rows, int columns, std::int64_t bandwidth, Nanoseconds latency) {
  LinkGraph graph;
  graph.name = "torus";
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      const std::int32_t device = row * columns + column;
      graph.nodes.push_back({GraphNode::Kind::kDevice, "d" + std::to_string(device)});
      graph.devices.push_back(device);
      const auto link_to = [&](int to_row, int to_column) {
        const std::int32_t to = (to_row + rows) % rows * columns + (to_column + columns) % columns;
        graph.links.push_back({device, to, bandwidth, latency, true, ""});
      };
      link_to(row, column + 1);
      link_to(row, column - 1);
      link_to(row + 1, column);
      link_to(row - 1, column);
    }
  }
  graph.router = std::make_shared<TorusRouter>(rows, columns);
  return graph;
}

}  // namespace debubble::tests
