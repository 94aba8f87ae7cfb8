// A CostStory for programs: docs/explain.schema.json (topic "cost"), and one row per operator as CSV.
#pragma once

#include <string>

#include "formats/exporters/report_json.hpp"
#include "studies/simulate/simulate.hpp"
#include "tools/views/explain/cost_view.hpp"

namespace debubble {

[[nodiscard]] std::string cost_story_json(const CostStory& story, const Simulated& run, const ToolFacts& tool);

// The operators of all layers, then a row per phase that waits for the host, which belongs to no operator.
[[nodiscard]] std::string cost_story_csv(const CostStory& story);

}  // namespace debubble
