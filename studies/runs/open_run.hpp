// One side of a comparison, whatever form it has: a run file, a Chrome trace of ours, PyTorch traces (one per rank), or
// a scenario to simulate.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "formats/importers/runs/run_reader.hpp"
#include "scenario/job/progress.hpp"
#include "scenario/request/scenario.hpp"
#include "sim/core/run_record.hpp"

namespace debubble {

// What kind of file a name refers to, by its content, not its ending:
//     {"format": "debubble.run/1", ...}         a run file
//     {"traceEvents": ...} with our metadata    a trace that `simulate --trace` or `live --trace` wrote
//     {"traceEvents": ...} with PP: ranges      PyTorch's; several files are the ranks of one run
//     what a reader of run_reader.hpp knows     another tool's; one per rank, or one of several
//     KEY = VALUE lines (.toml)                 a scenario, simulated with the shared flags' rules
enum class RunForm : std::uint8_t { kRunFile, kTrace, kKineto, kForeign, kScenario };
// Throws InputError C005 for a file that cannot be read, K001 for a damaged gzip file, P010 for one that is not one of
// these.
[[nodiscard]] RunForm run_form(const std::string& file);
// Whether a kForeign file is of one rank, so that several of them are one run.
[[nodiscard]] bool is_one_per_rank(const std::string& file);

// One side's files in messages: "r0.json and 3 more files".
[[nodiscard]] std::string names_of(const std::vector<std::string>& files);

// The flags in a scenario file. Throws InputError for an unreadable or faulty file.
using ScenarioFileReader = std::function<ScenarioFlags(const std::string& file)>;

// `schedule_of` (may be null) gives an imported trace the schedule and costs that it does not hold itself.
// Throws InputError (P010, P016, D004 to D010, V023) for files that are not one of these or that do not fit together.
[[nodiscard]] RunRecord open_run(const std::vector<std::string>& files, const RunRecord* schedule_of,
                                 const ScenarioFileReader& read_scenario, Progress& progress,
                                 const RunReaderOptions& options = {});

}  // namespace debubble
