// What a run's ops and transfers take, as medians by stage and kind of op: the costs to predict it with.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "sim/core/op.hpp"
#include "sim/core/run_record.hpp"
#include "sim/core/units.hpp"

namespace debubble {

class MedianCosts {
 public:
  // `paired`: the op is the first of an overlapped pair, whose duration this is.
  void add_op(const Op& op, bool paired, Nanoseconds duration);
  void add_transfer(Nanoseconds duration) { transfers_.push_back(duration); }

  [[nodiscard]] bool has_transfers() const { return !transfers_.empty(); }
  // Sets the durations of what was added; everything else of the record's costs stays. The hop latency stays where no
  // transfer was added.
  void set(RunRecord& record) const;

 private:
  std::map<std::pair<OpKind, std::int32_t>, std::vector<Nanoseconds>> ops_;
  std::vector<Nanoseconds> pairs_;
  std::vector<Nanoseconds> transfers_;
};

}  // namespace debubble
