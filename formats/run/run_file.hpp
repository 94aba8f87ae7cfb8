// Run files, `debubble.run/1` (docs/run.schema.json): a RunRecord as JSON; ".gz" compresses. The schedule is written
// op by op, so a run replays exactly, whatever made its schedule.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "sim/core/run_record.hpp"

namespace debubble {

// Throws InputError T054, at the flag `place`, for schedules whose runs could not be read back (not_observable).
void refuse_what_cannot_be_read_back(const Schedule& schedule, const std::string& place = "--save-run");

// Writes piece by piece: a run of millions of ops builds no tree. Integers only; the same record gives the same bytes.
// Refuses what could not be read back, before the first piece.
void write_run_file(const RunRecord& record, const std::function<void(std::string_view)>& sink);

// Strict, like all our readers: unknown keys, wrong types, ops out of range, overlapping spans, ... are errors (P001 to
// P022, and those of assemble_timeline), all of them at once, each with its place. `name` is for messages.
[[nodiscard]] RunRecord read_run_text(std::string_view text, const std::string& name);
// The same from a file, which may be gzipped. Throws InputError C005 when it cannot be read.
[[nodiscard]] RunRecord read_run_file(const std::string& path);

}  // namespace debubble
