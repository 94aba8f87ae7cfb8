// Reports as JSON: the contract of `--format json`, schema_version 1, published as docs/report.schema.json.
//
//     { "schema_version": 1, "tool": {...}, "command_line": "...", "schedule": {...}, "assumptions": [...],
//       "makespan_ns": 33000000, ..., "critical_path": {...}, "devices": [...], "findings": [...] }
//
// Keys are in a fixed order and carry their unit; times and sizes are integers in ns and bytes; ratios are printed
// with the digits that bring back the same double; what is not known, or not a finite number, is null. The same report
// gives the same bytes everywhere. Text ends in a newline.
//
// A run without result (a deadlock, or a request that was refused) has `schedule`, `assumptions`, `findings`, and for
// a deadlock `deadlock`, but none of the numbers.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/json/json.hpp"
#include "schedules/needs.hpp"
#include "sim/analysis/beside_fastest.hpp"
#include "sim/analysis/limit.hpp"
#include "sim/analysis/report.hpp"
#include "sim/core/assumption.hpp"

namespace debubble {

// What the JSON says about the program that made it.
struct ToolFacts {
  std::string version;
  std::string command_line;  // as typed; bytes that are not UTF-8 are replaced
};

// What every document begins with: {"schema_version": 1, "tool": {...}, "command_line": "..."}
[[nodiscard]] Json json_head(int version, const ToolFacts& tool);

// One run: `simulate`, `live`. `more` is what find_limit takes.
[[nodiscard]] std::string report_json(const Report& report, const ToolFacts& tool, const MoreMicrobatches& more = {});
// Parts of it, for documents that have these, too.
[[nodiscard]] Json schedule_json(const ScheduleFacts& facts);
[[nodiscard]] Json assumptions_json(const std::vector<Assumption>& assumptions);
[[nodiscard]] Json limit_json(const Limit& limit);

// A range as `step_range` of a run, and the kinds of work that it comes from.
[[nodiscard]] Json time_kinds_json(const std::vector<TimeKind>& kinds);
[[nodiscard]] Json step_range_json(const StepRange& range);

// Several: {"schema_version": 1, "runs": [...]} for `compare`, each with what its schedule needs and how it stands
// beside the fastest; of several configurations, by whose file.
[[nodiscard]] std::string reports_json(std::span<const Report> reports, std::span<const ScheduleNeeds> needs,
                                       const ToolFacts& tool, std::span<const std::optional<BesideFastest>> beside = {},
                                       std::span<const std::string> configs = {});

// Whether the run has numbers at all: it ended, so every field of the report means something.
[[nodiscard]] inline bool has_result(const Report& report) { return !report.deadlock && !report.devices.empty(); }

}  // namespace debubble
