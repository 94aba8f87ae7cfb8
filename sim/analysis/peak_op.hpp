// PeakOp: what reached a device's memory peak.
#pragma once

#include <string>

#include "sim/core/timeline.hpp"

namespace debubble {

struct PeakOp {
  enum class Kind { kNothing, kOp, kPair, kCopyOut, kCopyBack };
  Kind kind = Kind::kNothing;  // kNothing: the static state is the peak
  Op op;                       // of a copy: whose activation it moves
  Op partner;                  // of a pair

  [[nodiscard]] bool empty() const { return kind == Kind::kNothing; }
};

// Of a gate that is an op or a copy.
[[nodiscard]] PeakOp peak_op(const Gate& cause, const Timeline& timeline);

// "2F3", "2F3 with 1B0" for an overlapped pair, "OFFLOAD 0F3" for a copy, as traces call it; "" for nothing.
[[nodiscard]] std::string to_string(const PeakOp& peak);

}  // namespace debubble
