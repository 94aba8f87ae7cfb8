#include "sim/analysis/peak_op.hpp"

#include <cstddef>

namespace debubble {

PeakOp peak_op(const Gate& cause, const Timeline& timeline) {
  const auto index = static_cast<std::size_t>(cause.index);
  if (cause.kind == Gate::Kind::kCopy) {
    const CopySpan& copy = timeline.copies[index];
    return {copy.way == Copy::Way::kOut ? PeakOp::Kind::kCopyOut : PeakOp::Kind::kCopyBack, copy.op, {}};
  }
  const Span& span = timeline.spans[index];
  const Op* const partner = timeline.partner(span);
  return partner != nullptr ? PeakOp{PeakOp::Kind::kPair, span.op, *partner} : PeakOp{PeakOp::Kind::kOp, span.op, {}};
}

std::string to_string(const PeakOp& peak) {
  switch (peak.kind) {
    case PeakOp::Kind::kNothing:
      break;
    case PeakOp::Kind::kOp:
      return to_string(peak.op);
    case PeakOp::Kind::kPair:
      return to_string(peak.op) + " with " + to_string(peak.partner);
    case PeakOp::Kind::kCopyOut:
      return "OFFLOAD " + to_string(peak.op);
    case PeakOp::Kind::kCopyBack:
      return "RELOAD " + to_string(peak.op);
  }
  return "";
}

}  // namespace debubble
