#include "sim/rows/gathered_stages.hpp"

#include <algorithm>

#include "sim/core/at.hpp"

namespace debubble {

// From the last cell back: what comes next of a cell is its own stages, then what comes next of the cell after it
// without these. Each entry keeps its cell, for the limit cuts between cells only.
std::vector<GatheredStages> gathered_stages(const std::vector<CellStages>& row) {
  constexpr std::size_t kMost = 3;
  struct Next {
    std::int32_t stage = 0;
    std::size_t cell = 0;
  };
  std::vector<GatheredStages> gathered(row.size());
  std::vector<Next> next;
  for (std::size_t k = row.size(); k-- > 0;) {
    for (int member = row[k].count; member-- > 0;) {
      const std::int32_t stage = at(row[k].stages, member);
      if (!next.empty() && next.front().stage == stage) {
        next.front().cell = k;
        continue;
      }
      std::erase_if(next, [&](const Next& one) { return one.stage == stage; });
      next.insert(next.begin(), {stage, k});
    }
    for (std::size_t n = 0; n < next.size(); ++n) {
      if (n >= kMost && next[n].cell != next[n - 1].cell) break;
      gathered[k].stages[gathered[k].count++] = next[n].stage;
    }
  }
  return gathered;
}

}  // namespace debubble
