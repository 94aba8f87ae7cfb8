// Scenario: what a person asked for, checked and turned into values. One place for every flag that verbs share.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cost_models/uniform.hpp"
#include "scenario/cluster/cluster_flags.hpp"
#include "scenario/memory/memory_flags.hpp"
#include "scenario/step/step_flags.hpp"
#include "scenario/transformer/transformer_flags.hpp"
#include "scenario/transforms.hpp"
#include "scenario/variation/variation_flags.hpp"
#include "schedules/contract.hpp"
#include "sim/core/profile.hpp"
#include "sim/core/topology.hpp"
#include "sim/engine/program.hpp"

namespace CLI {
class App;
}

namespace debubble {

struct ProfileFamily;

// The shared flags as typed; CLI11 writes into it. Nothing is checked here but the form of numbers.
struct ScenarioFlags {
  std::vector<std::string> schedules;
  std::optional<int> devices;
  std::optional<int> microbatches;
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
  std::string p2p = "overlapped";
  TransformerFlags transformer;
  ClusterFlags cluster;
  StepFlags step;
  MemoryFlags memory;
  VariationFlags variation;
};

// Adds the shared flags to a verb. `several` allows more than one schedule.
void add_scenario_flags(CLI::App& verb, ScenarioFlags& flags, bool several);

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
  std::string partition = "auto";
  P2p p2p = P2p::kOverlapped;
  TransformerScenario transformer;
  ClusterScenario cluster;
  StepScenario step;
  MemoryScenario memory;
  VariationScenario variation;
};

// Throws InputError with everything that is wrong with the flags, and for an unreadable or faulty profile.
[[nodiscard]] Scenario check_scenario(const ScenarioFlags& flags);

// The flags that gave a run its parameters, costs and links, quoted for a shell, to be repeated in a command that is
// suggested: "--times f=1,b=2 --p2p blocking". The partition is not among them: it fits one number of stages only.
[[nodiscard]] std::string repeated_flags(const ScenarioFlags& flags);

// The whole file as text. Throws InputError C005 with the system's reason when it cannot be read.
[[nodiscard]] std::string read_file(const std::string& path, const std::string& place);

}  // namespace debubble
