// What `debubble explain` found, as JSON: docs/explain.schema.json.
#pragma once

#include <string>

#include "tools/explain/op_story.hpp"
#include "tools/explain/step_view.hpp"
#include "tools/exporters/report_json.hpp"
#include "tools/run.hpp"

namespace debubble {

[[nodiscard]] std::string op_story_json(const OpStory& story, const Run& run, const ToolFacts& tool);
[[nodiscard]] std::string step_story_json(const StepStory& story, const Run& run, const ToolFacts& tool);

}  // namespace debubble
