// Schedules in files: `--schedule FILE` of every verb, and the native format that loses nothing.
//
// A native file, `debubble.schedule/1` (docs/schedule.schema.json), holds a Schedule whole: slices, copies,
// side-by-side pairs, replicas, asynchrony. The others are PyTorch's two tables and the zero-bubble authors' node list.
// The text decides which of them a file is, not its name; any may be gzipped.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "sim/core/schedule.hpp"

namespace debubble {

void write_schedule_file(const Schedule& schedule, const std::function<void(std::string_view)>& sink);

// Reads any of the formats, strictly: throws InputError with everything that is wrong. `name` is for messages. Of the
// formats that do not name their schedule the name is `name`.
[[nodiscard]] Schedule read_schedule_text(std::string_view text, const std::string& name);
// The same from a file. Throws InputError C005 when it cannot be read.
[[nodiscard]] Schedule read_schedule_file(const std::string& path);

}  // namespace debubble
