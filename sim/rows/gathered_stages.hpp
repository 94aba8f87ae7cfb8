// Which stages' weights PyTorch's runtime keeps gathered while a device runs a cell of its row: the next distinct ones
// from that cell on, three at most; the members of an overlapped pair are not cut apart.
//
//     row      0F0  0F1  2F0  2F1  4F0  6F0 ...
//     stages   0 2 4     2 4 6     4 6 ..
//
// After `_add_unshard_reshard` of torch/distributed/pipelining/schedules.py (2.13 to 2.15).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace debubble {

struct CellStages {
  std::array<std::int32_t, 2> stages{};
  int count = 0;  // 0: an idle cell, which counts for nothing
};

// In the order in which they come: three, or four where the last two are a pair's.
struct GatheredStages {
  std::array<std::int32_t, 4> stages{};
  std::size_t count = 0;

  [[nodiscard]] const std::int32_t* begin() const { return stages.data(); }
  [[nodiscard]] const std::int32_t* end() const { return stages.data() + count; }
  [[nodiscard]] bool has(std::int32_t stage) const { return std::find(begin(), end(), stage) != end(); }
};

// By cell. Time: the number of cells times that of distinct stages.
[[nodiscard]] std::vector<GatheredStages> gathered_stages(const std::vector<CellStages>& row);

}  // namespace debubble
