// The pages of verbs about one run or two: simulate, live, whatif, diff. What is given must outlive them.
#pragma once

#include <optional>
#include <string>

#include "studies/diff/diff.hpp"
#include "studies/simulate/simulate.hpp"
#include "studies/whatif/result.hpp"
#include "tools/views/advice.hpp"
#include "tools/views/html/page.hpp"

namespace debubble {

// A run without result, or of more ops than a chart shows, has a page without charts of them.
[[nodiscard]] Page run_page(const std::string& verb, const Simulated& run, const AdviceContext& context,
                            const std::string& command_line);

// The runs of a what-if, op by op; `changed` where something was.
struct WhatIfRuns {
  std::optional<Simulated> base;
  std::optional<Simulated> changed;
};

[[nodiscard]] Page whatif_page(const WhatIfResult& result, const WhatIfRuns& runs, const std::string& command_line);

[[nodiscard]] Page diff_page(const Diff& diff, const std::string& command_line);

}  // namespace debubble
