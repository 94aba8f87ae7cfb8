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
  std::string name;    // as asked for: a catalog name or a file
  std::string config;  // of several scenario files, the one that asked for it; else empty
  const ScheduleEntry* entry = nullptr;
  Report report;  // without result where the schedule refused the job
  ScheduleNeeds needs;
  std::string terms;  // what was changed to make it equal: "16 microbatches of 1/2 the size"; may be empty
  double work = 0;    // what it does per device, in microbatches of the job; of configurations per GPU, in samples
  bool over_limit = false;              // beyond the memory limit
  std::vector<std::string> runs_today;  // in these of kFrameworks
  double samples = 0;                   // samples_per_gpu
  std::optional<InputError> refusal;
  std::optional<Simulated> run;  // where Terms ask for it, without its report
};

struct Terms {
  Equal equal = Equal::kDevices;
  std::optional<Bytes> memory_limit;  // per device, everything counted
  std::string limit_shares;  // the same in toy units, where it was typed as a number of device shares; else empty
  std::string runs_in;       // a framework's name: what it refuses is listed with its reason
  bool all = false;          // every schedule was asked for
  int devices = 0;           // of the job: for Equal::kStages, the number of stages
  int microbatches = 0;
  std::size_t most_kept_ops = 0;  // runs of at most so many are kept, op by op
};

// The names to compare: those given, each once, or for none and for "all" the whole catalog, of which `runs_in`, where
// that names a framework, leaves what it has. Throws InputError C001 where it has none of them.
[[nodiscard]] std::vector<std::string> contender_names(const Scenario& scenario, const std::string& runs_in, bool& all);

// What a scenario means for one schedule among several: -v and --param go to those that know them, so not to tables.
[[nodiscard]] Scenario scenario_for(const Scenario& scenario, const std::string& name);

// Samples that a step trains for each GPU: what steps of different configurations are compared by. Without a profile a
// microbatch is one sample.
[[nodiscard]] double samples_per_gpu(const Job& job);

// What keeps a schedule from running is in its report and `refusal`. Throws InputError where no schedule has that name,
// and for a file that holds none.
[[nodiscard]] Contender run_contender(const Scenario& scenario, const std::string& name, const Terms& terms,
                                      Progress& progress);

// Says of the fastest run of each framework that it is (ScheduleNeeds::best_in).
void mark_best_in(std::vector<Contender>& contenders);

// The peak memory of 1f1b in this scenario: what everybody has, hence the limit where none is given.
[[nodiscard]] Bytes memory_of_1f1b(const Scenario& scenario, Progress& progress);

// Fastest first; after them those over the limit, then those that did not run. Stable.
void rank(std::vector<Contender>& contenders);

}  // namespace debubble
