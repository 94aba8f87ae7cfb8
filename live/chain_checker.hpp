// ChainChecker: computes and checks the checksum chains of one device's iteration: what each op's output carries, and
// whether each input carries what it must.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>

#include "live/checksum.hpp"
#include "live/job.hpp"

namespace debubble::live {

class ChainChecker {
 public:
  // The job must outlive the checker.
  ChainChecker(const Job& job, std::int32_t device) : job_(job), device_(device) {}

  void start(std::int32_t iteration);

  // Throw WrongDataError, which names the op, what it should have got and what it got.
  void check(const Op& op, const Tensor& tensor, std::uint64_t chain) const;
  void check_bytes(const Op& op, const Tensor& tensor, std::uint64_t checksum, std::span<const std::byte> bytes) const;
  // The op runs on an input with this chain. Throws WrongDataError when an op of its own stage that it needs has not
  // run.
  void take(const Op& op, std::uint64_t input);
  // The chain of what the op makes, once it has run.
  [[nodiscard]] std::uint64_t output(const Op& op);
  // At the end: every stage's weight gradient has the parts of all its microbatches, each once. Throws WrongDataError.
  void check_weights() const;

 private:
  using Key = std::pair<std::int32_t, std::int32_t>;  // stage, piece
  using Chains = std::map<Key, std::uint64_t>;

  [[nodiscard]] std::uint64_t taken(const Op& op, Chains& left, OpKind by) const;

  const Job& job_;
  std::int32_t device_;
  std::int32_t iteration_ = 0;
  Chains forward_;  // of F, until its B or I
  Chains held_;     // of I, until its W
  Chains outputs_;  // of ops at work
  Chains weights_;  // by replica and stage: parts of the weight gradient so far, added up
};

}  // namespace debubble::live
