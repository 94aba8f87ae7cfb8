// From the flags of a modelled transformer to the profile that everything else works with.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "cost_models/transformer/layer_cost.hpp"
#include "scenario/request/scenario.hpp"

namespace debubble {

// Sets scenario.profile and scenario.transformer.placed where --model was given; nothing otherwise. Throws InputError
// where model, split and cluster do not fit together.
void set_modelled_profile(Scenario& scenario);

struct ModelledLayers {
  Profile profile;
  Nanoseconds gather = 0;  // with --scatter-gather: the all-gather after every transfer, before calibration
  // The layers where they recompute, if some blocks do not; `profile` is of these. Null: all are alike.
  std::shared_ptr<const Profile> recomputed;
};

// The transformer as each device of a pipeline has it. Collectives of its ranks take other links there, which may
// differ: of groups of six on machines of eight the first lies within one, the second has to leave it.
struct PlacedLayers {
  std::vector<ModelledLayers> distinct;
  std::vector<std::size_t> of_device;  // by device of the pipeline: which of them

  [[nodiscard]] Nanoseconds longest_gather() const;
};

// What the layers of Scenario::profile consist of, op by op, on device 0 of the pipeline. Where some blocks
// recompute, a layer that recomputes stands after the same layer that does not. Needs a --model that
// set_modelled_profile took.
[[nodiscard]] std::vector<LayerCost> modelled_layer_costs(const Scenario& scenario);

// On a cluster with these links, which need not be the scenario's. Needs a --model and a --topology.
[[nodiscard]] PlacedLayers place_layers(const Scenario& scenario, const LinkGraph& graph, int devices);
// That of the scenario for a pipeline of `devices`, which a table may have more or fewer of; null without a --model.
[[nodiscard]] std::shared_ptr<const PlacedLayers> placed_layers(const Scenario& scenario, int devices);
// The same on ideal links of so many times the bandwidth and latency.
[[nodiscard]] ModelledLayers modelled_on_ideal(const Scenario& scenario, double bandwidth, double latency);

// The hardware that a scenario's transformer runs on: as given, or that of the topology, or an H100.
[[nodiscard]] const Hardware& modelled_hardware(const Scenario& scenario);

// What its kernels were measured to take: of --kernels, or debubble's own of that hardware. Null: formulas alone.
[[nodiscard]] std::shared_ptr<const KernelTables> kernel_tables_of(const Scenario& scenario);

// Machines that hold this hardware, as many as so many GPUs take: "dgx-h100:8" for 64 of the h100 (or of none named).
// No topology where there is none of its machines; `machine` is then what most machines have.
struct UsualCluster {
  std::string topology;
  int machine = 8;  // GPUs
};
[[nodiscard]] UsualCluster usual_cluster(const std::string& hardware, int gpus);

// GPUs of a machine of the topology, where its machines are alike and as far from each other, and so are the GPUs
// inside one ("dgx-h100:8"); 0 where that is not known.
[[nodiscard]] int alike_machine(const std::string& topology);

// Whether the topology says what its machines hold: a dgx-h100 has H100s.
[[nodiscard]] bool topology_has_hardware(const Scenario& scenario);
// The generation of links whose latencies NCCL has: as the topology or the hardware says; nothing where neither does.
[[nodiscard]] std::optional<LinkGeneration> link_generation_of(const Scenario& scenario);

}  // namespace debubble
