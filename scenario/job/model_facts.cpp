#include "scenario/job/model_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

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

// "2, 5 and 7"; of many the first ones.
std::string device_list(const std::vector<std::size_t>& devices) {
  constexpr std::size_t kMost = 8;
  std::string text;
  for (std::size_t k = 0; k < std::min(devices.size(), kMost); ++k) {
    const bool last = k + 1 == devices.size();
    text += (k == 0 ? "" : last ? " and " : ", ") + std::to_string(devices[k]);
  }
  return devices.size() <= kMost ? text : text + " and " + std::to_string(devices.size() - kMost) + " more";
}

// Devices whose ranks reach each other over slower links than the best placed ones do.
void find_slow_devices(const PlacedLayers& placed, std::vector<Finding>& findings) {
  std::vector<Nanoseconds> times;
  for (const ModelledLayers& layers : placed.distinct) times.push_back(collectives_of(layers));
  const Nanoseconds best = *std::min_element(times.begin(), times.end());
  const Nanoseconds worst = *std::max_element(times.begin(), times.end());
  if (best == worst) return;
  std::vector<std::size_t> slow;
  for (std::size_t device = 0; device < placed.of_device.size(); ++device) {
    if (times[placed.of_device[device]] > best) slow.push_back(device);
  }
  const std::string by =
      best == 0 ? ""
                : fmt::format(" (up to {:.2g} times as long)", static_cast<double>(worst) / static_cast<double>(best));
  findings.push_back({"warning", "F025",
                      "collectives inside layers take longer on device" + std::string(slow.size() > 1 ? "s " : " ") +
                          device_list(slow) + by +
                          ": tensor, context or expert ranks lie on different machines there, or " +
                          "on slower links, than elsewhere. Ranks lie on devices in order; --rank-devices lays them "
                          "out otherwise"});
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
    assume(facts.assumptions, "collectives inside layers",
           std::string("NCCL over ") + to_string(*generation) + ", the fastest algorithm" +
               (placed->distinct.size() > 1 ? ", over other links on other devices" : ""),
           Source::kModelled);
  }
  if (scenario.transformer.scatter_gather) {
    const Nanoseconds gather =
        std::llround(static_cast<double>(placed->longest_gather()) / scenario.transformer.calibration.network_scale);
    assume(facts.assumptions, "transfers between stages",
           "each tensor rank sends its share; an all-gather of " + format_duration_exact(gather) +
               " after each counts as latency",
           Source::kModelled);
  }
  for (const std::string& note : scenario.transformer.notes) facts.findings.push_back({"warning", "F030", note});
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
