// WaitHistory: what the cells of a running RowStream waited for, as far back as anybody's wait may reach. Internal to
// studies/simulate.
//
//     device 1   ....|F0|..|F1|        a cell, the transfer before it (or none), and its parent: whose end began that;
//     device 0   |F0|F1|...            parents lead back to time 0 without a gap, so a wait is explained by its chain
//
// Each cell also leads to an ancestor farther off, as GateChains' checkpoints do: any distance takes log(n) leaps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "sim/analysis/gate_chains.hpp"
#include "sim/core/topology.hpp"

namespace debubble {

// What there is on the chain of a cell, from time 0 to the cell's end; the rest is compute.
struct Way {
  Nanoseconds latency = 0;
  Nanoseconds bandwidth = 0;
  int hops = 0;

  [[nodiscard]] Way after(const TransferTime& transfer) const {
    return {latency + transfer.latency, bandwidth + transfer.serialisation, hops + 1};
  }
};

class WaitHistory {
 public:
  struct Cell {
    Nanoseconds begin = 0;
    Nanoseconds end = 0;
    std::int64_t parent = -1;  // -1: it begins at time 0
    bool received = false;     // a transfer lies between the parent's end and its begin
    TransferTime transfer;
    Way way;
  };

  // Cells come in order of their numbers, from 0.
  void add(const Cell& cell);
  // Of a cell that is still known.
  [[nodiscard]] const Way& way(std::int64_t cell) const { return at(cell).cell.way; }
  [[nodiscard]] bool knows(std::int64_t cell) const { return cell >= first_; }

  // The time [from, begin of the waiting cell), at the end of which a transfer from `maker` arrives.
  [[nodiscard]] ChainParts explain(std::int64_t maker, const TransferTime& transfer, Nanoseconds from,
                                   Nanoseconds at) const;
  // The same from time 0 on, where only the way of the maker is known.
  [[nodiscard]] static ChainParts from_start(const Way& maker, const TransferTime& transfer, Nanoseconds at);

  // Nobody's wait will begin before `time`, nor end with a cell that ended before it.
  void forget_before(Nanoseconds time);

 private:
  struct Known {
    Cell cell;
    std::int64_t far = -1;  // an ancestor; itself where it has none
    std::int32_t depth = 0;
  };

  [[nodiscard]] const Known& at(std::int64_t cell) const { return cells_[static_cast<std::size_t>(cell - first_)]; }
  // The first on the cell's chain that does not end before `from`.
  [[nodiscard]] std::int64_t first_within(std::int64_t cell, Nanoseconds from) const;

  std::deque<Known> cells_;
  std::int64_t first_ = 0;  // the number of the first of them
};

}  // namespace debubble
