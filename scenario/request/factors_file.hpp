// Per-microbatch factors from a file: CSV, or JSON `debubble.factors/1`.
//
//     microbatch,factor        microbatch,tokens      {"schema": "debubble.factors/1", "factors": [1.25, 0.75]}
//     0,1.25                   0,5120                 {"schema": "debubble.factors/1", "tokens": [5120, 3072]}
//     1,0.75                   1,3072
//
// `factor` is taken as it is. `tokens` are divided by their mean: a microbatch of twice the tokens takes twice as long.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace debubble {

// Strict: every row once and in order, nothing unknown. Throws InputError with everything that is wrong.
[[nodiscard]] std::vector<double> read_factors_file(std::string_view text, const std::string& name);

}  // namespace debubble
