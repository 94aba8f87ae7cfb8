// The page of one run: `simulate --html`.
#pragma once

#include <string>

#include "studies/simulate/simulate.hpp"
#include "tools/views/advice.hpp"
#include "tools/views/html/page.hpp"

namespace debubble {

// The run must outlive it. A run without result, or of more ops than a chart shows, has a page without charts of them.
[[nodiscard]] Page run_page(const std::string& verb, const Simulated& run, const AdviceContext& context,
                            const std::string& command_line);

}  // namespace debubble
