#include "formats/importers/recovery/range_words.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "sim/core/quantities.hpp"
#include "sim/core/words.hpp"

namespace debubble {
namespace {

using Kind = RangeMeaning::Kind;

struct RangeWord {
  std::string_view word;
  Kind kind;
  std::uint8_t ends = 0;
};

constexpr std::array kRangeWords{
    RangeWord{"forward_step", Kind::kForward},
    RangeWord{"forward_step_helper", Kind::kForward},
    RangeWord{"forward-compute", Kind::kForward},
    RangeWord{"forward_compute", Kind::kForward},
    RangeWord{"ForwardPass", Kind::kForward},
    RangeWord{"_exec_forward_pass", Kind::kForward},
    RangeWord{"forward_one_chunk", Kind::kForward},
    RangeWord{"Forward", Kind::kForward},
    RangeWord{"backward_step", Kind::kBackward},
    RangeWord{"backward_step_helper", Kind::kBackward},
    RangeWord{"backward-compute", Kind::kBackward},
    RangeWord{"backward_compute", Kind::kBackward},
    RangeWord{"BackwardPass", Kind::kBackward},
    RangeWord{"_exec_backward_pass", Kind::kBackward},
    RangeWord{"backward_one_chunk", Kind::kBackward},
    RangeWord{"Backward", Kind::kBackward},
    RangeWord{"recv_forward", Kind::kDirected, kReceivesForward},
    RangeWord{"send_forward", Kind::kDirected, kSendsForward},
    RangeWord{"recv_backward", Kind::kDirected, kReceivesBackward},
    RangeWord{"send_backward", Kind::kDirected, kSendsBackward},
    RangeWord{"send_forward_recv_backward", Kind::kDirected, kSendsForward | kReceivesBackward},
    RangeWord{"send_backward_recv_forward", Kind::kDirected, kSendsBackward | kReceivesForward},
    RangeWord{"forward-recv", Kind::kDirected, kReceivesForward},
    RangeWord{"forward-send", Kind::kDirected, kSendsForward},
    RangeWord{"backward-recv", Kind::kDirected, kReceivesBackward},
    RangeWord{"backward-send", Kind::kDirected, kSendsBackward},
    RangeWord{"forward-send-backward-recv", Kind::kDirected, kSendsForward | kReceivesBackward},
    RangeWord{"backward-send-forward-recv", Kind::kDirected, kSendsBackward | kReceivesForward},
    RangeWord{"RecvActivation", Kind::kDirected, kReceivesForward},
    RangeWord{"SendActivation", Kind::kDirected, kSendsForward},
    RangeWord{"RecvGrad", Kind::kDirected, kReceivesBackward},
    RangeWord{"SendGrad", Kind::kDirected, kSendsBackward},
    RangeWord{"_exec_recv_activations", Kind::kDirected, kReceivesForward},
    RangeWord{"_exec_send_activations", Kind::kDirected, kSendsForward},
    RangeWord{"_exec_recv_grads", Kind::kDirected, kReceivesBackward},
    RangeWord{"_exec_send_grads", Kind::kDirected, kSendsBackward},
    RangeWord{"ncclSend", Kind::kTransfer, kSends},
    RangeWord{"ncclRecv", Kind::kTransfer, kReceives},
    RangeWord{"OptimizerStep", Kind::kOptimizer},
    RangeWord{"_exec_optimizer_step", Kind::kOptimizer},
    RangeWord{"optimizer", Kind::kOptimizer},
};

constexpr std::array<std::string_view, 5> kIterationWords{"ProfilerStep", "iteration", "Iteration", "step",
                                                          "train_step"};
constexpr std::string_view kNodePrefix = "autograd::engine::evaluate_function: ";

std::optional<std::int32_t> small_number(std::string_view digits) {
  const auto number = whole_number(digits);
  if (!number || *number < 0 || *number > 1'000'000) return std::nullopt;
  return static_cast<std::int32_t>(*number);
}

// Cuts "ProfilerStep#12" and "Forward 3" in word and number; without a number the word is the whole.
struct WordAndNumber {
  std::string_view word;
  std::int32_t number = -1;
};

WordAndNumber word_and_number(std::string_view text) {
  std::size_t end = text.size();
  while (end > 0 && is_digit(text[end - 1])) --end;
  if (end == text.size() || end == 0) return {text, -1};
  constexpr std::string_view kBetween = " _#:-=";
  std::size_t cut = end;
  while (cut > 0 && kBetween.find(text[cut - 1]) != std::string_view::npos) --cut;
  const auto number = small_number(text.substr(end));
  if (!number || cut == end || cut == 0) return {text, -1};
  return {text.substr(0, cut), *number};
}

// "megatron.core.pipeline_parallel.schedules.forward_step" without what leads there.
std::string_view last_part(std::string_view text) {
  const std::size_t dot = text.rfind('.');
  return dot == std::string_view::npos ? text : text.substr(dot + 1);
}

// "nccl:send 0->1", "gloo:recv", "c10d::recv_", "nccl:coalesced".
RangeMeaning transfer_meaning(std::string_view text) {
  RangeMeaning meaning;
  for (const std::string_view backend : {"c10d::", "nccl:", "gloo:", "mpi:"}) {
    if (!text.starts_with(backend)) continue;
    std::string_view rest = text.substr(backend.size());
    if (rest.starts_with("send")) meaning.ends = kSends;
    if (rest.starts_with("recv")) meaning.ends = kReceives;
    if (meaning.ends == 0) {
      if (!rest.starts_with("coalesced")) meaning.kind = Kind::kCollective;
      return meaning;
    }
    meaning.kind = Kind::kTransfer;
    meaning.completes = backend == "gloo:" || backend == "mpi:";
    meaning.dispatched = backend == "c10d::";
    const std::size_t arrow = rest.find(meaning.ends == kSends ? "->" : "<-");
    if (arrow == std::string_view::npos) return meaning;
    rest.remove_prefix(std::min<std::size_t>(rest.size(), 5));  // "send "
    const std::size_t at = arrow < 5 ? 0 : arrow - 5;
    meaning.self = small_number(rest.substr(0, at)).value_or(-1);
    meaning.peer = small_number(rest.size() < at + 2 ? "" : rest.substr(at + 2)).value_or(-1);
    return meaning;
  }
  return meaning;
}

}  // namespace

std::int64_t sequence_in(std::string_view name) {
  constexpr std::string_view kKey = ", seq = ";
  const std::size_t at = name.find(kKey);
  if (at == std::string_view::npos) return -1;
  const std::string_view rest = name.substr(at + kKey.size());
  return whole_number(rest.substr(0, rest.find_first_not_of("0123456789"))).value_or(-1);
}

std::string_view node_in(std::string_view name) {
  const std::size_t at = name.rfind(": ");
  return at == std::string_view::npos ? name : name.substr(at + 2);
}

std::string_view iteration_name(std::string_view name) { return last_part(name.substr(0, name.find(", "))); }

RangeMeaning meaning_of(std::string_view name) {
  if (name.starts_with(kNodePrefix)) return {.kind = Kind::kNode};
  const std::string_view text = name.substr(0, name.find(", "));
  RangeMeaning meaning = transfer_meaning(text);
  if (meaning.kind != Kind::kNone) return meaning;
  if (text.starts_with("Optimizer.step#")) return {.kind = Kind::kOptimizer};
  const WordAndNumber parts = word_and_number(last_part(text));
  if (parts.number >= 0 &&
      std::find(kIterationWords.begin(), kIterationWords.end(), parts.word) != kIterationWords.end()) {
    return {.kind = Kind::kIteration};
  }
  const auto found = std::find_if(kRangeWords.begin(), kRangeWords.end(),
                                  [&](const RangeWord& word) { return word.word == parts.word; });
  if (found == kRangeWords.end()) return meaning;
  const bool bare = parts.word == "Forward" || parts.word == "Backward";
  if (bare && parts.number < 0) return meaning;  // of a module of that name
  meaning.kind = found->kind;
  meaning.ends = found->ends;
  if (meaning.kind == Kind::kForward || meaning.kind == Kind::kBackward) meaning.microbatch = parts.number;
  return meaning;
}

bool is_send_recv_kernel(std::string_view name) {
  return contains_text(name, "ncclKernel_SendRecv") || contains_text(name, "ncclDevKernel_SendRecv") ||
         contains_text(name, "ncclKernelSendRecv") || contains_text(name, "ncclSendRecvKernel");
}

bool is_collective_kernel(std::string_view name) {
  return contains_text(name, "ncclKernel") || contains_text(name, "ncclDevKernel") ||
         contains_text(name, "rcclGenericKernel") || contains_text(name, "ncclDevFunc");
}

}  // namespace debubble
