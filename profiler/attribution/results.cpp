#include "profiler/attribution/results.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

#include "profiler/records/record.hpp"

namespace debubble::attribution {

LayerSamples& Results::layer(std::uint32_t number) {
  if (layers.size() <= number) layers.resize(number + 1);
  return layers[number];
}

bool Results::on_cpu() const {
  const auto found = facts.find(std::string(kProcessorFact));
  return found != facts.end() && found->second.contains(std::string(kCpuProcessor));
}

void Results::add(const Instances& instances, const MemoryUse& memory, const StreamSelection& selection) {
  const auto append = [](std::vector<Nanoseconds>& to, const std::vector<Nanoseconds>& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  for (std::size_t k = 0; k < instances.all().size(); ++k) {
    const Instance& instance = instances.all()[k];
    LayerSamples& samples = layer(instance.layer);
    if (instance.has(Phase::kForward) && !samples.ordered) {
      samples.ordered = true;
      order.push_back(instance.layer);
    }
    if (selection.kept[k] && instance.seen != 0) samples.executions.push_back(instance);
  }
  for (const MemoryUse::Use& use : memory.uses()) {
    if (!selection.kept[use.instance]) continue;
    LayerSamples& samples = layer(instances[use.instance].layer);
    const Bytes kept = std::max<Bytes>(use.net, 0);
    samples.kept.push_back(kept);
    samples.workspace.push_back(std::max<Bytes>(use.peak - kept, 0));
  }
  ++streams;
  steps += selection.steps;
  warm_up_steps += selection.warm_up_steps;
  warm_up_passes = std::max(warm_up_passes, selection.warm_up_passes);
  outside_steps += selection.outside_steps;
  forced = forced || selection.forced;
  append(recorded_walls, selection.recorded_walls);
  append(unrecorded_walls, selection.unrecorded_walls);
  if (selection.drift_ppm) clock.add_drift(*selection.drift_ppm);
}

}  // namespace debubble::attribution
