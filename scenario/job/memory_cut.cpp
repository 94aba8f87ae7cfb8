#include "scenario/job/memory_cut.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "cost_models/partition.hpp"
#include "scenario/job/memory_limits.hpp"
#include "scenario/job/step.hpp"
#include "scenario/job/transforms.hpp"
#include "sim/core/at.hpp"
#include "sim/core/error.hpp"
#include "sim/engine/cluster.hpp"
#include "sim/engine/simulate.hpp"
#include "sim/rows/weight_versions.hpp"

namespace debubble {
namespace {

constexpr std::size_t kMostLayersToCut = 1000;  // every range of them is weighed
constexpr Bytes kEndlessRoom = Bytes{1} << 60;

// By stage, of the replica that keeps most.
std::vector<std::int32_t> versions_of(const Schedule& schedule) {
  std::vector<std::int32_t> most(to_index(schedule.stages), 0);
  const std::vector<std::int32_t> extra = extra_weight_copies(schedule);
  for (std::size_t k = 0; k < extra.size(); ++k) {
    std::int32_t& one = most[k % most.size()];
    one = std::max(one, extra[k]);
  }
  return most;
}

RangeCosts range_costs(const Scenario& scenario, const Schedule& schedule, const Profile& profile,
                       const TrainingState& state, std::int32_t versions) {
  std::vector<std::vector<RangeCost>> from(profile.layers.size());
  const auto piece = [&](Bytes bytes) { return piece_of(bytes, schedule.pieces); };
  for (std::size_t begin = 0; begin < from.size(); ++begin) {
    StageCosts costs;
    costs.stages = stage_costs_from(profile, begin, state, scenario.times.weight_share);
    std::vector<Assumption> said_elsewhere;
    set_recompute_costs(schedule, false, false, costs, said_elsewhere);
    shard_measured_states(scenario, costs);
    Nanoseconds time = 0;
    for (std::size_t k = 0; k < costs.stages.size(); ++k) {
      const StageCost& cost = costs.stages[k];
      time += layer_time(profile.layers[begin + k]);
      from[begin].push_back({time, cost.weights * (1 + versions) + cost.gradients + cost.optimizer, cost.comm_buffers,
                             piece(cost.activation), piece(cost.weight_grad_held), piece(cost.checkpoint),
                             piece(cost.workspace)});
    }
  }
  return RangeCosts(std::move(from));
}

std::vector<Bytes> rooms_of(const Scenario& scenario, int devices) {
  std::vector<Bytes> rooms = make_memory_limits(scenario, devices).value.capacities;
  if (rooms.empty()) refuse_unknown_room();
  rooms.resize(to_index(devices), rooms.front());
  for (Bytes& room : rooms) {
    if (room == 0) room = kEndlessRoom;
  }
  const std::vector<Bytes>& aside = scenario.partition.set_aside;
  for (std::size_t d = 0; d < aside.size(); ++d) rooms[d] -= aside[d];
  return rooms;
}

// What every device takes; empty where the order deadlocks, or nothing is judged.
std::vector<DeviceMemory> simulated_memories(const Job& job) {
  const auto lowered = lower(job.schedule, job.p2p);
  const auto* const program = std::get_if<Program>(&lowered);
  if (program == nullptr || job.memory.capacities.empty()) return {};
  const bool alone = !job.topology.contended() && job.step.empty();
  const Timeline timeline =
      alone ? simulate(*program, job.schedule, job.costs, job.topology)
            : simulate_cluster(*program, job.schedule, job.costs, job.topology, {&job.step, nullptr, 1}).front();
  return device_memories(timeline, job.schedule, job.costs, job.memory.capacities, job.memory.allocator);
}

}  // namespace

void refuse_unknown_room() {
  throw InputError(Diagnostic{"C004", "--partition",
                              "\"memory\" cuts the layers so that they fit, and nothing says how much memory a device "
                              "has",
                              "add --memory 80GiB, or use --partition auto"});
}

MemoryCut cut_for_memory(const Scenario& scenario, const Schedule& schedule, const LayersToCut& layers) {
  const std::size_t count = layers.by_stage.front()->layers.size();
  if (count > kMostLayersToCut) {
    throw InputError(Diagnostic{"S063", "--partition",
                                "\"memory\" weighs every range of the layers; there are " + std::to_string(count) +
                                    ", more than " + std::to_string(kMostLayersToCut),
                                "use --partition auto, or join layers"});
  }
  MemoryCutJob job;
  job.rooms = rooms_of(scenario, schedule.devices);
  job.devices = holds_of(schedule);
  if (job.devices.empty()) {
    throw InputError(Diagnostic{"C087", "--partition",
                                "\"memory\" needs to know what the order holds, and with " + schedule.name +
                                    " activations leave the devices meanwhile",
                                "use --partition auto, or layers per stage"});
  }
  const std::vector<std::int32_t> versions = versions_of(schedule);
  using Known = std::pair<std::pair<const Profile*, std::int32_t>, RangeCosts>;
  std::vector<Known> known;
  known.reserve(layers.by_stage.size());  // pointers into it stay
  for (std::size_t s = 0; s < layers.by_stage.size(); ++s) {
    const std::pair key(layers.by_stage[s], versions[s]);
    auto found = std::find_if(known.begin(), known.end(), [&](const Known& one) { return one.first == key; });
    if (found == known.end()) {
      known.emplace_back(key, range_costs(scenario, schedule, *key.first, layers.state, key.second));
      found = std::prev(known.end());
    }
    job.by_stage.push_back(&found->second);
  }
  job.start = layers.balanced;
  return memory_partition(job);
}

Job fit_job(const Scenario& scenario, const std::function<CutJob(const Scenario&)>& made) {
  constexpr int kMostCuts = 16;  // of which few are needed: what is set aside only grows
  Scenario cut = scenario;
  CutJob one = made(cut);
  std::vector<Bytes>& aside = cut.partition.set_aside;
  aside.assign(to_index(one.job.schedule.devices), 0);
  for (int cuts = 1; cuts < kMostCuts && one.cut.lacking == 0; ++cuts) {
    const std::vector<DeviceMemory> memories = simulated_memories(one.job);
    bool fits = true;
    for (std::size_t d = 0; d < memories.size(); ++d) {
      if (memories[d].fits) continue;
      fits = false;
      aside[d] = std::max(aside[d] + 1, memories[d].reserved - one.cut.needs[d]);
    }
    if (fits) break;
    one = made(cut);
  }
  return std::move(one.job);
}

}  // namespace debubble
