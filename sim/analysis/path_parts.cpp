#include "sim/analysis/path_parts.hpp"

#include <algorithm>

#include "sim/analysis/analyse.hpp"
#include "sim/core/at.hpp"

namespace debubble {

namespace {

class PathSplitter {
 public:
  explicit PathSplitter(const Timeline& timeline) : timeline_(timeline) {
    parts_.compute.resize(static_cast<std::size_t>(timeline.devices));
  }

  PathParts run() {
    for (const Gate& gate : critical_path(timeline_)) add(gate);
    parts_.gaps += timeline_.makespan - at_;
    return parts_;
  }

 private:
  void add(const Gate& gate) {
    const auto index = static_cast<std::size_t>(gate.index);
    switch (gate.kind) {
      case Gate::Kind::kStart:
        return;
      case Gate::Kind::kSpan:
        return add(timeline_.spans[index]);
      case Gate::Kind::kTransfer:
        return add(timeline_.transfers[index]);
      case Gate::Kind::kCopy:
        return whole(timeline_.copies[index], parts_.copies);
      case Gate::Kind::kCollective:
        return whole(timeline_.collectives[index], parts_.barriers);
      case Gate::Kind::kStep:
        return add(timeline_.steps[index]);
    }
  }

  void add(const Span& span) {
    const Nanoseconds length = span.end - span.begin;
    const Nanoseconds straggled = std::clamp<Nanoseconds>(timeline_.straggled(span), 0, length);
    const Nanoseconds slowed = std::clamp<Nanoseconds>(timeline_.slowed(span), 0, length - straggled);
    parts_.straggled += straggled;
    parts_.slowed += slowed;
    whole(span, at(parts_.compute, span.device));
    at(parts_.compute, span.device) -= straggled + slowed;
  }

  void add(const Transfer& transfer) {
    const Nanoseconds length = transfer.end - transfer.begin;
    const Nanoseconds latency = std::min(transfer.latency, length);
    const Nanoseconds contention = std::min(transfer.contention, length - latency);
    parts_.latency += latency;
    parts_.contention += contention;
    whole(transfer, parts_.bandwidth);
    parts_.bandwidth -= latency + contention;
  }

  void add(const StepSpan& step) {
    const Nanoseconds waited = std::min(step.waited_for_replica, step.begin - at_);
    parts_.replicas += waited;
    at_ += waited;
    whole(step, at(parts_.step, step.kind));
  }

  template <typename Thing>
  void whole(const Thing& thing, Nanoseconds& part) {
    parts_.gaps += thing.begin - at_;
    part += thing.end - thing.begin;
    at_ = thing.end;
  }

  const Timeline& timeline_;
  PathParts parts_;
  Nanoseconds at_ = 0;
};

}  // namespace

PathParts path_parts(const Timeline& timeline) { return PathSplitter(timeline).run(); }

}  // namespace debubble
