#include "scenario/job/model_facts.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <numeric>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cost_models/collectives/measured.hpp"
#include "cost_models/transformer/hardware_sources.hpp"
#include "cost_models/transformer/modelled_profile.hpp"
#include "cost_models/transformer/tabled_time.hpp"
#include "scenario/job/assumptions.hpp"
#include "scenario/job/hardware_facts.hpp"
#include "scenario/job/model_profile.hpp"
#include "sim/core/quantities.hpp"

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

// Two digits, or the whole number: "1.9 %", "73 %", "100 %".
std::string percent(double share) {
  std::ostringstream text;
  text.precision(share < 0.995 ? 2 : 3);
  text << share * 100 << " %";
  return text.str();
}

// "1.9 %" and the like.
std::string product_amount(const ProductTable& table, const std::string& products) {
  std::string text = products + ", a table's rows left out " + percent(table.error.median) +
                     " off in the median, beyond it a fit " + percent(table.fit.error.median);
  if (table.eager > 1) text += "; eager kernels " + percent(table.eager - 1) + " more, by another source";
  if (table.sustained < 1) text += "; long runs at most " + percent(table.sustained) + " of the peak";
  return text;
}

// Of hardware from a file, the figures that this run rests on: measured kernels stand for shares and tiles, a topology
// for links; the host's launches have a line of their own.
std::vector<Assumption> own_facts(const Scenario& scenario, const Hardware& hardware) {
  const auto tables = kernel_tables_of(scenario);
  const TrainingSetup& setup = *scenario.transformer.setup;
  const bool single = setup.compute == NumberFormat::kFp32;
  const bool tabled =
      tables != nullptr && !single && !tables->product(product_kind(setup.compute, setup.fp8_recipe)).empty();
  const bool fused = tables != nullptr && !single && !tables->attention.empty() && setup.flash_attention;
  const auto is_one_of = [](const std::string& key, std::initializer_list<std::string_view> keys) {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
  };
  std::vector<Assumption> facts = hardware_facts(hardware);
  std::erase_if(facts, [&](const Assumption& fact) {
    if (is_one_of(fact.key, {"host launch", "host bandwidth"})) return true;
    if (tabled && is_one_of(fact.key, {"matrix share", "sustained share", "half k", "tile rows", "tile columns"}))
      return true;
    if (fused && fact.key == "attention share") return true;
    if (tables != nullptr && fact.key == "memory share") return true;
    return scenario.cluster.graph != nullptr && is_one_of(fact.key, {"link bandwidth", "link latency"});
  });
  return facts;
}

// A preset's shares are modelled, and its own are what its file says.
Source shares_quality(const Hardware& hardware) {
  return hardware.own == nullptr ? Source::kModelled : source_of(hardware.own->sources, "shares/matrix").quality;
}

void assume_kernels(const Scenario& scenario, const Hardware& hardware, ModelFacts& facts) {
  const auto tables = kernel_tables_of(scenario);
  if (tables == nullptr) {
    assume(facts.assumptions, "kernel efficiency", efficiency_source(hardware), shares_quality(hardware));
    return;
  }
  const auto add = [&facts](const char* key, std::string amount, std::string citation) {
    facts.assumptions.push_back(
        {.key = key, .amount = std::move(amount), .source = Source::kMeasured, .citation = std::move(citation)});
  };
  const TrainingSetup& setup = *scenario.transformer.setup;
  const bool single = setup.compute == NumberFormat::kFp32;  // of which there are no tables
  const ProductKind kind = product_kind(setup.compute, setup.fp8_recipe);
  const ProductTable& table = tables->product(kind);
  const std::string products =
      std::string("products by size in ") + (single ? "fp32" : kProductKinds.at(static_cast<std::size_t>(kind)));
  if (single || table.empty()) {
    assume(facts.assumptions, "kernel efficiency", products + ": none measured, " + efficiency_source(hardware),
           shares_quality(hardware));
  } else {
    add("kernel efficiency", product_amount(table, products), tables->product_source + ", on " + tables->device);
  }
  if (setup.flash_attention && !single && !tables->attention.empty()) {
    add("fused attention", "shares of the peak by length, heads and pass", tables->attention_source);
  }
  add("passes over memory",
      percent(tables->memory_forward) + " of the bandwidth forward, " + percent(tables->memory_backward) + " backward",
      tables->memory_source);
}

void assume_launches(const Scenario& scenario, ModelFacts& facts) {
  if (scenario.transformer.cuda_graphs) {
    return assume(facts.assumptions, "kernel launches", "CUDA graphs: the host is never late", Source::kGiven);
  }
  const auto each = [](Nanoseconds time) { return "by the host, " + format_duration_exact(time) + " each"; };
  if (const auto& given = scenario.transformer.host_launch) {
    return assume(facts.assumptions, "kernel launches", each(*given), Source::kGiven);
  }
  const Hardware& hardware = modelled_hardware(scenario);
  if (hardware.host_launch) {
    const HardwareSource source = source_of(hardware_sources(hardware), "host/launch");
    facts.assumptions.push_back({.key = "kernel launches",
                                 .amount = each(*hardware.host_launch),
                                 .source = source.quality,
                                 .citation = source.text});
    return;
  }
  facts.assumptions.push_back(
      {.key = "kernel launches",
       .amount = each(kEagerLaunch),
       .source = Source::kDefault,
       .citation = "what 720 runs of Megatron-DeepSpeed on A100 show (VIA-Research/vTrain, ground_truth_single.csv)"});
}

void find_host_bound(const Profile& profile, std::vector<Finding>& findings) {
  constexpr double kWorthSaying = 0.01;
  HostBound found;
  Nanoseconds waits = 0;
  Nanoseconds time = 0;
  for (const ProfileLayer& layer : profile.layers) {
    const Nanoseconds its = layer.forward_launches + layer.backward_launches;
    const Nanoseconds all = layer.forward.median + (layer.backward ? layer.backward->median : 0);
    waits += its;
    time += all;
    if (its <= found.waits) continue;
    found.layer = layer.name;
    found.waits = its;
    found.time = all;
  }
  if (time == 0) return;
  found.share = static_cast<double>(waits) / static_cast<double>(time);
  if (found.share >= kWorthSaying) findings.emplace_back(std::move(found));
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
                               .source = hardware.own != nullptr ? Source::kGiven
                                         : known                 ? Source::kPublished
                                                                 : Source::kDefault,
                               .citation = hardware.own != nullptr ? hardware.own->file : hardware.source});
  if (hardware.own != nullptr) append(facts.assumptions, own_facts(scenario, hardware));
  assume_kernels(scenario, hardware, facts);
  assume_launches(scenario, facts);
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
  find_host_bound(profile, facts.findings);
  facts.microbatch_flops =
      std::accumulate(profile.layers.begin(), profile.layers.end(), 0.0,
                      [](double sum, const ProfileLayer& layer) { return sum + layer.model_flops; });
  const Parallelism& sizes = scenario.transformer.setup->parallel;
  facts.peak_flops = profile.peak_flops * devices * sizes.tensor * sizes.context;
  return facts;
}

}  // namespace debubble
