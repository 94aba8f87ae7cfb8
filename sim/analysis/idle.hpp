// Why devices are idle: every gap on a compute lane, split by cause. Internal to sim/analysis.
//
// A gap before something on the lane (a span, or a step that computes) is explained by walking back along what it
// waited for: the transfer that brought its input, the span that made it, what that one waited for, and so on until the
// gap's beginning. Time of the walk spent
// - in transfers is latency, contention (what other flows on its links cost it) or bandwidth;
// - in compute elsewhere is fill before the device's first backward, drain after its last forward, dependency in
//   between; what that compute took beyond its stage's costs is straggler, and so is waiting for another replica of the
//   pipeline;
// - in copies of activations that were moved away is memory limit;
// - in barriers of a split output layer and in collectives of the training step is collective.
// So hops that add up along a pipeline's ramp are counted as transfer, and the causes sum to the gap exactly.
//
// After a device's last work the walk starts from what ends last of all: there, all is drain but contention, stragglers
// and the step's collectives.
//
// Linear in the number of spans and gaps, times the logarithm of how far a wait reaches back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/analysis/gate_chains.hpp"
#include "sim/analysis/idle_gaps.hpp"
#include "sim/analysis/report.hpp"
#include "sim/core/timeline.hpp"

namespace debubble {

// A timeline's gates, for GateChains.
class TimelineChains {
 public:
  explicit TimelineChains(const Timeline& timeline) : timeline_(timeline) {}

  Gate pass(const Gate& gate, OpenGap& gap) const;
  [[nodiscard]] Gate gate_of(const Gate& gate) const;
  [[nodiscard]] Nanoseconds after(const Gate& gate) const;
  [[nodiscard]] std::size_t number(const Gate& gate) const;
  [[nodiscard]] std::size_t things() const;

 private:
  Gate pass_thing(const Span& span, OpenGap& gap) const;
  static Gate pass_thing(const Transfer& transfer, OpenGap& gap);
  static Gate pass_thing(const StepSpan& step, OpenGap& gap);
  template <typename Thing>
  static Gate pass_whole(const Thing& thing, ChainPart part, OpenGap& gap);

  const Timeline& timeline_;
};

// Parts of a gap as causes; compute elsewhere counts as `compute_cause`. In the tail, after a device's last work, all
// that is not known to be somebody's fault does.
void add_parts(const ChainParts& parts, IdleCause compute_cause, bool tail, NanosecondsByCause& causes);

// Why each device of a run is idle.
class IdleTimes {
 public:
  explicit IdleTimes(const Timeline& timeline);
  IdleTimes(const IdleTimes&) = delete;
  IdleTimes& operator=(const IdleTimes&) = delete;

  [[nodiscard]] NanosecondsByCause of(int device);
  // Appends the device's gaps, in order of time.
  void add_gaps(int device, std::vector<IdleGap>& gaps);
  // How long steps hold its compute lane.
  [[nodiscard]] Nanoseconds steps_busy(int device) const;
  // Of the gap before one span.
  [[nodiscard]] NanosecondsByCause before(std::int32_t span);

 private:
  class DeviceWalk;

  const Timeline& timeline_;
  TimelineChains run_;
  GateChains<TimelineChains> chains_;
  Gate last_;
  std::vector<std::vector<const StepSpan*>> steps_;  // by device: those on its compute lane, in order
};

}  // namespace debubble
