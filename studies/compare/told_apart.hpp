// Which rows of a comparison cannot be told apart from the fastest one.
#pragma once

#include <optional>
#include <vector>

#include "sim/analysis/beside_fastest.hpp"
#include "studies/compare/contender.hpp"

namespace debubble {

// One for each contender, in order. Nothing for the fastest itself, for rows without a range (their costs are not
// modelled) or with an error, and where fewer than two rows are left.
[[nodiscard]] std::vector<std::optional<BesideFastest>> beside_fastest(const std::vector<Contender>& contenders);

}  // namespace debubble
