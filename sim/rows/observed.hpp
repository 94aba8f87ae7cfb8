// What somebody watched happen (a live run, an imported trace), before it is a Timeline: who ran when, what travelled
// when. `assemble_timeline` adds what every analysis needs: order, ready times, and what each thing waited for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/error.hpp"
#include "sim/core/op.hpp"
#include "sim/core/p2p.hpp"
#include "sim/core/schedule.hpp"
#include "sim/core/timeline.hpp"
#include "sim/core/units.hpp"

namespace debubble {

struct ObservedOp {
  Op op;
  Op partner;  // valid only when paired
  bool paired = false;
  std::int32_t device = 0;
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
};

// The transfer of the output of `op` to the op that uses it, which the start rule names: F(s, i) -> F(s + 1, i), and B
// or I(s, i) -> B or I(s - 1, i).
struct ObservedTransfer {
  Op op;
  std::int32_t from_device = 0;
  std::int32_t to_device = 0;
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  Nanoseconds latency = 0;  // the part of end - begin that is latency, 0 where that is not known; it comes last
  Bytes bytes = 0;
};

struct Observation {
  P2p p2p = P2p::kOverlapped;
  bool measured = true;                     // false: times follow from given costs, so every begin is explained exactly
  Nanoseconds clock_error = 0;              // by how much the ends of a transfer, of two clocks, may be wrong together
  std::vector<ObservedOp> ops;              // in any order
  std::vector<ObservedTransfer> transfers;  // in any order
};

// T054 for schedules with copies or shards of the vocabulary: an Observation has no place for the times of copies and
// barriers, so that no Timeline can be put together. Without a value for all others.
[[nodiscard]] std::optional<Diagnostic> not_observable(const Schedule& schedule);

// One iteration as a Timeline. Times are shifted so that the first op begins at 0 (only where `measured`). Spans are
// sorted by device, then by begin (ties: by place in the schedule's row). An input from another device that nobody saw
// travel gets a transfer of length 0 at its maker's end, marked as assumed. Measured clocks differ a little: an arrival
// later than its use is taken as the use's begin, and one that is earlier than its leaving by `clock_error` at most as
// the leaving. Gates follow the engine's tie rules, so that an Observation with the
// engine's times gives the engine's Timeline, but for the order of `transfers`, which is (begin, from_span, to_span)
// here. Throws InputError (V020, V023, T054), with all that is wrong (P022 after 20 problems), when ops are missing,
// appear twice or on another device than their stage's, end before they begin, or overlap on one device, for ops and
// transfers of another schedule, and for measured times that span more than two years, and schedules that are not
// observable.
[[nodiscard]] Timeline assemble_timeline(const Schedule& schedule, const Observation& observation);

}  // namespace debubble
