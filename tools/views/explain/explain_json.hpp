// What `debubble explain` found, as JSON: docs/explain.schema.json.
#pragma once

#include <string>

#include "formats/exporters/report_json.hpp"
#include "studies/simulate/simulate.hpp"
#include "tools/views/explain/op_story.hpp"
#include "tools/views/explain/step_view.hpp"

namespace debubble {

[[nodiscard]] std::string op_story_json(const OpStory& story, const Simulated& run, const ToolFacts& tool);
[[nodiscard]] std::string step_story_json(const StepStory& story, const Simulated& run, const ToolFacts& tool);

}  // namespace debubble
