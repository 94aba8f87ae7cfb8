// OrderProof: how good an order is that was searched for, as the search knows it: transfers overlap with compute, each
// alone on its link.
#pragma once

#include <cstdint>
#include <string>

#include "sim/core/units.hpp"

namespace debubble {

struct OrderProof {
  bool span = false;      // the times are of the longest span of a device, not of the step
  Nanoseconds time = 0;   // of the order
  Nanoseconds bound = 0;  // no order takes less; at most `time`
  bool proven = false;    // the two are equal
  std::string because;    // why nothing takes less than the bound; empty where the search has excluded all orders
  std::string start;      // the row that the search started from
  Nanoseconds start_time = 0;
  std::int64_t nodes = 0;  // that the search visited
  std::string solver;      // the MILP solver that searched instead: "CBC 2.10.8: 120 columns, 80 rows"
  bool copies = false;     // activations may go to the host, of which `leaving` do
  std::int64_t leaving = 0;
  bool timed = false;  // a clock ended the search: another machine may find another order

  // How much shorter another order could be at most, as a share of `time`.
  [[nodiscard]] double gap() const {
    return time <= 0 ? 0.0 : static_cast<double>(time - bound) / static_cast<double>(time);
  }
};

// One sentence or two, as a note of the schedule.
[[nodiscard]] std::string proof_text(const OrderProof& proof);

}  // namespace debubble
