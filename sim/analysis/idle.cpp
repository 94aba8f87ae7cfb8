#include "sim/analysis/idle.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "sim/analysis/analyse.hpp"
#include "sim/analysis/critical_path.hpp"
#include "sim/core/at.hpp"
#include "sim/core/with_thing.hpp"

namespace debubble {

namespace {

Nanoseconds& time_in(NanosecondsByCause& causes, IdleCause cause) { return causes[to_index(cause)]; }

bool span_has_kind(const Timeline& timeline, const Span& span, OpKind kind) {
  const Op* const partner = timeline.partner(span);
  return span.op.kind == kind || (partner != nullptr && partner->kind == kind);
}
bool span_makes_input_gradient(const Timeline& timeline, const Span& span) {
  return span_has_kind(timeline, span, OpKind::kBackward) || span_has_kind(timeline, span, OpKind::kInputGrad);
}

IdleCause idle_cause_of(ChainPart part, IdleCause compute_cause) {
  switch (part) {
    case ChainPart::kCompute:
      return compute_cause;
    case ChainPart::kStraggler:
      return IdleCause::kStraggler;
    case ChainPart::kLatency:
      return IdleCause::kTransferLatency;
    case ChainPart::kBandwidth:
      return IdleCause::kTransferBandwidth;
    case ChainPart::kContention:
      return IdleCause::kContention;
    case ChainPart::kMemoryLimit:
      return IdleCause::kMemoryLimit;
    case ChainPart::kBarrier:
    case ChainPart::kStepCollective:
      return IdleCause::kCollective;
    case ChainPart::kLaunchGap:
      return IdleCause::kLaunchGap;
  }
  return compute_cause;
}

// After a device's last work nothing of its own waits.
bool is_nobodys_fault(ChainPart part) {
  return part != ChainPart::kContention && part != ChainPart::kStraggler && part != ChainPart::kStepCollective;
}

}  // namespace

void add_parts(const ChainParts& parts, IdleCause compute_cause, bool tail, NanosecondsByCause& causes) {
  for (std::size_t k = 0; k < kChainParts; ++k) {
    const auto part = static_cast<ChainPart>(k);
    time_in(causes, tail && is_nobodys_fault(part) ? compute_cause : idle_cause_of(part, compute_cause)) += parts[k];
  }
}

Gate TimelineChains::pass(const Gate& gate, OpenGap& gap) const {
  const auto index = static_cast<std::size_t>(gate.index);
  switch (gate.kind) {
    case Gate::Kind::kStart:
      break;
    case Gate::Kind::kSpan:
      return pass_thing(timeline_.spans[index], gap);
    case Gate::Kind::kTransfer:
      return pass_thing(timeline_.transfers[index], gap);
    case Gate::Kind::kCopy:
      return pass_whole(timeline_.copies[index], ChainPart::kMemoryLimit, gap);
    case Gate::Kind::kCollective:
      return pass_whole(timeline_.collectives[index], ChainPart::kBarrier, gap);
    case Gate::Kind::kStep:
      return pass_thing(timeline_.steps[index], gap);
  }
  return {};
}

// A measured run may have started later than it could.
template <typename Thing>
Gate TimelineChains::pass_whole(const Thing& thing, ChainPart part, OpenGap& gap) {
  gap.take(ChainPart::kLaunchGap, thing.end);
  gap.take(part, thing.begin);
  return thing.gate;
}

// What took longer than it might have took that time last: without it, whatever waits would have gone on so much
// earlier.
Gate TimelineChains::pass_thing(const Span& span, OpenGap& gap) const {
  gap.take(ChainPart::kLaunchGap, span.end);
  const Nanoseconds extra =
      std::max<Nanoseconds>(0, timeline_.straggled(span)) + std::max<Nanoseconds>(0, timeline_.slowed(span));
  gap.take(ChainPart::kStraggler, std::max(span.begin, span.end - extra));
  gap.take(ChainPart::kCompute, span.begin);
  return span.gate;
}

Gate TimelineChains::pass_thing(const Transfer& transfer, OpenGap& gap) {
  gap.take(ChainPart::kLaunchGap, transfer.end);
  const Nanoseconds sent = transfer.end - transfer.latency;
  gap.take(ChainPart::kLatency, sent);
  gap.take(ChainPart::kContention, std::max(transfer.begin, sent - transfer.contention));
  gap.take(ChainPart::kBandwidth, transfer.begin);
  return transfer.gate;
}

Gate TimelineChains::pass_thing(const StepSpan& step, OpenGap& gap) {
  const bool computes = step.lane == StepTask::Lane::kCompute;
  gap.take(ChainPart::kLaunchGap, step.end);
  gap.take(ChainPart::kStraggler, step.end - std::max<Nanoseconds>(0, step.straggled));
  gap.take(computes ? ChainPart::kCompute : ChainPart::kStepCollective, step.begin);
  gap.take(ChainPart::kStraggler, step.begin - step.waited_for_replica);
  return step.gate;
}

Gate TimelineChains::gate_of(const Gate& gate) const {
  return with_thing(gate, timeline_, [](const auto& thing) { return thing.gate; });
}

Nanoseconds TimelineChains::after(const Gate& gate) const {
  if (gate.kind == Gate::Kind::kStep) {
    const StepSpan& step = at(timeline_.steps, gate.index);
    return step.begin - step.waited_for_replica;
  }
  return with_thing(gate, timeline_, [](const auto& thing) { return thing.begin; });
}

std::size_t TimelineChains::number(const Gate& gate) const {
  std::size_t before = 0;
  if (gate.kind > Gate::Kind::kSpan) before += timeline_.spans.size();
  if (gate.kind > Gate::Kind::kTransfer) before += timeline_.transfers.size();
  if (gate.kind > Gate::Kind::kCopy) before += timeline_.copies.size();
  if (gate.kind > Gate::Kind::kCollective) before += timeline_.collectives.size();
  return before + to_index(gate.index);
}

std::size_t TimelineChains::things() const {
  return timeline_.spans.size() + timeline_.transfers.size() + timeline_.copies.size() + timeline_.collectives.size() +
         timeline_.steps.size();
}

// What a device's compute lane does, in order: its spans, and among them the steps that hold it.
class IdleTimes::DeviceWalk {
 public:
  DeviceWalk(const Timeline& timeline, int device, const std::vector<const StepSpan*>& steps,
             GateChains<TimelineChains>& chains, std::vector<IdleGap>* gaps = nullptr)
      : timeline_(timeline),
        chains_(chains),
        gaps_(gaps),
        device_(device),
        steps_(steps),
        first_(to_index(at(timeline.device_begin, device))),
        last_(to_index(at(timeline.device_begin, device + 1))),
        first_backward_(last_),
        last_forward_(first_) {
    for (std::size_t k = first_; k < last_; ++k) {
      if (first_backward_ == last_ && span_makes_input_gradient(timeline, timeline.spans[k])) first_backward_ = k;
      if (span_has_kind(timeline, timeline.spans[k], OpKind::kForward)) last_forward_ = k;
    }
  }

  NanosecondsByCause causes(const Gate& last) {
    auto step = steps_.begin();
    for (std::size_t k = first_; k < last_; ++k) {
      const Span& span = timeline_.spans[k];
      for (; step != steps_.end() && (*step)->begin < span.begin; ++step) pass(**step, k);
      if (span.begin > end_) explain(span.gate, span.begin, k);
      end_ = span.end;
    }
    for (; step != steps_.end(); ++step) pass(**step, last_);
    account(timeline_.makespan, chains_.explain(last, end_, timeline_.makespan), IdleCause::kDrain, last_, true);
    return causes_;
  }

  // Of the gap before one span.
  NanosecondsByCause before(std::size_t wanted) {
    const Span& span = timeline_.spans[wanted];
    if (wanted > first_) end_ = timeline_.spans[wanted - 1].end;
    for (const StepSpan* step : steps_) {
      if (step->begin < span.begin) end_ = std::max(end_, step->end);
    }
    if (span.begin > end_) explain(span.gate, span.begin, wanted);
    return causes_;
  }

 private:
  // A wait just before span `k`, or before a step that comes before it, for compute elsewhere.
  [[nodiscard]] IdleCause cause_at(std::size_t k) const {
    if (k <= first_backward_) return IdleCause::kFill;
    return k > last_forward_ ? IdleCause::kDrain : IdleCause::kDependency;
  }

  // The gap from the end of what came before, just before span `next` or a step that comes before it.
  void explain(const Gate& gate, Nanoseconds at, std::size_t next) {
    account(at, chains_.explain(gate, end_, at), cause_at(next), next, false);
  }

  void account(Nanoseconds at, const ChainParts& parts, IdleCause compute_cause, std::size_t next, bool tail) {
    add_parts(parts, compute_cause, tail, causes_);
    if (gaps_ == nullptr || at <= end_) return;
    gaps_->push_back({device_, end_, at, next < last_ ? static_cast<std::int32_t>(next) : -1, {}});
    add_parts(parts, compute_cause, tail, gaps_->back().causes);
  }

  // First the wait for the step's counterpart in another replica of the pipeline, just before it.
  void pass(const StepSpan& step, std::size_t next_span) {
    if (step.begin > end_) {
      OpenGap gap(end_, step.begin);
      gap.take(ChainPart::kStraggler, step.begin - step.waited_for_replica);
      ChainParts parts = chains_.explain(step.gate, end_, gap.at());
      for (std::size_t k = 0; k < kChainParts; ++k) parts[k] += gap.parts()[k];
      account(step.begin, parts, cause_at(next_span), next_span, false);
    }
    end_ = std::max(end_, step.end);
  }

  const Timeline& timeline_;
  GateChains<TimelineChains>& chains_;
  std::vector<IdleGap>* gaps_;  // null: only sums are asked for
  std::int32_t device_;
  const std::vector<const StepSpan*>& steps_;
  std::size_t first_ = 0;
  std::size_t last_ = 0;
  std::size_t first_backward_ = 0;
  std::size_t last_forward_ = 0;
  Nanoseconds end_ = 0;
  NanosecondsByCause causes_{};
};

IdleTimes::IdleTimes(const Timeline& timeline)
    : timeline_(timeline),
      run_(timeline),
      chains_(run_),
      last_(last_event(timeline)),
      steps_(static_cast<std::size_t>(timeline.devices)) {
  for (const StepSpan& step : timeline.steps) {
    if (step.lane == StepTask::Lane::kCompute) at(steps_, step.device).push_back(&step);
  }
  for (auto& steps : steps_) {
    std::stable_sort(steps.begin(), steps.end(),
                     [](const StepSpan* a, const StepSpan* b) { return a->begin < b->begin; });
  }
}

NanosecondsByCause IdleTimes::of(int device) {
  return DeviceWalk(timeline_, device, at(steps_, device), chains_).causes(last_);
}

void IdleTimes::add_gaps(int device, std::vector<IdleGap>& gaps) {
  (void)DeviceWalk(timeline_, device, at(steps_, device), chains_, &gaps).causes(last_);
}

Nanoseconds IdleTimes::steps_busy(int device) const {
  Nanoseconds busy = 0;
  for (const StepSpan* step : at(steps_, device)) busy += step->end - step->begin;
  return busy;
}

NanosecondsByCause IdleTimes::before(std::int32_t span) {
  const std::int32_t device = at(timeline_.spans, span).device;
  return DeviceWalk(timeline_, device, at(steps_, device), chains_).before(to_index(span));
}

std::vector<IdleGap> idle_gaps(const Timeline& timeline) {
  std::vector<IdleGap> gaps;
  IdleTimes times(timeline);
  for (int device = 0; device < timeline.devices; ++device) times.add_gaps(device, gaps);
  return gaps;
}

NanosecondsByCause wait_by_cause(const Timeline& timeline, std::int32_t span) {
  return IdleTimes(timeline).before(span);
}

}  // namespace debubble
