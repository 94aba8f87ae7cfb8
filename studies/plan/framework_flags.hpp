// A plan as the frameworks that could run it want to be told: what to paste, or why they cannot run it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scenario/job/job.hpp"
#include "studies/plan/choice.hpp"

namespace debubble {

struct FrameworkFlags {
  std::string framework;  // "Megatron-LM"
  std::string text;       // arguments, TOML or JSON; empty: it cannot run this
  std::string note;       // what else it needs, or why it cannot
};

// `job` is the choice's, of a scenario with this profile.
[[nodiscard]] std::vector<FrameworkFlags> framework_flags(const PlanChoice& choice, const Job& job,
                                                          const Profile& profile, std::int64_t global_batch);

// Whether the catalog says that the framework runs the choice's schedule today; one device alone runs everywhere.
[[nodiscard]] bool runs_in(const PlanChoice& choice, const std::string& framework);

// Whether the framework runs the choice: its schedule, with its sharding and its context ranks.
[[nodiscard]] bool can_run(const PlanChoice& choice, const std::string& framework);

}  // namespace debubble
