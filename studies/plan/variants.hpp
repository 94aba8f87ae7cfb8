// What one schedule of the catalog can be run with: stages per device, and the parameters that trade time for memory.
//
//     pipeoffload   offload_chunks = half of them, or all (PO-H and PO-F of its paper)
//     chimera       mode = direct, doubling, halving
//     zb-auto       memory_limit = 1p, 1.5p, 2p; of zb-v-auto and optimal, too
//     dapple        policy = a, b
//
// --fix and --only name other values by the parameter's own name: --only schedule=zb-auto,memory_limit=1p,3p.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "schedules/catalog.hpp"
#include "sim/core/schedule.hpp"
#include "studies/plan/choice.hpp"
#include "studies/plan/order_summary.hpp"

namespace debubble {

struct PlanVariant {
  std::string schedule;
  int chunks = 1;
  std::vector<std::string> params{};  // KEY=VALUE, those that are not as the schedule has them anyway
};

// Whether some schedule has such a parameter; not those that only say the number of stages.
[[nodiscard]] bool is_schedule_param(const std::string& key);

// The row with so many stages per device, once for each combination of the values of its parameters: those of
// `allowed`, by key, else the usual ones.
[[nodiscard]] std::vector<PlanVariant> variants_with(const ScheduleEntry& entry, int chunks,
                                                     const std::map<std::string, std::vector<std::string>>& allowed);

// Whether it is in a space that names neither its schedule nor a number of stages. Of pipeoffload, whose memory no
// bound knows well, those are that offload half of 2 or 4 stages.
[[nodiscard]] bool is_usual_variant(const PlanVariant& variant);

// What `extra_warmup` of a schedule has to be where the exchange of experts runs beside the other pass: "1", or "0" in
// frameworks that have no such order; empty: there is no such exchange.
[[nodiscard]] std::string exchange_warmup(const FrameworkJob& job, const std::string& runs_in);

// "memory_limit=2p", ... as a builder takes them.
[[nodiscard]] std::map<std::string, std::string> params_of(const PlanChoice& choice);

// What the bounds may know of this order, or of a pattern of it. Where the order depends on times, what it holds at
// once is not known, but for what pipeoffload never offloads.
[[nodiscard]] OrderSummary summary_for(const PlanChoice& choice, const Schedule& schedule);

}  // namespace debubble
