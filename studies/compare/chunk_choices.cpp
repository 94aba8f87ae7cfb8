#include "studies/compare/chunk_choices.hpp"

#include <cstdint>

#include "cost_models/partition/blocks.hpp"
#include "scenario/job/make_schedule.hpp"

namespace debubble {

namespace {

constexpr std::int64_t kMostSearchedOps = 2'000;
constexpr std::size_t kMostChoices = 16;

}  // namespace

std::vector<int> chunk_choices(const Scenario& scenario, const ScheduleEntry& entry) {
  const bool even = scenario.partition.how == CutRule::How::kEven;
  const bool given = scenario.chunks != 0 || scenario.params.contains(entry.chunks_param);
  if (given || !scenario.profile || !(even || scenario.partition.automatic())) return {};
  if (entry.default_chunks < 2 || entry.chunk_step < 1) return {};
  const std::int64_t devices = scenario.devices.value_or(kDefaultDevices);
  const std::int64_t microbatches = scenario.microbatches.value_or(kDefaultMicrobatches);
  const auto layers = static_cast<std::int64_t>(scenario.profile->layers.size());
  const std::int64_t blocks = count_layers(*scenario.profile).blocks;
  if (devices < 1) return {};
  std::vector<int> choices;
  for (int v = entry.default_chunks; v * devices <= layers && choices.size() < kMostChoices; v += entry.chunk_step) {
    if (entry.uses_costs && 3 * v * devices * microbatches > kMostSearchedOps) break;
    const std::int64_t stages = v * devices;
    const bool suits = blocks % stages == 0 || (!even && (v == entry.default_chunks || layers % stages == 0));
    if (suits) choices.push_back(v);
  }
  return choices;
}

}  // namespace debubble
