// What kinds of op are called in texts.
#pragma once

#include <array>
#include <cstddef>

#include "sim/core/op.hpp"

#include "sim/core/at.hpp"

namespace debubble {

[[nodiscard]] constexpr const char* word_of(OpKind kind) {
  constexpr std::array<const char*, kOpKinds> kWords{
      "forward",   "backward",          "input gradient",     "weight gradient",
      "recompute", "vocabulary logits", "vocabulary gradient"};
  return at(kWords, kind);
}

}  // namespace debubble
