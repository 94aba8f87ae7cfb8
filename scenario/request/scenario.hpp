// Scenario: what a person asked for, checked and turned into values. One place for every flag that verbs share.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cost_models/partition/partition.hpp"
#include "cost_models/uniform.hpp"
#include "scenario/request/cluster_flags.hpp"
#include "scenario/request/memory_flags.hpp"
#include "scenario/request/step_flags.hpp"
#include "scenario/request/transform_spec.hpp"
#include "scenario/request/transformer_flags.hpp"
#include "scenario/request/variation_flags.hpp"
#include "schedules/common/contract.hpp"
#include "sim/core/assumption.hpp"
#include "sim/core/profile.hpp"
#include "sim/core/schedule.hpp"
#include "sim/core/topology.hpp"
#include "sim/engine/program.hpp"

namespace debubble {

struct ProfileFamily;

// Schedules that a program made, by name ("mine()"). They stand for files of that name
// (scenario/job/make_schedule.hpp).
using OwnSchedules = std::shared_ptr<const std::map<std::string, Schedule>>;

// The shared flags as typed. Nothing is checked here but the form of numbers.
struct ScenarioFlags {
  std::vector<std::string> schedules;
  std::optional<int> devices;
  std::optional<int> microbatches;
  std::optional<std::int64_t> global_batch;
  std::optional<int> chunks;
  std::vector<std::string> params;
  std::vector<std::string> transforms;
  std::string times;
  std::string comm;
  std::string bandwidth;
  std::string host_bandwidth;
  std::string weight_share;
  std::vector<std::string> profile;  // files, and folders of files
  std::string partition;
  std::string p2p = "auto";
  std::string framework;  // no flag: the one that runs it, by name; empty: none is known
  TransformerFlags transformer;
  ClusterFlags cluster;
  StepFlags step;
  MemoryFlags memory;
  VariationFlags variation;
  OwnSchedules own_schedules;  // no flag; null: none
};

// The flags, checked: what does not depend on the schedule.
struct Scenario {
  std::vector<std::string> schedules;  // catalog names and .csv files; empty: the verb's own default
  std::optional<int> devices;
  std::optional<int> microbatches;
  int chunks = 0;
  std::map<std::string, std::string> params;
  std::vector<TransformSpec> transforms;  // in the order in which they are applied
  UniformTimes times;
  std::set<std::string> times_given;  // the keys of --times
  std::optional<Nanoseconds> comm;
  std::optional<std::int64_t> bandwidth;
  std::optional<std::int64_t> host_bandwidth;
  bool weight_share_given = false;
  std::optional<Profile> profile;
  std::vector<Assumption> profile_size;                 // which size of it was asked for; empty: nothing was
  std::shared_ptr<const ProfileFamily> profile_family;  // for other sizes of it; null: one only was measured
  CutRule partition;
  std::optional<P2p> p2p;  // nothing: transfers_of (scenario/job/links.hpp) says it
  std::string framework;   // as in the flags
  TransformerScenario transformer;
  ClusterScenario cluster;
  StepScenario step;
  MemoryScenario memory;
  VariationScenario variation;
  OwnSchedules own_schedules;  // null: none
};

}  // namespace debubble
