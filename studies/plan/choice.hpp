// PlanChoice: one way to run a job: how it is split over the GPUs, in what pieces, and in which order.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/frameworks/run_rules.hpp"
#include "scenario/request/scenario.hpp"

namespace debubble {

inline constexpr const char* kRecomputeWords[] = {"none", "selective", "full"};
inline constexpr int kFullRecomputation = 2;

struct PlanChoice {
  int tensor = 1;
  int context = 1;
  int expert = 1;
  int pipeline = 1;
  int data = 1;
  int zero = 0;
  bool sequence = false;         // sequence parallelism over the tensor ranks
  std::int64_t microbatch = 1;   // samples
  int microbatches = 1;          // per pipeline and step
  int recompute = 0;             // of kRecomputeWords
  std::string recompute_stages;  // "0-2": on these only; empty: on all
  int recompute_first = 0;       // the first so many blocks of each stage only; 0: every block, or the job's own rule
  std::string schedule;
  int chunks = 1;  // stages per device
  // What a plain run leaves as it is: empty, the job's own.
  std::vector<std::string> params;  // of the schedule: "memory_limit=1.5p"
  std::string rank_order;           // "tp-cp-pp-dp", nearest first
  // As --partition takes it: kBalancedCut weighs each device's speed and links. That of `--only partition=auto` is the
  // usual cut, and leaves this empty.
  std::string partition;

  friend bool operator==(const PlanChoice&, const PlanChoice&) = default;
};

// Leaves out what flags say of a part that the step of this ZeRO stage does not have, or has anyway. Returns the last
// such flag; empty: all of them change something.
std::string leave_out_idle(int zero, StepFlags& step);

// As frameworks' rules see it.
[[nodiscard]] FrameworkChoice framework_choice(const PlanChoice& choice);

// `job`: what every choice has in common; it keeps whatever a choice does not decide.
[[nodiscard]] ScenarioFlags flags_of(const PlanChoice& choice, const ScenarioFlags& job);

// "tp 4, pp 8, dp 2, ZeRO-1; interleaved, 2 stages per device; 512 microbatches of 1 sample; selective recomputation"
[[nodiscard]] std::string to_string(const PlanChoice& choice);

// " on stages 0-2", " of the first 4 blocks of each stage": of what alone recomputes; empty: all do, or none.
[[nodiscard]] std::string what_recomputes(const PlanChoice& choice);

// As --recompute-blocks takes it: "first:4"; empty: as the job has it.
[[nodiscard]] std::string blocks_word(const PlanChoice& choice);

// The simulation of it, to be pasted into a shell.
[[nodiscard]] std::string command_of(const PlanChoice& choice, const ScenarioFlags& job);

// How many things a person has to set up that a plain 1F1B run does not have: the lower the simpler.
[[nodiscard]] int complexity(const PlanChoice& choice);

}  // namespace debubble
