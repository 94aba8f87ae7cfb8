// TraceBuffer: the 64-bit words that one device writes in an iteration, in its own memory, downloaded by the host after
// the iteration: time stamps, chain values, payload checksums.
//
//     | iteration | pipeline end | op 0: begin end chain seen | op 1: ... | sends: begin end sum | receives: sum | W |
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "gpu/workload/device.hpp"
#include "live/job.hpp"

namespace debubble::live {

enum class OpWord : std::uint8_t { kBegin, kEnd, kChain, kSeen };
enum class SendWord : std::uint8_t { kBegin, kEnd, kSum };

class TraceBuffer {
 public:
  static constexpr std::size_t kIteration = 0;
  static constexpr std::size_t kPipelineEnd = 1;
  static constexpr std::size_t kFirst = 2;  // from here on everything is zero when an iteration begins

  TraceBuffer(const Job& job, std::int32_t device, WorkDevice& memory);
  ~TraceBuffer();
  TraceBuffer(const TraceBuffer&) = delete;
  TraceBuffer& operator=(const TraceBuffer&) = delete;

  // Numbers of words; `position` in the device's row. A tensor must be one that travels from, or to, the device.
  [[nodiscard]] std::size_t of_op(std::size_t position, OpWord word) const {
    return kFirst + 4 * position + static_cast<std::size_t>(word);
  }
  [[nodiscard]] std::size_t of_send(const Tensor& tensor, SendWord word) const {
    return sends_.at(tensor) + static_cast<std::size_t>(word);
  }
  [[nodiscard]] std::size_t of_receive(const Tensor& tensor) const { return receives_.at(tensor); }
  [[nodiscard]] std::size_t of_weights(std::int32_t replica, std::int32_t stage) const {
    return weights_.at({replica, stage});
  }
  [[nodiscard]] const std::map<Tensor, std::size_t>& sends() const { return sends_; }
  [[nodiscard]] const std::map<Tensor, std::size_t>& receives() const { return receives_; }
  [[nodiscard]] const std::map<std::pair<std::int32_t, std::int32_t>, std::size_t>& weights() const { return weights_; }

  [[nodiscard]] DeviceAddress address(std::size_t word) const { return data_ + word * sizeof(std::uint64_t); }
  [[nodiscard]] Bytes bytes() const { return static_cast<Bytes>(words_.size() * sizeof(std::uint64_t)); }

  // What the device wrote, once downloaded into `words`.
  [[nodiscard]] std::vector<std::uint64_t>& words() { return words_; }
  [[nodiscard]] std::uint64_t operator[](std::size_t word) const { return words_[word]; }

 private:
  WorkDevice& memory_;
  std::map<Tensor, std::size_t> sends_;
  std::map<Tensor, std::size_t> receives_;
  std::map<std::pair<std::int32_t, std::int32_t>, std::size_t> weights_;  // by replica and stage
  std::vector<std::uint64_t> words_;
  DeviceAddress data_ = 0;
};

}  // namespace debubble::live
