// What a prediction of a measured run knew, and what each level of knowledge predicts for a run's own steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "sim/analysis/comparison.hpp"
#include "sim/core/op.hpp"
#include "sim/core/run_record.hpp"
#include "sim/core/units.hpp"
#include "studies/simulate/simulate.hpp"

namespace debubble {

//     replay     the durations of the same step's ops and transfers: tests order and dependencies
//     medians    the medians of the other steps of the run: what a prediction from a profile can reach
//     forecast   stage times that were measured apart from the run, or modelled: what a user gets before it
enum class BubbleLevel : std::uint8_t { kReplay, kMedians, kForecast };
[[nodiscard]] const char* to_string(BubbleLevel level);  // "replay", "medians", "forecast"

struct BubbleAndStep {
  double bubble = 0;  // idle share of the step, over all devices
  double step = 0;    // ns
};

[[nodiscard]] BubbleAndStep measured_step(const RunRecord& run, std::size_t iteration);

// With the measured durations of ops and transfers put in, and nothing else.
[[nodiscard]] BubbleAndStep replayed_step(const Timeline& measured, const Comparison& compared);

// The run with the medians of all iterations but one for costs, and without iterations. It needs two of them.
[[nodiscard]] RunRecord with_medians_of_others(const RunRecord& run, std::size_t iteration);

// What a run's ops and transfers take, as medians by stage and kind of op: the costs to predict it with.
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
