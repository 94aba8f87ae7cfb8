// Suite: what `debubble check` looks at, `debubble.suite/1` (docs/suite.schema.json).
//
//     { "schema": "debubble.suite/1", "name": "nightly",
//       "tolerances": {"bubble_pp": 1, "step_percent": 2, "memory_percent": 1},
//       "scenarios": [
//         {"name": "zb-h1", "scenario": {"schedule": "zb-h1", "devices": 4, "times": "f=1,b=2"},
//          "measured": "runs/zb-h1.run.json.gz"},
//         {"name": "fresh", "scenario": {"schedule": "gpipe"}, "live": {"backend": "cpu"}, "required": false} ] }
//
// The keys of "scenario" are the shared flags by their long names, those of "live" the flags of `debubble live`. Paths
// are relative to the suite's own folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenario/request/scenario.hpp"
#include "sim/core/error.hpp"
#include "studies/live/flags.hpp"

namespace debubble {

// How far measured may be from predicted. The defaults are what debubble aims at.
struct Tolerances {
  double bubble_pp = 1;       // percentage points of bubble_ratio
  double step_percent = 2;    // of the predicted step time
  double memory_percent = 1;  // of the predicted peak activation memory, on the worst device
  // Who wants memory judged: where a run did not count it, a scenario's own word fails, the suite's for all warns.
  enum class Asker : std::uint8_t { kNobody, kSuite, kScenario };
  Asker memory_asked_by = Asker::kNobody;
};

struct SuiteScenario {
  std::string name;
  std::string pointer;                 // "/scenarios/3"
  int line = 1;                        // of the suite file, where it begins
  std::optional<ScenarioFlags> flags;  // absent: the measured run's own schedule, costs and links
  std::string table;                   // the schedule as the suite writes it, when it is a table's file
  Tolerances tolerances;
  std::vector<std::string> measured;  // the files of a measured run, whatever `debubble diff` reads; empty: none
  int replica = 0;                    // of several data-parallel pipelines in them
  std::optional<LiveFlags> live;
  std::vector<std::string> live_arguments;  // "--backend=cpu": the same as typed
  bool required = true;                     // what this machine lacks is status 3, not a note
};

struct Suite {
  std::string file;
  std::string name;
  std::string baseline;  // the file, whether or not it exists yet
  std::vector<SuiteScenario> scenarios;
};

// Strict: throws InputError with all that is wrong with its form, each at its place in `file`.
[[nodiscard]] Suite read_suite(std::string_view text, const std::string& file);

// What is wrong with a scenario's flags, as of the place in the suite: "--times" -> "ci.suite.json#/scenarios/0/
// scenario/times".
[[nodiscard]] std::vector<Diagnostic> placed_in_suite(std::vector<Diagnostic> problems, const Suite& suite,
                                                      const SuiteScenario& scenario);

// "ci.suite.json" -> "ci.suite.baseline.json": where the baseline is unless the suite says otherwise.
[[nodiscard]] std::string default_baseline(const std::string& file);

// `path` as seen from the folder of `file`; absolute ones as they are.
[[nodiscard]] std::string beside(const std::string& file, const std::string& path);

// The files that a scenario in `file` names, as seen from its folder: tables, profiles, models, efficiencies.
void place_beside(const std::string& file, ScenarioFlags& flags);

}  // namespace debubble
