#include "tools/views/explain/words.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "sim/core/at.hpp"
#include "sim/core/op_words.hpp"
#include "sim/core/with_thing.hpp"

namespace debubble {
namespace {

struct Namer {
  const Timeline& timeline;

  std::string operator()(const Span& span) const {
    return fmt::format("{} on device {}", name_of(span, timeline), span.device);
  }
  std::string operator()(const Transfer& transfer) const {
    return fmt::format("the transfer of {} from device {} to device {}", to_string(transfer.op), transfer.from_device,
                       transfer.to_device);
  }
  std::string operator()(const CopySpan& copy) const {
    return fmt::format("the copy {} of {} on device {}", copy.way == Copy::Way::kOut ? "out" : "back",
                       to_string(copy.op), copy.device);
  }
  std::string operator()(const Collective& barrier) const {
    return fmt::format("the barrier after {} of microbatch {}", letter(barrier.kind), barrier.microbatch);
  }
  std::string operator()(const StepSpan& step) const {
    return fmt::format("{} on device {}", step.what.empty() ? to_string(step.kind) : step.what, step.device);
  }
};

}  // namespace

std::string name_of(const Span& span, const Timeline& timeline) {
  const Op* const partner = timeline.partner(span);
  return partner != nullptr ? to_string(span.op) + " with " + to_string(*partner) : to_string(span.op);
}

std::string meaning_of(const Op& op, const Schedule& schedule) {
  std::string text = fmt::format("{} of microbatch {}", word_of(op.kind), op.microbatch / schedule.pieces);
  if (schedule.pieces > 1) {
    text += fmt::format(", {} {}", schedule.sliced ? "slice" : "piece", op.microbatch % schedule.pieces);
  }
  return text + (is_vocabulary(op.kind) ? " in the shard of device " : " on stage ") + std::to_string(op.stage);
}

std::string in_words(const Gate& gate, const Timeline& timeline) {
  return gate.kind == Gate::Kind::kStart ? "nothing" : with_thing(gate, timeline, Namer{timeline});
}

const char* to_string(Gate::Kind kind) {
  return at(std::array{"start", "span", "transfer", "copy", "barrier", "step"}, kind);
}

Times times_of(const Gate& gate, const Timeline& timeline) {
  return with_thing(gate, timeline, [](const auto& thing) { return Times{thing.begin, thing.end}; });
}

Gate gate_of(const Gate& gate, const Timeline& timeline) {
  return with_thing(gate, timeline, [](const auto& thing) { return thing.gate; });
}

}  // namespace debubble
