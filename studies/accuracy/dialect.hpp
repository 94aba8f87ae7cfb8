// The words with which the JSON readers complain about published results and their calibration.
#pragma once

#include "formats/problems/json_dialect.hpp"

namespace debubble {

[[nodiscard]] const JsonDialect& results_dialect();

}  // namespace debubble
