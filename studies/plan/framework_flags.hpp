// A plan as the frameworks that could run it want to be told: what to paste, or why they cannot run it.
#pragma once

#include <cstdint>
#include <string>

#include "cost_models/transformer/setup.hpp"
#include "scenario/job/job.hpp"
#include "studies/plan/choice.hpp"

namespace debubble {

struct FrameworkFlags {
  std::string framework;     // "Megatron-LM"
  std::string text;          // arguments, TOML or JSON; empty: it cannot run this
  std::string note;          // what else it needs, or why it cannot
  bool of_own_best = false;  // of the best that it runs, since it does not run the best
};

// What a choice does not say of its run.
struct ChosenRun {
  const Job& job;          // the choice's
  const Profile& profile;  // of its scenario
  std::int64_t global_batch = 0;
  std::string recompute_modules;  // "mlp,moe_act", that selective recomputation is of; empty: the framework's own
  UserBuffers user_buffers;
  std::string recompute_blocks{};  // "first:2", where not all of them do
};

// `framework` is one of kFrameworks (schedules/frameworks.hpp), whose rules the choice does not break.
[[nodiscard]] FrameworkFlags framework_flags(const std::string& framework, const PlanChoice& choice,
                                             const ChosenRun& run);

}  // namespace debubble
