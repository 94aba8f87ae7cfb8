// PathFinder: which cells of a run are on its critical path, from what began each of them while it went by. Internal to
// studies/simulate.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/core/at.hpp"
#include "studies/simulate/brief_analysis.hpp"

namespace debubble {

class PathFinder : public RunObserver {
 public:
  PathFinder(std::size_t ops, std::size_t devices) : last_(devices) { back_.reserve(ops); }

  void level(std::int32_t /*device*/, Nanoseconds /*at*/, const BytesByCategory& /*bytes*/) override {}
  void nothing_before(Nanoseconds /*time*/) override {}
  void cell(const ExplainedCell& cell) override {
    const std::int64_t number = cell.cell->number;
    back_.push_back(cell.parent < 0 ? 0 : static_cast<std::uint32_t>(number - cell.parent));
    Last& last = at(last_, cell.cell->device);
    if (last.cell < 0 || cell.cell->end > last.end) last = {number, cell.cell->end};
  }

  // By number of the cell. Of what ends last the first, as critical_path() takes it.
  [[nodiscard]] std::vector<bool> path() const {
    std::vector<bool> on_path(back_.size(), false);
    const auto ends_first = [](const Last& a, const Last& b) { return a.end < b.end; };
    const auto last = std::max_element(last_.begin(), last_.end(), ends_first);
    if (last == last_.end() || last->cell < 0) return on_path;
    for (std::int64_t cell = last->cell;; cell -= at(back_, cell)) {
      on_path[to_index(cell)] = true;
      if (at(back_, cell) == 0) return on_path;
    }
  }

 private:
  struct Last {
    std::int64_t cell = -1;
    Nanoseconds end = -1;
  };

  std::vector<std::uint32_t> back_;  // from each cell to its parent; 0: it has none
  std::vector<Last> last_;           // by device
};

}  // namespace debubble
