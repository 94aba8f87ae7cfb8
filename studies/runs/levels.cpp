#include "studies/runs/levels.hpp"

#include <array>

#include "sim/core/at.hpp"
#include "sim/core/median.hpp"
#include "studies/runs/predict.hpp"

namespace debubble {
namespace {

BubbleAndStep with_bubble(const Timeline& timeline, double step) {
  Nanoseconds busy = 0;
  for (const Span& span : timeline.spans) busy += span.end - span.begin;
  return {1 - static_cast<double>(busy) / (step * timeline.devices), step};
}

}  // namespace

const char* to_string(BubbleLevel level) { return at(std::array{"replay", "medians", "forecast"}, level); }

BubbleAndStep measured_step(const RunRecord& run, std::size_t iteration) {
  const Timeline& timeline = run.iterations[iteration].timeline;
  return with_bubble(timeline, static_cast<double>(timeline.makespan));
}

// What is left of the gap when ops and transfers have their measured durations is the error of the replay: waits and
// order are what it has to foresee.
BubbleAndStep replayed_step(const Timeline& measured, const Comparison& compared) {
  auto step = static_cast<double>(measured.makespan);
  for (const GapCause cause : {GapCause::kWait, GapCause::kOrder, GapCause::kLaunchGap, GapCause::kUnexplained}) {
    step -= static_cast<double>(at(compared.gap_by_cause, cause));
  }
  return with_bubble(measured, step);
}

RunRecord with_medians_of_others(const RunRecord& run, std::size_t iteration) {
  RunRecord record = run;
  MedianCosts medians;
  for (std::size_t k = 0; k < run.iterations.size(); ++k) {
    if (k == iteration) continue;
    const Timeline& timeline = run.iterations[k].timeline;
    for (const Span& span : timeline.spans) {
      medians.add_op(span.op, timeline.partner(span) != nullptr, span.end - span.begin);
    }
    for (const Transfer& transfer : run.iterations[k].timeline.transfers) {
      if (!transfer.assumed) medians.add_transfer(transfer.end - transfer.begin);
    }
  }
  medians.set(record);
  record.iterations.clear();
  return record;
}

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
