// What kinds of op are called in texts.
#pragma once

#include "sim/core/op.hpp"

namespace debubble {

[[nodiscard]] constexpr const char* word_of(OpKind kind) { return rule_of(kind).word; }

}  // namespace debubble
