// Flags about the training step: what is done in addition to the schedule's ops, and when; part of every verb that
// takes a scenario.
//
//     --step on                             reductions, norm, optimizer, gathering: of a profile or model
//     --step reduce=2,optimizer=0.5,norm=0.1,gather=1,embedding=0.2
//                                           times of one device's share; with a profile in place of what is computed
//
// With a profile and more than one data or context rank the step is on unless --step off.
#pragma once

#include <optional>
#include <string>

#include "cost_models/step/step_work.hpp"
#include "scenario/request/flag.hpp"

namespace debubble {

// As typed.
struct StepFlags {
  std::string step;
  std::string grad_reduce;
  std::string collective;
  std::string density;
  std::string norm;
  std::string gather;
  std::string slow_down;
  std::string optimizer_bandwidth;
  std::string tied_embedding;
  std::string bucket_size;
  bool keep_whole = false;
  bool overlap_reduce = false;
  bool overlap_gather = false;
};

[[nodiscard]] FlagRows flag_rows(StepFlags& flags);

// The flags, checked.
struct StepScenario {
  enum class Wanted { kDefault, kOn, kOff };
  Wanted wanted = Wanted::kDefault;
  StepOptions options;
  std::optional<std::int64_t> optimizer_bandwidth;
  std::optional<Bytes> tied_embedding;
  StepFlags typed;  // for what is given and what is not

  [[nodiscard]] bool has_times() const;
  // The first flag that shapes a step; empty where none was given.
  [[nodiscard]] std::string shaping_flag() const;
};

// Throws InputError (C002, C004, C006, C012) with everything that is wrong with them.
[[nodiscard]] StepScenario check_step(const StepFlags& flags);

// Throws InputError C087: `verb` has a training step of its own, which it measures.
void refuse_step(const StepScenario& step, const std::string& verb);

}  // namespace debubble
