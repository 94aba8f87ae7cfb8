// HammingMesh (Hoefler et al., SC'22, arXiv 2209.01346): boards of a x b devices in a mesh, x x y boards, and one tree
// of switches per row and per column of devices.
//
//     board (0,0)    board (0,1)           a device has four links: W, E, N, S. Where the board ends, W and E lead to
//   [ d0 -- d1 ]   [ d4 -- d5 ]  row       the tree of its row, N and S to that of its column; a tree is one switch, or
//   [ |      | ]   [ |      | ]  tree 0    a fat tree of two levels where the switch has too few ports.
//   [ d2 -- d3 ]   [ d6 -- d7 ]  row tree 1
//
// Device number: board (row by row) times a b, plus row on the board times b, plus column on the board.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/core/link_graph.hpp"

namespace debubble {

struct HxMeshShape {
  // By dimension: 0 along a row (W, E), 1 along a column (N, S).
  std::array<std::int32_t, 2> length{1, 1};  // devices of a board
  std::array<std::int32_t, 2> boards{1, 1};
  std::int32_t radix = 64;         // ports of a switch
  std::int32_t leaf_uplinks = 32;  // of a tree of two levels
  bool wrap = true;                // on one board, through the tree where that takes fewer links

  [[nodiscard]] std::int32_t devices() const { return length[0] * length[1] * boards[0] * boards[1]; }
  // Switches at the bottom of a tree of that dimension: each board has two ports on it.
  [[nodiscard]] std::int32_t leaves(std::size_t dimension) const {
    const std::int32_t ports = 2 * boards[dimension];
    return ports <= radix ? 1 : (ports + radix / 2 - 1) / (radix / 2);
  }
};

// One of the minimal routes between two devices, and which part of their messages takes it.
struct SplitRoute {
  double share = 1;
  std::vector<std::int32_t> links;
};

// Half of the messages go along the row first, half along the column; where both edges of a board are equally near,
// half over each. The graph's router takes one of these routes per pair: row first where the sum of the device numbers
// is even, and the two bits above choose the edges. Empty where `graph` is no HammingMesh.
[[nodiscard]] std::vector<SplitRoute> hxmesh_minimal_routes(const LinkGraph& graph, std::int32_t from, std::int32_t to);

}  // namespace debubble
