#include "scenario/job/planning.hpp"

#include <algorithm>
#include <variant>
#include <vector>

#include "schedules/catalog.hpp"
#include "schedules/common/memory_limit.hpp"
#include "sim/engine/simulate.hpp"

namespace debubble {

namespace {

PlanningCosts known_costs(const ScheduleRequest& request, const StageCosts& costs, const Topology& topology, P2p p2p) {
  PlanningCosts known;
  known.p2p = p2p;
  known.costs = costs;
  Bytes activations = 0;
  for (std::size_t s = 0; s < costs.stages.size(); ++s) {
    activations += costs.stages[s].activation;
    if (s == 0) continue;
    const int before = static_cast<int>(s) - 1;
    known.hops.push_back(topology.to_next_stage(before, request.devices, costs.stages[s - 1].output).total());
  }
  set_activation_unit(known, activations, request.devices);
  return known;
}

// By device, what its peak holds other than activations; empty where the order deadlocks.
std::vector<Bytes> peak_without_activations(const Schedule& schedule, const StageCosts& costs, const Topology& topology,
                                            P2p p2p) {
  std::vector<Bytes> bytes;
  const auto lowered = lower(schedule, p2p);
  const auto* program = std::get_if<Program>(&lowered);
  if (program == nullptr) return bytes;
  for (const DeviceTotals& device : simulate_totals(*program, costs, topology).devices) {
    bytes.push_back(device.peak_memory - device.peak_activation);
  }
  return bytes;
}

// Sets aside what the plan needs other than activations. False when that was set aside already.
bool reserve(PlanningCosts& known, const std::vector<Bytes>& bytes) {
  bool more = false;
  known.static_bytes.resize(bytes.size());
  for (std::size_t d = 0; d < bytes.size(); ++d) {
    more = more || bytes[d] > known.static_bytes[d];
    known.static_bytes[d] = std::max(known.static_bytes[d], bytes[d]);
  }
  return more;
}

}  // namespace

Schedule build_planned(const std::string& name, const ScheduleRequest& request, const StageCosts& costs,
                       const Topology& topology, P2p p2p) {
  PlanningCosts known = known_costs(request, costs, topology, p2p);
  ScheduleRequest planned = request;
  planned.costs = &known;
  Schedule schedule = build_schedule(name, planned);
  if (!request.params.contains("memory_limit") || !memory_limit_of(planned, known, "1p").sized) return schedule;
  // Another limit gives another order, in which other tensors wait. What is set aside only grows, so this ends.
  constexpr int kMostPlans = 16;
  for (int plan = 0; plan < kMostPlans; ++plan) {
    if (!reserve(known, peak_without_activations(schedule, costs, topology, p2p))) return schedule;
    schedule = build_schedule(name, planned);
  }
  schedule.notes.emplace_back(
      "the order may need more memory than memory_limit for tensors that wait on their receiver");
  return schedule;
}

}  // namespace debubble
