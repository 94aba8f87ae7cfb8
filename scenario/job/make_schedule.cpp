#include "scenario/job/make_schedule.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "cost_models/partition/blocks.hpp"
#include "formats/schedule/schedule_file.hpp"
#include "scenario/job/links.hpp"
#include "scenario/job/stage_costs.hpp"
#include "scenario/job/transforms.hpp"
#include "schedules/catalog.hpp"
#include "schedules/common/contract.hpp"
#include "schedules/common/memory_limit.hpp"
#include "schedules/common/request.hpp"
#include "schedules/transforms/catalog.hpp"
#include "sim/core/error.hpp"
#include "sim/core/p2p.hpp"
#include "sim/core/topology.hpp"
#include "sim/engine/simulate.hpp"

namespace debubble {
namespace {

// Schedules whose order depends on the costs: what their builders may know, and limits on all of a device's memory.

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

// Builds a schedule of a row with `uses_costs` for these costs and links. A `memory_limit` with a unit holds for all
// memory of a device, as the simulation counts it: received tensors too, which only the finished order tells.
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

// A table says how many devices and microbatches it has; a flag that says otherwise is a mistake.
void check_against_table(const Schedule& table, const Scenario& scenario, const std::string& file) {
  const auto check = [&](const std::optional<int>& flag, int value, const char* name, const char* what) {
    if (!flag || *flag == value) return;
    throw InputError(Diagnostic{
        "C001", name,
        file + " has " + std::to_string(value) + " " + what + ", but " + name + " says " + std::to_string(*flag),
        std::string("leave out ") + name});
  };
  check(scenario.devices, table.devices, "--devices", "devices (rows)");
  check(scenario.microbatches, table.microbatches, "--microbatches", "microbatches");
  if (scenario.chunks != 0) check(scenario.chunks, table.chunks, "--chunks", "stages per device");
  if (!scenario.params.empty()) {
    throw InputError(
        Diagnostic{"S002", "--param", "a schedule read from a table takes no parameters", "leave --param out"});
  }
}

// Left to itself, a schedule of several chunks takes the smallest number that cuts the layers evenly, or the blocks
// alone where the cut counts these alone; 0: its default.
int even_chunks(const Scenario& scenario, const std::string& name, int devices) {
  const ScheduleEntry* entry = find_schedule(name);
  if (!scenario.profile || entry == nullptr || entry->default_chunks < 2 || devices < 1) return 0;
  if (entry->chunk_step < 1 || scenario.params.contains(entry->chunks_param)) return 0;
  const bool of_blocks = scenario.partition.how == CutRule::How::kEven;
  const auto layers = of_blocks ? std::int64_t{count_layers(*scenario.profile).blocks}
                                : static_cast<std::int64_t>(scenario.profile->layers.size());
  for (int chunks = entry->default_chunks; std::int64_t{chunks} * devices <= layers; chunks += entry->chunk_step) {
    if (layers % (std::int64_t{chunks} * devices) == 0) return chunks;
  }
  return 0;
}

// For a cost-aware row: first what each stage will cost, then the order. What they assume is said once, when the
// schedule is there.
Schedule plan_schedule(const Scenario& scenario, const ScheduleEntry& entry, const ScheduleRequest& request) {
  check_request(entry, request);
  if (scenario.partition.how == CutRule::How::kMemory) {
    throw InputError(Diagnostic{
        "C087", "--partition",
        "\"memory\" follows from what the order holds, and the order of " + entry.name + " from what its stages cost",
        "use --partition auto, or layers per stage"});
  }
  Schedule shape;
  shape.devices = request.devices;
  shape.chunks = request.chunks == 0 ? entry.default_chunks : request.chunks;
  shape.stages = request.devices * shape.chunks;
  shape.placement = loop_placement(request.devices, shape.stages);
  const StageCosts costs = make_stage_costs(scenario, shape).costs;
  return build_planned(entry.name, request, costs, make_topology(scenario, request.devices).value,
                       transfers_of(scenario, entry.name, false));
}

Schedule own_or_read(const Scenario& scenario, const std::string& name) {
  if (scenario.own_schedules == nullptr) return read_schedule_file(name);
  const auto own = scenario.own_schedules->find(name);
  return own == scenario.own_schedules->end() ? read_schedule_file(name) : own->second;
}

Schedule make_base_schedule(const Scenario& scenario, const std::string& name) {
  if (is_table_file(name)) {
    Schedule table = own_or_read(scenario, name);
    check_against_table(table, scenario, name);
    return table;
  }
  ScheduleRequest request;
  request.devices = scenario.devices.value_or(kDefaultDevices);
  request.microbatches = scenario.microbatches.value_or(kDefaultMicrobatches);
  request.chunks = scenario.chunks == 0 ? even_chunks(scenario, name, request.devices) : scenario.chunks;
  request.params = scenario.params;
  const ScheduleEntry* entry = find_schedule(name);
  const auto& setup = scenario.transformer.setup;
  if (setup && setup->exchange_overlap && entry != nullptr && has_param(*entry, kExtraWarmup)) {
    request.params.insert({kExtraWarmup, "1"});  // or the passes that run beside each other wait for each other
  }
  const bool planned = entry != nullptr && entry->uses_costs;
  return planned ? plan_schedule(scenario, *entry, request) : build_schedule(name, request);
}

}  // namespace

bool is_table_file(const std::string& name) {
  if (name == "-") return true;  // standard input
  const std::string plain = name.ends_with(".gz") ? name.substr(0, name.size() - 3) : name;
  if (name.ends_with(kOwnScheduleEnding)) return true;
  return plain.ends_with(".csv") || plain.ends_with(".json") || name.find('/') != std::string::npos;
}

Schedule make_schedule(const Scenario& scenario, const std::string& name) {
  Schedule schedule = make_base_schedule(scenario, name);
  for (const TransformSpec& spec : scenario.transforms) {
    TransformRequest request{spec.params, nullptr};
    std::optional<PlanningCosts> costs;
    if (find_transform(spec.name)->uses_costs) {
      request.costs = &costs.emplace(costs_to_plan_with(schedule, make_stage_costs(scenario, schedule).costs,
                                                        make_topology(scenario, schedule.devices).value));
    }
    schedule = apply_transform(spec.name, schedule, request);
    schedule.receives.clear();  // of other rows
  }
  return schedule;
}

}  // namespace debubble
