// The part of a time that another is, 0 of nothing.
#pragma once

#include "sim/core/units.hpp"

namespace debubble {

[[nodiscard]] constexpr double share(Nanoseconds part, Nanoseconds whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace debubble
