// What `debubble explain` found, as JSON: docs/explain.schema.json.
#pragma once

#include <string>

#include "formats/exporters/report_json.hpp"
#include "studies/simulate/simulate.hpp"
#include "tools/views/explain/cost_view.hpp"
#include "tools/views/explain/op_story.hpp"
#include "tools/views/explain/step_view.hpp"

namespace debubble {

[[nodiscard]] std::string op_story_json(const OpStory& story, const Simulated& run, const ToolFacts& tool);
[[nodiscard]] std::string step_story_json(const StepStory& story, const Simulated& run, const ToolFacts& tool);

// A CostStory for programs: docs/explain.schema.json (topic "cost"), and one row per operator as CSV.
[[nodiscard]] std::string cost_story_json(const CostStory& story, const Simulated& run, const ToolFacts& tool);

// The operators of all layers, then a row per phase that waits for the host, which belongs to no operator.
[[nodiscard]] std::string cost_story_csv(const CostStory& story);

}  // namespace debubble
