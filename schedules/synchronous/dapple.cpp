#include "schedules/synchronous/dapple.hpp"

#include <algorithm>

#include "schedules/common/closed_forms.hpp"
#include "schedules/common/memory_limit.hpp"
#include "schedules/common/request.hpp"
#include "schedules/zero_bubble/planning.hpp"

namespace debubble {

namespace {

// Forwards that a stage starts before its first backward, were memory no matter.
int wanted_in_flight(int stage, int stages, bool policy_b) {
  const int depth = stages - stage;
  return policy_b ? 2 * depth - 1 : depth;
}

std::vector<Op> dapple_row(int stage, int in_flight, int m) {
  std::vector<Op> row;
  row.reserve(2 * static_cast<std::size_t>(m));
  in_flight = std::min(in_flight, m);
  for (int i = 0; i < in_flight; ++i) row.push_back({OpKind::kForward, false, stage, i});
  for (int i = 0; i < m; ++i) {
    row.push_back({OpKind::kBackward, false, stage, i});
    if (in_flight + i < m) row.push_back({OpKind::kForward, false, stage, in_flight + i});
  }
  return row;
}

// Microbatches of which each device can hold the activations; at least 1, or the request is refused.
std::vector<int> in_flight_limits(const ScheduleRequest& request) {
  const auto devices = static_cast<std::size_t>(request.devices);
  std::vector<int> most(devices, request.microbatches);
  if (!request.params.contains("memory_limit")) return most;
  const PlanningCosts planning = planning_costs_of(request, request.devices, 1);
  const MemoryLimit limit = memory_limit_of(request, planning, "");
  std::vector<Bytes> one(devices);
  bool fits = true;
  for (std::size_t d = 0; d < devices; ++d) {
    one[d] = planning.costs.stages[d].activation;
    if (one[d] == 0) continue;
    fits = fits && limit.activations[d] >= one[d];
    most[d] = static_cast<int>(std::min<Bytes>(limit.activations[d] / one[d], request.microbatches));
  }
  if (!fits) refuse_memory_limit("dapple", limit, planning, one);
  return most;
}

Schedule build_dapple(const ScheduleRequest& request) {
  require_one_chunk(request, "dapple");
  const std::string policy = choice_param(request, "policy", "a|b");
  const std::vector<int> limits = in_flight_limits(request);
  Schedule schedule = start_schedule(request, "dapple", 1);
  schedule.params = {{"policy", policy}};
  if (const auto given = request.params.find("memory_limit"); given != request.params.end()) {
    schedule.params.emplace_back("memory_limit", given->second);
  }
  // A stage that waited for more forwards than the one before it starts would wait for ever.
  int before = request.microbatches;
  for (int stage = 0; stage < request.devices; ++stage) {
    const auto d = static_cast<std::size_t>(stage);
    const int wanted = wanted_in_flight(stage, request.devices, policy == "b");
    before = std::min({before, wanted, limits[d]});
    schedule.rows[d] = dapple_row(stage, before, request.microbatches);
  }
  return schedule;
}

int in_flight_of(const FormCase& form, int stage) {
  return std::min(wanted_in_flight(stage, form.devices, form_word(form, "policy") == "b"), form.microbatches);
}

// The cap where it is one number of activations for all devices, m where there is none.
std::optional<int> dapple_cap(const FormCase& form) {
  return form.params.contains("memory_limit") ? form_number(form, "memory_limit") : form.microbatches;
}

// A cap that binds leaves no formula but for one microbatch at a time.
std::optional<double> dapple_makespan(const FormCase& form) {
  const auto cap = dapple_cap(form);
  if (!cap) return std::nullopt;
  if (*cap >= in_flight_of(form, 0)) return fill_and_drain(form);
  if (*cap == 1) return form.microbatches * form.devices * (form.forward + form.backward);
  return std::nullopt;
}

std::optional<double> dapple_peak(const FormCase& form) {
  const auto cap = dapple_cap(form);
  if (!cap) return std::nullopt;
  return std::min(in_flight_of(form, form.device), *cap);
}

}  // namespace

const ScheduleEntry& dapple_entry() {
  static const ScheduleEntry entry{
      .name = "dapple",
      .summary = "1f1b with a chosen depth of warm-up; policy b hides latency for twice the activations",
      .citation = "Fan et al., DAPPLE, PPoPP 2021, arXiv 2007.01045",
      .constraints = "p >= 1, m >= 1, memory_limit of one activation or more",
      .needs = "",
      .splits_backward = false,
      .default_chunks = 1,
      .params =
          {{"policy", "a|b", "a", "a: p - d microbatches in flight on device d; b: 2(p - d) - 1"},
           {"memory_limit", "1..", "no limit",
            "what a device may fill with activations, in those of a device share (the published D), times p (1p), "
            "as a size, or one per device"}},
      .build = build_dapple,
      .family = ScheduleFamily::kSynchronous,
      .certainty = Certainty::kReproduced,
      .certainty_note = "the paper's two policies and its cap; its replicated stages and its planner are left out",
      .makespan = {"(m + p - 1)(f + b) where memory_limit >= min(m, p), of policy b min(m, 2 p - 1); m p (f + b) at "
                   "memory_limit = 1",
                   dapple_makespan},
      .peak = {"min(m, memory_limit, p - d), of policy b min(m, memory_limit, 2(p - d) - 1)", dapple_peak},
      .frameworks = "",
      .advice =
          "Policy b where hops are long compared with compute: a hop of up to (f + b) / 2 costs nothing in the steady "
          "state. Below 2 p - 1 activations policy a is the quicker of the two.",
      .uses_costs = true};
  return entry;
}

}  // namespace debubble
