// Sequences: which forward op made an autograd node.
//
//     thread 7     aten::linear seq=4  [ aten::t seq=4  aten::addmm seq=5 ]       the op with the latest start that
//     thread 9     TBackward0 seq=4 -> aten::t     AddmmBackward0 seq=5 -> addmm    carries N made node N
//
// Numbers count per forward thread. A text range does not say the forward thread; then the newest op of that number
// outside of backward ranges is meant, or, in a backward that runs inside another (reentrant checkpointing), the op
// that was recomputed there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "profiler/attribution/shapes.hpp"
#include "profiler/attribution/slot.hpp"
#include "profiler/attribution/window.hpp"
#include "sim/core/units.hpp"

namespace debubble::attribution {

struct ForwardOp {
  std::uint64_t range = 0;
  Nanoseconds time = 0;
  std::uint32_t instance = kNoInstance;  // of the layer around it
  bool in_backward = false;              // recomputed there
  Matmul matmul;                         // operands, of a matmul
};

class Sequences {
 public:
  static constexpr std::size_t kMostOps = std::size_t{1} << 18;  // remembered per thread
  // Two numbers can fill a window, so thousands of made-up threads must not have large ones.
  static constexpr std::size_t kBusyThreads = 16;        // the first threads, which remember so many
  static constexpr std::size_t kMostOpsOfOthers = 1024;  // of every further thread
  explicit Sequences(std::size_t most_ops = kMostOps);

  struct Query {
    std::uint32_t thread = 0;          // that runs the node
    std::uint32_t forward_thread = 0;  // 0: not known
    std::int64_t sequence = 0;
    std::uint64_t outer = 0;  // the range of the backward node around this one; 0: none
  };

  void add(std::uint32_t thread, std::int64_t sequence, const ForwardOp& op);
  [[nodiscard]] const ForwardOp* find(const Query& query);
  // Nodes whose number ops of several threads carry.
  [[nodiscard]] std::int64_t ambiguous() const { return ambiguous_; }

 private:
  static constexpr std::size_t kFirst = 64;
  struct Owner {
    std::uint32_t thread = 0;
    bool known = false;
    bool contested = false;
  };
  [[nodiscard]] ForwardOp* find_on(std::uint32_t thread, std::int64_t sequence);

  std::size_t most_ops_;
  std::map<std::uint32_t, Window<ForwardOp>> ops_;
  Window<Owner> threads_of_;  // by sequence number
  std::int64_t ambiguous_ = 0;
};

}  // namespace debubble::attribution
