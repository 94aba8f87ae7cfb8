// How many ranks a launch has, by the options of its launchers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/shell/evaluator.hpp"

namespace debubble {

struct RankCount {
  std::optional<std::int64_t> ranks;
  std::vector<int> causes;  // where something that is not known decides it
  std::string missing;      // what would say it
};

[[nodiscard]] RankCount rank_count(const shell::Launch& launch);

}  // namespace debubble
