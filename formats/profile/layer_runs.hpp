// LayerRun: equal consecutive layers, as one entry of the profile file.
//
//     {"name": "block.4", "count": 3, ...}   is   block.4, block.5, block.6
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/profile.hpp"

namespace debubble {

// No model is this deep; the bound keeps a small file with large counts from filling the memory.
inline constexpr std::size_t kMostLayers = 100'000;

struct LayerRun {
  ProfileLayer first;
  std::size_t count = 1;
};

// The number at the end of a name, if there is one that can be counted on from: at most nine digits, no leading zero.
[[nodiscard]] std::optional<std::int64_t> trailing_number(std::string_view name);

// The name `steps` further on: numbered_on("block.4", 2) is "block.6". The name must end in a number unless steps is 0.
[[nodiscard]] std::string numbered_on(std::string_view name, std::size_t steps);

void append_run(const LayerRun& run, std::vector<ProfileLayer>& layers);

// The longest run that starts at `begin`. Inverse of append_run: appending all runs in order gives the layers back.
[[nodiscard]] LayerRun run_at(const std::vector<ProfileLayer>& layers, std::size_t begin);

}  // namespace debubble
