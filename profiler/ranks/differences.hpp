// Layers of one name on several ranks are taken for replicas of one layer. Where their times or sizes are clearly
// apart they may be something else: stages of a pipeline whose layers are numbered from 0 on every rank.
#pragma once

#include <string>
#include <vector>

#include "sim/core/profile.hpp"

namespace debubble {

struct RankProfile {
  std::string label;  // "rank 3"
  const Profile* profile = nullptr;
};

// One sentence, or nothing. Apart: a median of forward or backward, or a size, by more than a quarter, and a time by
// more than 5 us.
[[nodiscard]] std::string differences_between(const std::vector<RankProfile>& ranks);

}  // namespace debubble
