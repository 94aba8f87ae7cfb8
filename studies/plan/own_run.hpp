// The run that somebody has already: of a launch script, a training log, a scenario file, or of flags that say a whole
// run (with --microbatches, as debubble simulate takes them). A plan is made for its job, and it is what the plan is
// compared with.
//
//     --tp 2 -p 4 --dp 8 -m 16, model, hardware, ...   ->   the run's own choice: tp 2, pp 4, dp 8, 16 microbatches
//                                                           what stays of the flags: model, hardware, ...
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/core/units.hpp"
#include "studies/plan/choice.hpp"
#include "studies/plan/evaluation.hpp"
#include "studies/plan/flags.hpp"

namespace debubble {

struct OwnRun {
  std::string name;  // the file's, or "the flags"
  PlanChoice choice;
  std::optional<int> expert_tensor;  // --etp, which no choice has
  int gpus = 1;
  std::int64_t global_batch = 1;   // samples
  Nanoseconds measured = 0;        // of an iteration, by a training log; 0: none was
  std::vector<std::string> notes;  // what of the file is left out, assumed, or changed for the plan
};

// Takes what a choice decides out of the flags. Throws InputError C087 for what no choice has (transforms, several
// schedules), C012 for numbers that no run has.
[[nodiscard]] OwnRun take_own_run(ScenarioFlags& job, std::string name);

// Of a measured profile, which has one size of a microbatch.
void set_own_microbatch(OwnRun& run, std::int64_t samples);

// The same of a file, whose other flags become those of `job` that the command line leaves open. Throws InputError:
// C005, P010 and F001 for a file that is none of these, P012 for a number that no flag takes, and C007 for
// --microbatches beside it.
[[nodiscard]] OwnRun read_own_run(const PlanFlags& flags, ScenarioFlags& job);

// A Megatron-LM script's flags, and those of another run of its job: what is typed takes their place. What follows from
// something typed, and is not typed itself, is found anew: replicas and microbatches by the script's ranks and global
// batch, the cut of another pipeline; what has no use for the typed ZeRO stage or recomputation is left out.
struct FlagsOverScript {
  ScenarioFlags own;
  ScenarioFlags wanted;
};
[[nodiscard]] FlagsOverScript flags_over_script(const std::string& text, const std::string& file,
                                                const ScenarioFlags& typed);

// What a command for the plan leaves out since it is the default, and the run has otherwise: " --tp 1 --recompute
// none". `cut` has the plan's layers of each stage: no word says how a plan cuts them where nothing is said.
[[nodiscard]] std::string flags_back_to_default(const PlanChoice& run, const PlanChoice& plan,
                                                const std::vector<int>& cut);

// How it stands beside the plans that were simulated and fit, best first.
struct OwnStanding {
  Evaluation found;         // simulated, or illegal
  std::int64_t faster = 0;  // of the plans: so many take less time
};
[[nodiscard]] OwnStanding judge_own_run(const OwnRun& run, const PlanRequest& request,
                                        const std::vector<PlannedRun>& plans);

// The run on so many GPUs and samples: with more or fewer replicas and microbatches, which a note says. False where
// these do not come out even.
[[nodiscard]] bool resize_own_run(OwnRun& run, int gpus, std::int64_t global_batch);

}  // namespace debubble
