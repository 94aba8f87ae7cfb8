// Clusters by hand, whose every link is in sight.
#pragma once

#include <memory>

#include "sim/core/link_graph.hpp"

namespace debubble::tests {

struct BoardSizes {
  int boards = 1;
  int per_board = 8;
  std::int64_t inside = 370'000'000'000;  // of a device's port to its board's switch, each way
  std::int64_t outside = 45'000'000'000;  // of a network card, each way
  bool card_per_device = true;            // else one for the board
  Nanoseconds inside_latency = 0;         // of a port
  Nanoseconds outside_latency = 0;        // of a card's link
  bool reducing = false;                  // the boards' switches can add up
};

// Boards with a crossbar each; network cards meet in one switch without limits.
[[nodiscard]] LinkGraph board_graph(const BoardSizes& sizes);

// rows x columns devices, each joined to its four neighbours, around the edges too; routes go along the row first.
[[nodiscard]] LinkGraph torus_graph(int rows, int columns, std::int64_t bandwidth, Nanoseconds latency);

}  // namespace debubble::tests
