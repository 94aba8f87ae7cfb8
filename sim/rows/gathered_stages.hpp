// Which stages' weights PyTorch's runtime keeps gathered while a device runs a cell of its row: the next distinct ones
// from that cell on, three at most; the members of an overlapped pair are not cut apart.
//
//     row      0F0  0F1  2F0  2F1  4F0  6F0 ...
//     stages   0 2 4     2 4 6     4 6 ..
//
// After `_add_unshard_reshard` of torch/distributed/pipelining/schedules.py (2.13 to 2.15).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace debubble {

struct CellStages {
  std::array<std::int32_t, 2> stages{};
  int count = 0;  // 0: an idle cell, which counts for nothing
};

// By cell, in the order in which they come. Time: the number of cells times that of distinct stages.
[[nodiscard]] std::vector<std::vector<std::int32_t>> gathered_stages(const std::vector<CellStages>& row);

}  // namespace debubble
