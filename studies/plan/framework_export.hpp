// A scenario as the pieces that a framework wants to be told, and what of it the framework cannot do.
#pragma once

#include <string>
#include <vector>

#include "scenario/job/job.hpp"
#include "scenario/request/scenario.hpp"

namespace debubble {

struct FrameworkExport {
  std::string text;                // arguments (one a line), TOML, or JSON
  std::vector<std::string> notes;  // what else it needs, and what it does not do
};

// `framework` is one of kFrameworks. Throws InputError: C004 without a model, T054 where its rules refuse the
// run.
[[nodiscard]] FrameworkExport export_to_framework(const std::string& framework, const ScenarioFlags& flags,
                                                  const Scenario& scenario, const Job& job);

}  // namespace debubble
