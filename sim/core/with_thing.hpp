// What a gate of a timeline names: the span, transfer, copy, barrier or step.
#pragma once

#include "sim/core/at.hpp"
#include "sim/core/timeline.hpp"

namespace debubble {

// visit(thing), with the thing that the gate names; for kStart, what a default of visit's result is.
template <typename Visit>
auto with_thing(const Gate& gate, const Timeline& timeline, const Visit& visit) -> decltype(visit(Span())) {
  switch (gate.kind) {
    case Gate::Kind::kStart:
      break;
    case Gate::Kind::kSpan:
      return visit(at(timeline.spans, gate.index));
    case Gate::Kind::kTransfer:
      return visit(at(timeline.transfers, gate.index));
    case Gate::Kind::kCopy:
      return visit(at(timeline.copies, gate.index));
    case Gate::Kind::kCollective:
      return visit(at(timeline.collectives, gate.index));
    case Gate::Kind::kStep:
      return visit(at(timeline.steps, gate.index));
  }
  return {};
}

}  // namespace debubble
