#include "sim/analysis/idle.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "sim/analysis/analyse.hpp"
#include "sim/analysis/critical_path.hpp"
#include "sim/core/at.hpp"

namespace debubble {

namespace {

Nanoseconds& time_in(NanosecondsByCause& causes, IdleCause cause) { return causes[to_index(cause)]; }

bool span_has_kind(const Span& span, OpKind kind) {
  return span.op.kind == kind || (span.paired && span.partner.kind == kind);
}
bool span_makes_input_gradient(const Span& span) {
  return span_has_kind(span, OpKind::kBackward) || span_has_kind(span, OpKind::kInputGrad);
}

// Splits the gap [from, at) before something gated by `gate`. What took longer than it might have took that time last:
// without it, whatever waits would have gone on so much earlier.
class GapWalk {
 public:
  // After a device's last work nothing of its own waits, so there all that is not known to be somebody's fault counts
  // as `compute_cause`.
  GapWalk(const Timeline& timeline, IdleCause compute_cause, bool tail, NanosecondsByCause& causes)
      : timeline_(timeline), compute_cause_(compute_cause), tail_(tail), causes_(causes) {}

  void explain(Gate gate, Nanoseconds from, Nanoseconds at) {
    from_ = from;
    at_ = at;
    while (at_ > from_) {
      const auto index = static_cast<std::size_t>(gate.index);
      switch (gate.kind) {
        case Gate::Kind::kStart:
          take(unless_tail(IdleCause::kLaunchGap), from_);
          return;
        case Gate::Kind::kSpan:
          gate = through(timeline_.spans[index]);
          break;
        case Gate::Kind::kTransfer:
          gate = through(timeline_.transfers[index]);
          break;
        case Gate::Kind::kCopy:
          gate = through(timeline_.copies[index], unless_tail(IdleCause::kMemoryLimit));
          break;
        case Gate::Kind::kCollective:
          gate = through(timeline_.collectives[index], unless_tail(IdleCause::kCollective));
          break;
        case Gate::Kind::kStep:
          gate = through(timeline_.steps[index]);
          break;
      }
    }
  }

  // The wait for the step's counterpart in another replica of the pipeline, just before it.
  void explain_before(const StepSpan& step, Nanoseconds from) {
    from_ = from;
    at_ = step.begin;
    take(IdleCause::kStraggler, at_ - step.waited_for_replica);
    explain(step.gate, from, at_);
  }

 private:
  [[nodiscard]] IdleCause unless_tail(IdleCause cause) const { return tail_ ? compute_cause_ : cause; }

  // Moves `at_` back to `begin`, or to where the gap begins.
  void take(IdleCause cause, Nanoseconds begin) {
    const Nanoseconds until = std::max(begin, from_);
    if (until >= at_) return;
    time_in(causes_, cause) += at_ - until;
    at_ = until;
  }

  // A measured run may have started later than it could.
  void skip_launch_gap(Nanoseconds end) { take(unless_tail(IdleCause::kLaunchGap), end); }

  template <typename Thing>
  Gate through(const Thing& thing, IdleCause cause) {
    skip_launch_gap(thing.end);
    take(cause, thing.begin);
    return thing.gate;
  }

  Gate through(const Span& span) {
    skip_launch_gap(span.end);
    const Nanoseconds extra = std::max<Nanoseconds>(0, span.straggled) + std::max<Nanoseconds>(0, span.slowed);
    take(IdleCause::kStraggler, std::max(span.begin, span.end - extra));
    take(compute_cause_, span.begin);
    return span.gate;
  }

  Gate through(const Transfer& transfer) {
    skip_launch_gap(transfer.end);
    const Nanoseconds sent = transfer.end - transfer.latency;
    take(unless_tail(IdleCause::kTransferLatency), sent);
    take(IdleCause::kContention, std::max(transfer.begin, sent - transfer.contention));
    take(unless_tail(IdleCause::kTransferBandwidth), transfer.begin);
    return transfer.gate;
  }

  Gate through(const StepSpan& step) {
    const bool computes = step.lane == StepTask::Lane::kCompute;
    skip_launch_gap(step.end);
    take(IdleCause::kStraggler, step.end - std::max<Nanoseconds>(0, step.straggled));
    take(computes ? compute_cause_ : IdleCause::kCollective, step.begin);
    take(IdleCause::kStraggler, step.begin - step.waited_for_replica);
    return step.gate;
  }

  const Timeline& timeline_;
  IdleCause compute_cause_;
  bool tail_;
  NanosecondsByCause& causes_;
  Nanoseconds from_ = 0;
  Nanoseconds at_ = 0;
};

// What a device's compute lane does, in order: its spans, and among them the steps that hold it.
class DeviceWalk {
 public:
  DeviceWalk(const Timeline& timeline, int device)
      : timeline_(timeline),
        first_(to_index(at(timeline.device_begin, device))),
        last_(to_index(at(timeline.device_begin, device + 1))),
        first_backward_(last_),
        last_forward_(first_) {
    for (std::size_t k = first_; k < last_; ++k) {
      if (first_backward_ == last_ && span_makes_input_gradient(timeline.spans[k])) first_backward_ = k;
      if (span_has_kind(timeline.spans[k], OpKind::kForward)) last_forward_ = k;
    }
    for (const StepSpan& step : timeline.steps) {
      if (step.device == device && step.lane == StepTask::Lane::kCompute) steps_.push_back(&step);
    }
    std::stable_sort(steps_.begin(), steps_.end(),
                     [](const StepSpan* a, const StepSpan* b) { return a->begin < b->begin; });
  }

  NanosecondsByCause causes() {
    auto step = steps_.begin();
    for (std::size_t k = first_; k < last_; ++k) {
      const Span& span = timeline_.spans[k];
      for (; step != steps_.end() && (*step)->begin < span.begin; ++step) pass(**step, k);
      if (span.begin > end_) GapWalk(timeline_, cause_at(k), false, causes_).explain(span.gate, end_, span.begin);
      end_ = span.end;
    }
    for (; step != steps_.end(); ++step) pass(**step, last_);
    GapWalk(timeline_, IdleCause::kDrain, true, causes_).explain(last_event(timeline_), end_, timeline_.makespan);
    return causes_;
  }

  // Of the gap before one span.
  NanosecondsByCause before(std::size_t wanted) {
    const Span& span = timeline_.spans[wanted];
    if (wanted > first_) end_ = timeline_.spans[wanted - 1].end;
    for (const StepSpan* step : steps_) {
      if (step->begin < span.begin) end_ = std::max(end_, step->end);
    }
    if (span.begin > end_) GapWalk(timeline_, cause_at(wanted), false, causes_).explain(span.gate, end_, span.begin);
    return causes_;
  }

 private:
  // A wait just before span `k`, or before a step that comes before it, for compute elsewhere.
  [[nodiscard]] IdleCause cause_at(std::size_t k) const {
    if (k <= first_backward_) return IdleCause::kFill;
    return k > last_forward_ ? IdleCause::kDrain : IdleCause::kDependency;
  }

  void pass(const StepSpan& step, std::size_t next_span) {
    if (step.begin > end_) GapWalk(timeline_, cause_at(next_span), false, causes_).explain_before(step, end_);
    end_ = std::max(end_, step.end);
  }

  const Timeline& timeline_;
  std::size_t first_ = 0;
  std::size_t last_ = 0;
  std::size_t first_backward_ = 0;
  std::size_t last_forward_ = 0;
  std::vector<const StepSpan*> steps_;
  Nanoseconds end_ = 0;
  NanosecondsByCause causes_{};
};

}  // namespace

NanosecondsByCause idle_by_cause(const Timeline& timeline, int device) { return DeviceWalk(timeline, device).causes(); }

NanosecondsByCause wait_by_cause(const Timeline& timeline, std::int32_t span) {
  const auto index = static_cast<std::size_t>(span);
  return DeviceWalk(timeline, timeline.spans[index].device).before(index);
}

}  // namespace debubble
