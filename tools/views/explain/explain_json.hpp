// What `debubble explain` found, as JSON: docs/explain.schema.json.
#pragma once

#include <string>

#include "formats/exporters/report_json.hpp"
#include "scenario/job/run.hpp"
#include "tools/views/explain/op_story.hpp"
#include "tools/views/explain/step_view.hpp"

namespace debubble {

[[nodiscard]] std::string op_story_json(const OpStory& story, const Run& run, const ToolFacts& tool);
[[nodiscard]] std::string step_story_json(const StepStory& story, const Run& run, const ToolFacts& tool);

}  // namespace debubble
