// The parameters of a catalog's row, the same for schedules, transforms and planners.
#pragma once

#include <string>
#include <vector>

#include "formats/json/json.hpp"
#include "schedules/common/contract.hpp"

namespace debubble {

// "1..p/2 (default 1): what it does"
[[nodiscard]] std::string param_words(const ParamSpec& param);

[[nodiscard]] Json params_json(const std::vector<ParamSpec>& params);

}  // namespace debubble
