// What was assumed to make a job, and how its parts report it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/core/assumption.hpp"

namespace debubble {

// A part of a job, and what was assumed to make it.
template <typename Value>
struct Assumed {
  Value value;
  std::vector<Assumption> assumptions;
};

// One line of a report's assumptions.
void assume(std::vector<Assumption>& assumptions, std::string_view key, const std::string& amount, Source source);
[[nodiscard]] Source given_or_default(bool given);

// Moves the assumptions of a part to the end of those of the whole, and returns the part.
void append(std::vector<Assumption>& all, std::vector<Assumption> more);
template <typename Value>
[[nodiscard]] Value taken(Assumed<Value> part, std::vector<Assumption>& all) {
  append(all, std::move(part.assumptions));
  return std::move(part.value);
}

}  // namespace debubble
