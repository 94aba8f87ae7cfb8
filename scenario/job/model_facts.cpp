#include "scenario/job/model_facts.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cost_models/collectives/measured.hpp"
#include "formats/text/quantities.hpp"
#include "scenario/job/assumptions.hpp"
#include "scenario/job/model_profile.hpp"

namespace debubble {

namespace {

// Of all layers, whichever of them lie there.
Nanoseconds collectives_of(const ModelledLayers& layers) {
  Nanoseconds sum = 0;
  for (const ProfileLayer& layer : layers.profile.layers) sum += layer.forward_collective + layer.backward_collective;
  return sum;
}

// Devices whose ranks reach each other over slower links than the best placed ones do.
void find_slow_devices(const PlacedLayers& placed, std::vector<Finding>& findings) {
  std::vector<Nanoseconds> times;
  for (const ModelledLayers& layers : placed.distinct) times.push_back(collectives_of(layers));
  const Nanoseconds best = *std::min_element(times.begin(), times.end());
  const Nanoseconds worst = *std::max_element(times.begin(), times.end());
  if (best == worst) return;
  SlowCollectives found;
  for (std::size_t device = 0; device < placed.of_device.size(); ++device) {
    if (times[placed.of_device[device]] > best) found.devices.push_back(static_cast<int>(device));
  }
  if (best > 0) found.factor = static_cast<double>(worst) / static_cast<double>(best);
  findings.emplace_back(std::move(found));
}

}  // namespace

ModelFacts model_facts(const Scenario& scenario, int devices) {
  ModelFacts facts;
  if (!scenario.transformer.setup) return facts;
  const Hardware& hardware = modelled_hardware(scenario);
  append(facts.assumptions, scenario.transformer.assumptions);
  const auto placed = placed_layers(scenario, devices);
  const bool given = !scenario.transformer.hardware.empty();
  const bool known = given || topology_has_hardware(scenario);
  facts.assumptions.push_back({.key = "hardware",
                               .amount = hardware.name,
                               .source = known ? Source::kPublished : Source::kDefault,
                               .citation = hardware.source});
  assume(facts.assumptions, "kernel efficiency", efficiency_source(hardware), Source::kModelled);
  const std::optional<LinkGeneration> generation = link_generation_of(scenario);
  if (generation && scenario.transformer.setup->parallel.ranks() > scenario.transformer.setup->parallel.data) {
    const std::string measured =
        scenario.cluster.graph == nullptr ? std::string() : measured_text(scenario.cluster.graph->name);
    assume(facts.assumptions, "collectives inside layers",
           std::string("NCCL over ") + to_string(*generation) + measured +
               (measured.empty() ? ", the fastest algorithm" : ", else the fastest algorithm") +
               (placed->distinct.size() > 1 ? ", over other links on other devices" : ""),
           measured.empty() ? Source::kModelled : Source::kPublished);
  }
  if (scenario.transformer.scatter_gather) {
    const Nanoseconds gather =
        std::llround(static_cast<double>(placed->longest_gather()) / scenario.transformer.calibration.network_scale);
    assume(facts.assumptions, "transfers between stages",
           "each tensor rank sends its share; an all-gather of " + format_duration_exact(gather) +
               " after each counts as latency",
           Source::kModelled);
  }
  for (const std::string& note : scenario.transformer.notes) facts.findings.emplace_back(LeftOutOfModel{note});
  find_slow_devices(*placed, facts.findings);
  const Profile& profile = *scenario.profile;
  facts.microbatch_flops =
      std::accumulate(profile.layers.begin(), profile.layers.end(), 0.0,
                      [](double sum, const ProfileLayer& layer) { return sum + layer.model_flops; });
  const Parallelism& sizes = scenario.transformer.setup->parallel;
  facts.peak_flops = profile.peak_flops * devices * sizes.tensor * sizes.context;
  return facts;
}

}  // namespace debubble
