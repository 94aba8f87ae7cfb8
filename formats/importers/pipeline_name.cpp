#include "formats/importers/pipeline_name.hpp"

#include <optional>

#include "sim/core/numbers.hpp"

namespace debubble {
namespace {

std::optional<std::int32_t> take_name_number(std::string_view& text) {
  return text.starts_with('-') ? std::nullopt : take_whole<std::int32_t>(text);
}

bool take_prefix(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

// "0F3", taken from the front.
std::optional<Op> take_op(std::string_view& text) {
  const auto stage = take_name_number(text);
  if (!stage || text.empty()) return std::nullopt;
  const std::size_t kind = std::string_view("FBIW").find(text.front());
  if (kind == std::string_view::npos) return std::nullopt;
  text.remove_prefix(1);
  const auto microbatch = take_name_number(text);
  if (!microbatch) return std::nullopt;
  return Op{static_cast<OpKind>(kind), false, *stage, *microbatch};
}

bool parse_pair(std::string_view text, PipelineName& name) {
  const auto first = take_prefix(text, "(") ? take_op(text) : std::nullopt;
  const auto second = first && take_prefix(text, ";") ? take_op(text) : std::nullopt;
  if (!second || text != ")OVERLAP_F_B") return false;
  name.kind = PipelineName::Kind::kOp;
  name.op = *first;
  name.partner = *second;
  name.paired = true;
  return true;
}

bool parse_op(std::string_view text, PipelineName& name) {
  const auto op = take_op(text);
  if (!op || !text.empty()) return false;
  name.kind = PipelineName::Kind::kOp;
  name.op = *op;
  return true;
}

// "0SEND_F3": stage 0's output; "1RECV_F3" is the same one, "0RECV_B3" is that of stage 1.
bool parse_end(std::string_view text, PipelineName& name) {
  const auto stage = take_name_number(text);
  if (!stage) return false;
  const bool sends = take_prefix(text, "SEND_");
  if (!sends && !take_prefix(text, "RECV_")) return false;
  const bool forward = take_prefix(text, "F");
  if (!forward && !take_prefix(text, "B")) return false;
  const auto microbatch = take_name_number(text);
  if (!microbatch || !text.empty()) return false;
  const std::int32_t back = forward ? -1 : 1;
  name.kind = sends ? PipelineName::Kind::kSend : PipelineName::Kind::kReceive;
  name.op = {forward ? OpKind::kForward : OpKind::kBackward, false, sends ? *stage : *stage + back, *microbatch};
  return true;
}

// "1UNSHARD", "0WAIT_SEND_F3"
bool parse_beside(std::string_view text, PipelineName& name) {
  if (!take_name_number(text)) return false;
  const bool waits = take_prefix(text, "WAIT_SEND_") || take_prefix(text, "WAIT_RECV_");
  if (waits && (take_prefix(text, "F") || take_prefix(text, "B"))) {
    if (!take_name_number(text) || !text.empty()) return false;
  } else if (text != "UNSHARD" && text != "RESHARD" && text != "REDUCE_GRAD" && text != "WAIT_REDUCE_GRAD") {
    return false;
  }
  name.kind = PipelineName::Kind::kBeside;
  return true;
}

}  // namespace

PipelineName parse_pipeline_name(std::string_view text) {
  PipelineName name;
  if (!take_prefix(text, "PP:")) return name;
  if (parse_pair(text, name) || parse_op(text, name) || parse_end(text, name) || parse_beside(text, name)) return name;
  name.kind = PipelineName::Kind::kOther;
  return name;
}

}  // namespace debubble
