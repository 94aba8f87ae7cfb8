#include "tests/support/cluster_promises.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace debubble::testing {

namespace {

Nanoseconds end_of(const Timeline& timeline, const Gate& gate) {
  const auto index = static_cast<std::size_t>(gate.index);
  switch (gate.kind) {
    case Gate::Kind::kStart:
      break;
    case Gate::Kind::kSpan:
      return timeline.spans.at(index).end;
    case Gate::Kind::kTransfer:
      return timeline.transfers.at(index).end;
    case Gate::Kind::kCopy:
      return timeline.copies.at(index).end;
    case Gate::Kind::kCollective:
      return timeline.collectives.at(index).end;
    case Gate::Kind::kStep:
      return timeline.steps.at(index).end;
  }
  return 0;
}

template <typename Thing>
std::string gates_of(const Timeline& timeline, const std::vector<Thing>& things, const std::string& name,
                     Nanoseconds& latest) {
  for (std::size_t k = 0; k < things.size(); ++k) {
    Nanoseconds waited = 0;
    if constexpr (requires { things[k].waited_for_replica; }) waited = things[k].waited_for_replica;
    const Nanoseconds released = end_of(timeline, things[k].gate);
    const std::string who = name + " " + std::to_string(k);
    if (released + waited != things[k].begin) {
      return who + " begins at " + std::to_string(things[k].begin) + ", its gate ends at " + std::to_string(released);
    }
    if (waited < 0) return who + " waited less than nothing for a replica";
    if (things[k].end < things[k].begin) return who + " ends before it begins";
    latest = std::max(latest, things[k].end);
  }
  return "";
}

std::string overlaps(const Timeline& timeline) {
  for (std::size_t k = 0; k + 1 < timeline.spans.size(); ++k) {
    const Span& span = timeline.spans[k];
    if (span.device == timeline.spans[k + 1].device && timeline.spans[k + 1].begin < span.end) {
      return "span " + std::to_string(k + 1) + " begins before the one before it ends";
    }
    if (span.ready > span.begin) return "span " + std::to_string(k) + " begins before its inputs are there";
  }
  for (std::size_t k = 0; k < timeline.steps.size(); ++k) {
    const StepSpan& step = timeline.steps[k];
    if (k + 1 < timeline.steps.size()) {
      const StepSpan& next = timeline.steps[k + 1];
      if (std::pair(next.device, next.lane) < std::pair(step.device, step.lane)) return "steps are not in order";
      if (next.device == step.device && next.lane == step.lane && next.begin < step.end) return "steps overlap";
    }
    if (step.lane == StepTask::Lane::kCollective) continue;
    for (const Span& span : timeline.spans) {
      const bool apart = span.end <= step.begin || step.end <= span.begin;
      if (span.device == step.device && !apart) return "step " + std::to_string(k) + " runs beside an op";
    }
  }
  return "";
}

bool same(const Gate& a, const Gate& b) { return a.kind == b.kind && a.index == b.index; }

}  // namespace

std::string broken_timeline(const Timeline& timeline) {
  Nanoseconds latest = 0;
  Nanoseconds ignored = 0;
  for (const std::string& broken :
       {gates_of(timeline, timeline.spans, "span", latest), gates_of(timeline, timeline.steps, "step", latest),
        gates_of(timeline, timeline.transfers, "transfer", ignored),
        gates_of(timeline, timeline.copies, "copy", ignored),
        gates_of(timeline, timeline.collectives, "collective", ignored), overlaps(timeline)}) {
    if (!broken.empty()) return broken;
  }
  if (latest != timeline.makespan) return "the makespan is not the latest end";
  for (const Transfer& transfer : timeline.transfers) {
    if (transfer.contention < 0 || transfer.latency < 0 ||
        transfer.contention + transfer.latency > transfer.end - transfer.begin) {
      return "a transfer's parts do not fit into it";
    }
  }
  for (const StepSpan& step : timeline.steps) {
    if (step.contention < 0 || step.contention > step.end - step.begin) return "a step's contention does not fit";
  }
  for (const Span& span : timeline.spans) {
    const Nanoseconds slowed = timeline.slowed(span);
    if (slowed < 0 || slowed > span.end - span.begin) return "a span's slowing down does not fit";
  }
  return "";
}

std::string difference(const Timeline& one, const Timeline& other) {
  if (one.makespan != other.makespan) {
    return "makespans " + std::to_string(one.makespan) + " and " + std::to_string(other.makespan);
  }
  if (one.spans.size() != other.spans.size() || one.transfers.size() != other.transfers.size() ||
      one.copies.size() != other.copies.size() || one.collectives.size() != other.collectives.size()) {
    return "not as many things";
  }
  for (std::size_t k = 0; k < one.spans.size(); ++k) {
    const Span& a = one.spans[k];
    const Span& b = other.spans[k];
    if (a.op != b.op || a.begin != b.begin || a.end != b.end || a.ready != b.ready || !same(a.gate, b.gate) ||
        one.straggled(a) != other.straggled(b) || one.slowed(a) != other.slowed(b)) {
      return "span " + std::to_string(k);
    }
  }
  for (std::size_t k = 0; k < one.transfers.size(); ++k) {
    const Transfer& a = one.transfers[k];
    const Transfer& b = other.transfers[k];
    if (a.op != b.op || a.begin != b.begin || a.end != b.end || a.to_span != b.to_span || a.latency != b.latency ||
        a.contention != b.contention || a.bytes != b.bytes || !same(a.gate, b.gate)) {
      return "transfer " + std::to_string(k);
    }
  }
  for (std::size_t k = 0; k < one.copies.size(); ++k) {
    const CopySpan& a = one.copies[k];
    const CopySpan& b = other.copies[k];
    if (a.op != b.op || a.begin != b.begin || a.end != b.end || !same(a.gate, b.gate)) {
      return "copy " + std::to_string(k);
    }
  }
  for (std::size_t k = 0; k < one.collectives.size(); ++k) {
    const Collective& a = one.collectives[k];
    const Collective& b = other.collectives[k];
    if (a.begin != b.begin || a.end != b.end || !same(a.gate, b.gate)) return "collective " + std::to_string(k);
  }
  return "";
}

}  // namespace debubble::testing
