#include "studies/runs/median_costs.hpp"

#include "sim/core/at.hpp"
#include "sim/core/median.hpp"

namespace debubble {

void MedianCosts::add_op(const Op& op, bool paired, Nanoseconds duration) {
  (paired ? pairs_ : ops_[{op.kind, op.stage}]).push_back(duration);
}

void MedianCosts::set(RunRecord& record) const {
  record.costs.at_work.clear();  // the medians are of ops beside whatever ran
  for (const auto& [key, durations] : ops_) {
    duration_of(key.first, at(record.costs.stages, key.second)) = lower_median(durations);
  }
  if (!pairs_.empty()) record.costs.overlapped_pair = lower_median(pairs_);
  if (!transfers_.empty()) record.hop_latency = lower_median(transfers_);
}

}  // namespace debubble
