// One schedule of a comparison: run on equal terms, with what it needs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schedules/needs.hpp"
#include "sim/core/error.hpp"
#include "studies/compare/equality.hpp"
#include "studies/simulate/simulate.hpp"

namespace debubble {

struct Contender {
  std::string name;  // as asked for: a catalog name or a file
  const ScheduleEntry* entry = nullptr;
  Report report;  // without result where the schedule refused the job
  ScheduleNeeds needs;
  std::string terms;        // what was changed to make it equal: "16 microbatches of 1/2 the size"; may be empty
  double work = 0;          // what it does per device, in microbatches of the job
  bool over_limit = false;  // beyond the memory limit
  std::optional<InputError> refusal;
};

struct Terms {
  Equal equal = Equal::kDevices;
  std::optional<Bytes> memory_limit;  // per device, everything counted
  bool all = false;                   // of "all", a schedule that refuses is listed with its reason
  int devices = 0;                    // of the job: for Equal::kStages, the number of stages
  int microbatches = 0;
};

// The names to compare: those given, each once, or the whole catalog for none and for "all".
[[nodiscard]] std::vector<std::string> contender_names(const Scenario& scenario, bool& all);

// What a scenario means for one schedule among several: -v and --param go to those that know them, so not to tables.
[[nodiscard]] Scenario scenario_for(const Scenario& scenario, const std::string& name);

// Throws InputError where the fault concerns all schedules, or this one and it was asked for by name.
[[nodiscard]] Contender run_contender(const Scenario& scenario, const std::string& name, const Terms& terms,
                                      Progress& progress);

// The peak memory of 1f1b in this scenario: what everybody has, hence the limit where none is given.
[[nodiscard]] Bytes memory_of_1f1b(const Scenario& scenario, Progress& progress);

// Fastest first; after them those over the limit, then those that did not run. Stable.
void rank(std::vector<Contender>& contenders);

}  // namespace debubble
