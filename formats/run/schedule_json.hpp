// A Schedule as a JSON object, as run files and schedule files hold it. read_run_schedule (formats/run/run_parts.hpp)
// reads it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "formats/json/json_lines.hpp"
#include "sim/core/schedule.hpp"

namespace debubble {

// The object, as a value that `json` expects. What a plain schedule does without is only written where it differs.
void write_schedule(JsonLines& json, const Schedule& schedule);

// An array of texts; nothing when there are none.
void write_texts(JsonLines& json, std::string_view key, const std::vector<std::string>& texts);

}  // namespace debubble
