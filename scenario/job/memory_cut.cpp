// --partition memory: what the stages of any cut would hold, and what their devices have room for.

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "cost_models/partition/memory.hpp"
#include "scenario/job/layer_cut.hpp"
#include "scenario/job/memory_limits.hpp"
#include "scenario/job/step.hpp"
#include "scenario/job/transforms.hpp"
#include "sim/core/at.hpp"
#include "sim/core/error.hpp"
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

// `layers`: as they are where the stage begins with one.
RangeCosts range_costs(const Scenario& scenario, const Schedule& schedule,
                       const std::function<const Profile&(std::size_t)>& layers, const TrainingState& state,
                       std::int32_t versions) {
  std::vector<std::vector<RangeCost>> from(layers(0).layers.size());
  const auto piece = [&](Bytes bytes) { return piece_of(bytes, schedule.pieces); };
  for (std::size_t begin = 0; begin < from.size(); ++begin) {
    const Profile& profile = layers(begin);
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

}  // namespace

void refuse_unknown_room() {
  throw InputError(Diagnostic{"C004", "--partition",
                              "\"memory\" cuts the layers so that they fit, and nothing says how much memory a device "
                              "has",
                              "add --memory 80GiB, or use --partition auto"});
}

LayerCut LayersOnStages::for_memory(const Profile& profile, const TrainingState& state) const {
  MemoryCutJob job;
  job.start = balanced(profile).layers;
  const std::size_t count = profile.layers.size();
  if (count > kMostLayersToCut) {
    throw InputError(Diagnostic{"S063", "--partition",
                                "\"memory\" weighs every range of the layers; there are " + std::to_string(count) +
                                    ", more than " + std::to_string(kMostLayersToCut),
                                "use --partition auto, or join layers"});
  }
  job.rooms = rooms_of(scenario_, schedule_.devices);
  job.devices = holds_of(schedule_);
  if (job.devices.empty()) {
    throw InputError(Diagnostic{"C087", "--partition",
                                "\"memory\" needs to know what the order holds, and with " + schedule_.name +
                                    " activations leave the devices meanwhile",
                                "use --partition auto, or layers per stage"});
  }
  const bool by_begin = scenario_.transformer.recompute_blocks.some();
  Profile again;
  const auto plain = [&](std::size_t) -> const Profile& { return profile; };
  const auto recomputed = [&](std::size_t begin) -> const Profile& {
    if (begin > 0 && !by_begin) return again;
    again = profile;
    recompute(blocks_in(begin, count), 0, again);
    return again;
  };
  const std::vector<std::int32_t> versions = versions_of(schedule_);
  std::map<std::pair<bool, std::int32_t>, RangeCosts> known;  // pointers into it stay
  for (std::size_t s = 0; s < versions.size(); ++s) {
    const std::pair key(mixed() && again_[s], versions[s]);
    auto found = known.find(key);
    if (found == known.end()) {
      const auto costs = [&](const auto& layers) {
        return range_costs(scenario_, schedule_, layers, state, key.second);
      };
      found = known.emplace(key, key.first ? costs(recomputed) : costs(plain)).first;
    }
    job.by_stage.push_back(&found->second);
  }
  LayersToCut layers{&profile, schedule_.stages};
  layers.memory = &job;
  return cut_layers(scenario_.partition, layers);
}

}  // namespace debubble
