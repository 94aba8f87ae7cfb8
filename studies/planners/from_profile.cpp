#include "studies/planners/from_profile.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "cost_models/partition/partition.hpp"
#include "sim/core/at.hpp"

namespace debubble {

namespace {

std::int64_t alone_bandwidth(const Topology& topology, int device) {
  constexpr Bytes kSample = Bytes{1} << 30;
  const Nanoseconds time = topology.transfer(0, device, kSample).serialisation;
  if (time <= 0) return kUnlimitedLink;
  return std::max<std::int64_t>(
      1, static_cast<std::int64_t>(static_cast<double>(kSample) / static_cast<double>(time) * 1e9));
}

}  // namespace

std::vector<PlannerProduct> transformer_products(std::int64_t rows, const ProfiledTransformer& sizes) {
  const std::int64_t heads = sizes.heads * sizes.head_size;
  const std::int64_t keys = sizes.kv_heads * sizes.head_size;
  return {{"query, key and value", rows, sizes.hidden, heads + 2 * keys},
          {"attention output", rows, heads, sizes.hidden},
          {"up", rows, sizes.hidden, sizes.feed_forward * (sizes.gated ? 2 : 1)},
          {"down", rows, sizes.feed_forward, sizes.hidden}};
}

PlannerJob planner_layers(const Profile& profile) {
  PlannerJob job;
  job.model = profile.model;
  // Adam's two moments, and a 32-bit copy where the weights have 16 bits: in bytes per byte of weights.
  const bool half = profile.dtype.find("16") != std::string::npos;
  const Bytes per_weight = half ? 6 : 2;
  for (const ProfileLayer& layer : profile.layers) {
    PlannerLayer planned;
    planned.name = layer.name;
    planned.role = role_of(layer.kind);
    planned.forward = layer.forward.median;
    planned.backward = layer_time(layer) - layer.forward.median;
    planned.output = layer.output;
    planned.activation = layer.activation;
    planned.parameters = layer.parameters;
    planned.state =
        layer.gradients.value_or(layer.parameters) + layer.optimizer.value_or(per_weight * layer.parameters);
    job.layers.push_back(std::move(planned));
  }
  if (profile.transformer && profile.transformer->hidden > 0) {
    const std::int64_t rows =
        std::max<std::int64_t>(profile.microbatch_size, 1) * std::max<std::int64_t>(profile.sequence_length, 1);
    job.products = transformer_products(rows, *profile.transformer);
  }
  return job;
}

std::vector<PlannerLevel> planner_levels(const Topology& topology, int devices) {
  if (devices < 2) return {{std::max(devices, 0), kUnlimitedLink}};
  if (topology.network() == nullptr) return {{devices, alone_bandwidth(topology, 1)}};
  const Network& network = *topology.network();
  const auto domain_of = [&](int device) { return at(network.graph.domain, network.layout.device(0, 0, 0, device)); };
  int inside = 1;
  while (inside < devices && domain_of(inside) == domain_of(0)) ++inside;
  if (inside == devices || inside == 1) return {{devices, alone_bandwidth(topology, devices - 1)}};
  const std::int64_t between = alone_bandwidth(topology, inside);
  if (devices % inside != 0) return {{devices, between}};
  return {{inside, alone_bandwidth(topology, 1)}, {devices / inside, between}};
}

PlannerJob planner_job(const Profile& profile, const Topology& topology, int devices, int microbatches, Bytes memory) {
  PlannerJob job = planner_layers(profile);
  const PlannerJob shape = equal_devices(devices, 1, memory);
  job.types = shape.types;
  job.devices = shape.devices;
  job.levels = planner_levels(topology, devices);
  job.microbatches = microbatches;
  return job;
}

}  // namespace debubble
