#include "sim/analysis/idle.hpp"

#include <algorithm>
#include <cstddef>

namespace debubble {

namespace {

Nanoseconds& of(NanosecondsByCause& causes, IdleCause cause) { return causes[static_cast<std::size_t>(cause)]; }

bool has_kind(const Span& span, OpKind kind) {
  return span.op.kind == kind || (span.paired && span.partner.kind == kind);
}
bool is_backward(const Span& span) { return has_kind(span, OpKind::kBackward) || has_kind(span, OpKind::kInputGrad); }

// Splits the gap [from, at) before something gated by `gate`.
class GapWalk {
 public:
  GapWalk(const Timeline& timeline, IdleCause compute_cause, NanosecondsByCause& causes)
      : timeline_(timeline), compute_cause_(compute_cause), causes_(causes) {}

  void explain(Gate gate, Nanoseconds from, Nanoseconds at) {
    while (at > from) {
      switch (gate.kind) {
        case Gate::Kind::kStart:
          of(causes_, IdleCause::kLaunchGap) += at - from;
          return;
        case Gate::Kind::kSpan:
          gate = through(timeline_.spans, compute_cause_, gate, from, at);
          break;
        case Gate::Kind::kTransfer:
          gate = through_transfer(gate, from, at);
          break;
        case Gate::Kind::kCopy:
          gate = through(timeline_.copies, IdleCause::kMemoryLimit, gate, from, at);
          break;
        case Gate::Kind::kCollective:
          gate = through(timeline_.collectives, IdleCause::kCollective, gate, from, at);
          break;
        case Gate::Kind::kStep: {
          const bool computes = timeline_.steps[static_cast<std::size_t>(gate.index)].lane == StepTask::Lane::kCompute;
          gate = through(timeline_.steps, computes ? compute_cause_ : IdleCause::kCollective, gate, from, at);
          break;
        }
      }
    }
  }

 private:
  // Moves `at` back over what ended at `end`; a measured run may have started later than it could.
  void skip_launch_gap(Nanoseconds end, Nanoseconds from, Nanoseconds& at) {
    const Nanoseconds until = std::max(end, from);
    if (until >= at) return;
    of(causes_, IdleCause::kLaunchGap) += at - until;
    at = until;
  }

  void take(IdleCause cause, Nanoseconds begin, Nanoseconds from, Nanoseconds& at) {
    const Nanoseconds until = std::max(begin, from);
    if (until >= at) return;
    of(causes_, cause) += at - until;
    at = until;
  }

  template <typename Thing>
  Gate through(const std::vector<Thing>& things, IdleCause cause, Gate gate, Nanoseconds from, Nanoseconds& at) {
    const Thing& thing = things[static_cast<std::size_t>(gate.index)];
    skip_launch_gap(thing.end, from, at);
    take(cause, thing.begin, from, at);
    return thing.gate;
  }

  Gate through_transfer(Gate gate, Nanoseconds from, Nanoseconds& at) {
    const Transfer& transfer = timeline_.transfers[static_cast<std::size_t>(gate.index)];
    skip_launch_gap(transfer.end, from, at);
    take(IdleCause::kTransferLatency, transfer.end - transfer.latency, from, at);
    take(IdleCause::kTransferBandwidth, transfer.begin, from, at);
    return transfer.gate;
  }

  const Timeline& timeline_;
  IdleCause compute_cause_;
  NanosecondsByCause& causes_;
};

}  // namespace

NanosecondsByCause idle_by_cause(const Timeline& timeline, int device) {
  NanosecondsByCause causes{};
  const auto d = static_cast<std::size_t>(device);
  const auto first = static_cast<std::size_t>(timeline.device_begin[d]);
  const auto last = static_cast<std::size_t>(timeline.device_begin[d + 1]);
  std::size_t first_backward = last;
  std::size_t last_forward = first;
  for (std::size_t k = first; k < last; ++k) {
    if (first_backward == last && is_backward(timeline.spans[k])) first_backward = k;
    if (has_kind(timeline.spans[k], OpKind::kForward)) last_forward = k;
  }
  Nanoseconds end = 0;
  for (std::size_t k = first; k < last; ++k) {
    const Span& span = timeline.spans[k];
    if (span.begin > end) {
      IdleCause cause = IdleCause::kDependency;
      if (k <= first_backward) {
        cause = IdleCause::kFill;
      } else if (k > last_forward) {
        cause = IdleCause::kDrain;
      }
      GapWalk(timeline, cause, causes).explain(span.gate, end, span.begin);
    }
    end = span.end;
  }
  of(causes, IdleCause::kDrain) += timeline.makespan - end;
  return causes;
}

}  // namespace debubble
