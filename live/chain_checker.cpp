#include "live/chain_checker.hpp"

#include <string>

#include "sim/core/at.hpp"

namespace debubble::live {

namespace {

std::string hex(std::uint64_t value) {
  std::string text;
  for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[(value >> shift) & 15];
  return text;
}

// Which tensor has this chain, in words: what a device got in place of the right one.
std::string name_of_chain(const Schedule& schedule, std::uint64_t chain, std::int32_t iteration) {
  for (const bool gradient : {false, true}) {
    for (std::int32_t stage = 0; stage + 1 < schedule.stages; ++stage) {
      for (std::int32_t piece = 0; piece < schedule.total_pieces(); ++piece) {
        const Tensor tensor{gradient, stage, piece};
        if (expected_chain(schedule, tensor, iteration) == chain)
          return to_string(tensor) + " (chain " + hex(chain) + ")";
      }
    }
  }
  return "a tensor of unknown history (chain " + hex(chain) + ")";
}

}  // namespace

void ChainChecker::start(std::int32_t iteration) {
  iteration_ = iteration;
  for (Chains* each : {&forward_, &held_, &outputs_, &weights_}) each->clear();
}

void ChainChecker::check(const Op& op, const Tensor& tensor, std::uint64_t chain) const {
  const std::uint64_t expected = expected_chain(job_.schedule(), tensor, iteration_);
  if (chain == expected) return;
  throw WrongDataError(debubble::to_string(op) + " on device " + std::to_string(device_) + " expected " +
                       to_string(tensor) + " (chain " + hex(expected) + "), and got " +
                       name_of_chain(job_.schedule(), chain, iteration_));
}

void ChainChecker::check_bytes(const Op& op, const Tensor& tensor, std::uint64_t checksum,
                               std::span<const std::byte> bytes) const {
  const std::uint64_t found = checksum_of(bytes);
  if (checksum == found) return;
  throw WrongDataError(debubble::to_string(op) + " on device " + std::to_string(device_) + " expected " +
                       to_string(tensor) + " with checksum " + hex(checksum) +
                       ", and got it with changed bytes (checksum " + hex(found) + ")");
}

void ChainChecker::take(const Op& op, std::uint64_t input) {
  const Key key{op.stage, op.microbatch};
  std::uint64_t chain = 0;
  switch (op.kind) {
    case OpKind::kForward:
      forward_[key] = outputs_[key] = forward_chain(input, op.stage, op.microbatch, iteration_);
      return;
    case OpKind::kBackward:
    case OpKind::kInputGrad:
      chain = backward_chain(input, taken(op, forward_, OpKind::kForward), op.stage, op.microbatch, iteration_);
      outputs_[key] = chain;
      if (op.kind == OpKind::kInputGrad) held_[key] = chain;
      break;
    case OpKind::kWeightGrad:
      chain = taken(op, held_, OpKind::kInputGrad);
      break;
    case OpKind::kRecompute:
    case OpKind::kVocabularyLogits:
    case OpKind::kVocabularyGradient:
      return;  // no plan holds them
  }
  if (op.kind == OpKind::kInputGrad) return;
  const int replica = at(job_.schedule().replica_of, op.microbatch);
  weights_[{replica, op.stage}] += weight_chain(chain);
}

std::uint64_t ChainChecker::output(const Op& op) {
  if (op.kind == OpKind::kWeightGrad) return 0;
  return outputs_.extract({op.stage, op.microbatch}).mapped();
}

// The chain that an op of the same stage and piece has left for this one.
std::uint64_t ChainChecker::taken(const Op& op, Chains& left, OpKind by) const {
  const auto found = left.extract({op.stage, op.microbatch});
  if (!found.empty()) return found.mapped();
  throw WrongDataError(debubble::to_string(op) + " on device " + std::to_string(device_) + " needs " +
                       debubble::to_string(Op{by, false, op.stage, op.microbatch}) + ", which has not run yet");
}

void ChainChecker::check_weights() const {
  for (const auto& [key, sum] : weights_) {
    const std::uint64_t expected = expected_weight_chain(job_.schedule(), key.first, key.second, iteration_);
    if (sum == expected) continue;
    throw WrongDataError("the weight gradient of stage " + std::to_string(key.second) + " on device " +
                         std::to_string(device_) + " expected the sum of its microbatches' chains (" + hex(expected) +
                         "), and got " + hex(sum));
  }
}

}  // namespace debubble::live
