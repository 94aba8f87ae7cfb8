#include "scenario/job/model_profile.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include "cost_models/transformer/hardware_sources.hpp"
#include "cost_models/transformer/layer_ops.hpp"
#include "cost_models/transformer/modelled_profile.hpp"
#include "scenario/job/cluster_topology.hpp"
#include "scenario/job/make_schedule.hpp"
#include "scenario/request/kernel_file.hpp"
#include "sim/core/error.hpp"
#include "sim/core/layout_letters.hpp"

namespace debubble {
namespace {

constexpr const char* kUsualHardware = "h100";

struct Machine {
  const char* topology;
  const char* hardware;
  int gpus;
};
constexpr std::array<Machine, 6> kMachines{{{"dgx-a100", "a100-80", 8},
                                            {"dgx-h100", "h100", 8},
                                            {"dgx-h200", "h200", 8},
                                            {"dgx-b200", "b200", 8},
                                            {"gb200-nvl72", "gb200", 72},
                                            {"v100-mesh", "v100", 8}}};

// "dgx-h100:8": its machines hold these. Empty: the topology does not say.
std::string hardware_of_topology(const std::string& topology) {
  for (const Machine& machine : kMachines) {
    if (topology.starts_with(machine.topology)) return machine.hardware;
  }
  return {};
}

std::string hardware_name(const Scenario& scenario) {
  if (!scenario.transformer.hardware.empty()) return scenario.transformer.hardware;
  const std::string name = hardware_of_topology(scenario.cluster.topology);
  return name.empty() ? kUsualHardware : name;
}

void check_format(const Hardware& hardware, NumberFormat format) {
  if (peak_flops(hardware, format) > 0) return;
  if (hardware.own != nullptr) {
    const bool half = hardware.half_flops > 0;
    throw InputError(
        Diagnostic{"F018", "--dtype", hardware.own->file + " has no peak of " + to_string(format) + " products",
                   std::string("write --dtype ") + (half ? "bf16" : "fp32") + ", or add one to its \"peak_tflops\""});
  }
  throw InputError(Diagnostic{"F018", "--dtype", hardware.name + " has no units for " + to_string(format) + " products",
                              "write --dtype bf16, or take --hardware h100 or newer"});
}

void check_recipe(const Hardware& hardware, const TrainingSetup& setup) {
  if (setup.fp8_recipe != Fp8Recipe::kMxfp8 || hardware.mxfp8) return;
  throw InputError(Diagnostic{"F018", "--fp8-recipe", hardware.name + " has no scales of 32 numbers in its units",
                              "write --fp8-recipe blockwise, or take --hardware b200 or newer"});
}

void check_kernels(const Scenario& scenario, const Hardware& hardware) {
  const auto& tables = scenario.transformer.kernels;
  if (tables == nullptr || tables->hardware == hardware.kernels || tables->hardware == hardware.name) return;
  throw InputError(Diagnostic{"F018", "--kernels",
                              "the table was measured on " + tables->hardware + ", not " + hardware.name,
                              "leave --kernels out, or take --hardware " + tables->hardware});
}

void check_hardware_table(const Scenario& scenario, const Hardware& hardware) {
  const std::string& measured = scenario.transformer.measured_hardware;
  if (measured.empty() || measured == hardware.name) return;
  throw InputError(Diagnostic{"F018", "--efficiency",
                              "the table was measured on " + measured + ", not " + hardware.name,
                              "leave --efficiency out, or take --hardware " + measured});
}

// Megatron-LM's scatter and gather between stages (Narayanan et al., SC 2021, section 4.1): tensor ranks hold the same
// activation, so each sends 1/t of it to its counterpart, and the receivers put it together over their own links.
void check_scatter(const Parallelism& sizes) {
  if (sizes.tensor >= 2 && !sizes.sequence) return;
  throw InputError(Diagnostic{"C004", "--scatter-gather",
                              sizes.sequence ? "with --sequence-parallel every rank has its own share to send"
                                             : "there is one tensor rank, which has all to send",
                              sizes.sequence ? "leave --scatter-gather out: shares travel anyway"
                                             : "add --tp 8, or leave --scatter-gather out"});
}

// Megatron-LM's validate_args asks for it, too: what user buffers exchange are shares of a sequence.
void check_user_buffers(const TrainingSetup& setup, const Parallelism& sizes) {
  if (setup.user_buffers == UserBuffers{} || sizes.tensor < 2 || sizes.sequence) return;
  throw InputError(Diagnostic{"C004", "--tensor-overlap",
                              "user buffers exchange the shares of a sequence, which the tensor ranks do not split",
                              "add --sequence-parallel, or write --tensor-overlap on"});
}

// How long the receivers take to put together what the largest transfer brings. They wait for that as they wait for
// the transfer, so it counts as latency of every transfer; and it is calibrated with the transfers, not here.
Nanoseconds gather_time(ModelRequest request, const Profile& profile) {
  request.kernels.efficiency.network_scale = 1;
  LayerOp gather;
  gather.kind = LayerOp::Kind::kCollective;
  gather.collective = CollectiveKind::kAllGather;
  for (const ProfileLayer& layer : profile.layers) {
    gather.collective_bytes = std::max(gather.collective_bytes, layer.output);
  }
  return collective_time(gather, request).alone;
}

ModelledLayers modelled(const ModelRequest& request, bool scatter) {
  ModelledLayers layers{modelled_profile(request), 0, nullptr};
  if (!scatter) return layers;
  const int shares = request.setup.parallel.tensor;
  layers.gather = gather_time(request, layers.profile);
  for (ProfileLayer& layer : layers.profile.layers) layer.output = (layer.output + shares - 1) / shares;
  return layers;
}

// With both kinds of layers where some blocks recompute only.
ModelledLayers modelled_for(const Scenario& scenario, const ModelRequest& request) {
  const bool scatter = scenario.transformer.scatter_gather;
  if (!scenario.transformer.recomputes_some()) return modelled(request, scatter);
  ModelRequest without = request;
  without.setup.recompute = Recompute::kNone;
  ModelledLayers layers = modelled(without, scatter);
  layers.recomputed = std::make_shared<const Profile>(modelled(request, scatter).profile);
  return layers;
}

// Of one kernel: as given, else as the hardware has it.
Nanoseconds host_launch_of(const Scenario& scenario) {
  if (scenario.transformer.cuda_graphs) return 0;
  return scenario.transformer.host_launch.value_or(modelled_hardware(scenario).host_launch.value_or(kEagerLaunch));
}

// All but the links.
ModelRequest model_request(const Scenario& scenario, const RankLayout& layout) {
  const Hardware& hardware = modelled_hardware(scenario);
  ModelRequest request;
  request.setup = *scenario.transformer.setup;
  request.setup.parallel = layout.sizes;
  request.setup.whole_during_step = scenario.step.typed.keep_whole;
  request.kernels.hardware = hardware;
  request.kernels.efficiency = usual_efficiency(hardware);
  request.kernels.efficiency.compute_scale = scenario.transformer.calibration.compute_scale;
  request.kernels.efficiency.network_scale = scenario.transformer.calibration.network_scale;
  request.kernels.measured = scenario.transformer.measured;
  request.kernels.passes = scenario.transformer.measured_passes;
  request.kernels.tables = kernel_tables_of(scenario);
  request.kernels.effects = request.setup.effects;
  request.host_launch = host_launch_of(scenario);
  request.generation = link_generation_of(scenario);
  return request;
}

// Where a layout puts them.
PredictorPlace predictor_place(const CutRule& cut) {
  if (cut.how != CutRule::How::kLayout) return PredictorPlace::kBehindHead;
  const std::vector<std::string> stages = layout_letters(cut.text);
  const auto holds = [](const std::string& stage, char letter) { return stage.find(letter) != std::string::npos; };
  if (!holds(stages.back(), 'm')) {
    const bool any = std::any_of(stages.begin(), stages.end(), [&](const auto& stage) { return holds(stage, 'm'); });
    return any ? PredictorPlace::kApart : PredictorPlace::kBehindHead;
  }
  return holds(stages.back(), 't') ? PredictorPlace::kBehindHead : PredictorPlace::kWithHead;
}

// Devices whose collectives inside layers take the same links are of one class.
std::vector<std::size_t> classes_of_places(ModelRequest request, int devices) {
  std::vector<std::size_t> classes;
  std::map<std::vector<std::int64_t>, std::size_t> known;
  for (request.place = 0; request.place < devices; ++request.place) {
    classes.push_back(known.try_emplace(links_inside(request), known.size()).first->second);
  }
  return classes;
}

PlacedLayers layers_for(const Scenario& scenario, int devices) {
  if (scenario.cluster.graph != nullptr) return place_layers(scenario, *scenario.cluster.graph, devices);
  const ModelRequest request = model_request(scenario, scenario.cluster.layout(devices));
  return {{modelled_for(scenario, request)}, std::vector<std::size_t>(static_cast<std::size_t>(devices), 0)};
}

}  // namespace

const Hardware& modelled_hardware(const Scenario& scenario) {
  const auto& named = scenario.transformer.named;
  return named != nullptr ? *named : *find_hardware(hardware_name(scenario));
}

std::shared_ptr<const KernelTables> kernel_tables_of(const Scenario& scenario) {
  if (scenario.transformer.no_kernels) return nullptr;
  if (scenario.transformer.kernels != nullptr) return scenario.transformer.kernels;
  const Hardware& hardware = modelled_hardware(scenario);
  if (hardware.own != nullptr && hardware.own->tables != nullptr) return hardware.own->tables;
  return installed_kernels(hardware.kernels);
}

bool topology_has_hardware(const Scenario& scenario) {
  return !hardware_of_topology(scenario.cluster.topology).empty();
}

std::optional<LinkGeneration> link_generation_of(const Scenario& scenario) {
  const std::optional<LinkGeneration> links = link_generation(scenario.cluster.topology);
  return links ? links : hardware_links(modelled_hardware(scenario));
}

void set_modelled_profile(Scenario& scenario) {
  if (!scenario.transformer.setup) return;
  const Hardware& hardware = modelled_hardware(scenario);
  scenario.transformer.setup->shape.predictor_place = predictor_place(scenario.partition);
  check_hardware_table(scenario, hardware);
  check_kernels(scenario, hardware);
  check_format(hardware, scenario.transformer.setup->compute);
  check_recipe(hardware, *scenario.transformer.setup);
  const int devices = std::max(1, scenario.devices.value_or(kDefaultDevices));  // none are refused later
  const RankLayout layout = scenario.cluster.layout(devices);
  scenario.transformer.setup->parallel = layout.sizes;
  check_setup(model_request(scenario, layout).setup);
  check_user_buffers(*scenario.transformer.setup, layout.sizes);
  if (scenario.cluster.graph != nullptr) check_job_fits(scenario, devices);
  if (scenario.transformer.scatter_gather) check_scatter(layout.sizes);
  const auto placed = std::make_shared<const PlacedLayers>(layers_for(scenario, devices));
  scenario.transformer.placed = placed;
  scenario.profile = placed->distinct[placed->of_device.front()].profile;
  scenario.transformer.recomputed = placed->distinct[placed->of_device.front()].recomputed;
  if (scenario.cluster.graph != nullptr) return;
  // Stages on ideal links: each pair is joined as neighbours in one machine are.
  scenario.profile->hop_latency = hardware.link_latency;
  scenario.profile->hop_bandwidth = hardware.link_bandwidth;
}

PlacedLayers place_layers(const Scenario& scenario, const LinkGraph& graph, int devices) {
  const RankLayout layout = scenario.cluster.layout(devices);
  ModelRequest request = model_request(scenario, layout);
  request.graph = &graph;
  request.layout = &layout;
  const bool kept = scenario.cluster.known != nullptr && &graph == scenario.cluster.graph.get();
  if (kept) {
    request.drafts = &scenario.cluster.known->drafts;
    request.layers = &scenario.cluster.known->layers;
  }
  PlacedLayers placed;
  const auto classes = [&] { return classes_of_places(request, devices); };
  placed.of_device = kept ? request.layers->classes(layout, classes) : classes();
  for (request.place = 0; request.place < devices; ++request.place) {
    if (placed.of_device[static_cast<std::size_t>(request.place)] < placed.distinct.size()) continue;
    placed.distinct.push_back(modelled_for(scenario, request));
  }
  return placed;
}

std::shared_ptr<const PlacedLayers> placed_layers(const Scenario& scenario, int devices) {
  const auto& known = scenario.transformer.placed;
  if (known == nullptr || known->of_device.size() == static_cast<std::size_t>(devices)) return known;
  return std::make_shared<const PlacedLayers>(layers_for(scenario, devices));
}

Nanoseconds PlacedLayers::longest_gather() const {
  Nanoseconds longest = 0;
  for (const ModelledLayers& layers : distinct) longest = std::max(longest, layers.gather);
  return longest;
}

ModelledLayers modelled_on_ideal(const Scenario& scenario, double bandwidth, double latency) {
  ModelRequest request = model_request(scenario, scenario.cluster.layout(scenario.devices.value_or(kDefaultDevices)));
  Hardware& hardware = request.kernels.hardware;
  hardware.link_bandwidth =
      std::max<std::int64_t>(1, std::llround(static_cast<double>(hardware.link_bandwidth) * bandwidth));
  hardware.link_latency = std::llround(static_cast<double>(hardware.link_latency) * latency);
  return modelled_for(scenario, request);
}

std::vector<LayerCost> modelled_layer_costs(const Scenario& scenario) {
  const int devices = std::max(1, scenario.devices.value_or(kDefaultDevices));
  const RankLayout layout = scenario.cluster.layout(devices);
  ModelRequest request = model_request(scenario, layout);
  if (scenario.cluster.graph != nullptr) {
    request.graph = scenario.cluster.graph.get();
    request.layout = &layout;
  }
  if (!scenario.transformer.recomputes_some()) return layer_costs(request);
  ModelRequest without = request;
  without.setup.recompute = Recompute::kNone;
  std::vector<LayerCost> layers;
  const std::vector<LayerCost> plain = layer_costs(without);
  const std::vector<LayerCost> again = layer_costs(request);
  for (std::size_t k = 0; k < plain.size(); ++k) {
    layers.push_back(plain[k]);
    if (again[k].ops.size() == plain[k].ops.size()) continue;
    layers.push_back(again[k]);
    layers.back().recomputed = true;
  }
  return layers;
}

UsualCluster usual_cluster(const std::string& hardware, int gpus) {
  const std::string name = hardware.empty() ? kUsualHardware : hardware;
  for (const Machine& machine : kMachines) {
    if (name != machine.hardware) continue;
    const int machines = (gpus + machine.gpus - 1) / machine.gpus;
    return {std::string(machine.topology) + ":" + std::to_string(machines), machine.gpus};
  }
  return {};
}

int alike_machine(const std::string& topology) {
  constexpr std::string_view kMesh = "v100-mesh";  // the GPUs of one have some neighbours only
  const std::string name = topology.substr(0, topology.find(':'));
  if (topology.find(',') != std::string::npos || name == kMesh) return 0;
  const auto* const found = std::find_if(kMachines.begin(), kMachines.end(),
                                         [&](const Machine& machine) { return name == machine.topology; });
  return found == kMachines.end() ? 0 : found->gpus;
}

}  // namespace debubble
