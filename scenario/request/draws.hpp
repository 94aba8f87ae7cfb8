// Random numbers that are functions of (seed, index): the same on every machine, in any order, on any thread.
#pragma once

#include <cstdint>

namespace debubble {

// In (0, 1), never 0 or 1.
[[nodiscard]] double uniform_draw(std::uint64_t seed, std::uint64_t index);
// Mean 0, standard deviation 1.
[[nodiscard]] double normal_draw(std::uint64_t seed, std::uint64_t index);

}  // namespace debubble
