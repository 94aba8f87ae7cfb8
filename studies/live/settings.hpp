// LiveSettings: the flags of `debubble live`, checked: who runs it, by whose clock, how often, with what on purpose.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cost_models/partition/partition.hpp"
#include "gpu/workload/transformer_model.hpp"
#include "live/live.hpp"
#include "scenario/check_scenario.hpp"
#include "studies/live/flags.hpp"

namespace debubble {

enum class LiveBackend { kCpu, kCuda, kMpi, kTorch };

struct LiveSettings {
  LiveBackend backend = LiveBackend::kCpu;
  std::optional<live::Clock> clock;  // nothing: see choose_clock
  int repetitions = 0;               // 0: choose by the clock
  int warm_up = -1;                  // -1: choose by the clock
  Nanoseconds patience = 0;
  std::vector<std::string> faults;  // need the schedule to be read
  // Of the work on the CPU: which size of --profile is meant.
  std::optional<std::int64_t> microbatch;
  std::optional<std::int64_t> sequence;
  // On GPUs, see on_gpus(): a model runs, with costs that are measured.
  std::string model;
  WorkloadSize size;
  CutRule partition;
  bool graph = false;
  bool gpu_each = false;  // a GPU for each device; with mpi: work on GPUs
  int gpu = 0;

  // Of torch, where the work is PyTorch's and `gpu_each` says on what.
  std::string stages;             // "module:factory"; empty: the built-in chain
  std::vector<int> stage_layers;  // of the factory's nn.Sequential; empty: evenly
  std::string precision;

  // A model runs, and its costs are measured.
  [[nodiscard]] bool measures_costs() const { return on_gpus() || backend == LiveBackend::kTorch; }
  [[nodiscard]] bool on_gpus() const {
    return backend == LiveBackend::kCuda || (backend == LiveBackend::kMpi && gpu_each);
  }
};

// Throws InputError with all that is wrong: C002 unknown words, C087 flags of another backend and costs where a
// backend calibrates its own, C012 numbers out of range, C009 flags that contradict each other, C004 no model.
[[nodiscard]] LiveSettings check_live(const LiveFlags& flags, const ScenarioFlags& scenario);

// The flags of the scenario that a backend leaves to check_scenario: the GPU's partition is of a model's layers; on the
// CPU --microbatch-size and --sequence are sizes of the profile.
[[nodiscard]] ScenarioFlags scenario_part(const LiveSettings& settings, ScenarioFlags flags);

// What the clock is, and the sentence that says why. Left open: over MPI the logical one
// on every host; else the wall clock where `devices` workers and the one that watches have a core each.
struct ClockChoice {
  live::Clock clock = live::Clock::kLogicalGiven;
  std::string reason;
};
[[nodiscard]] ClockChoice choose_clock(const LiveSettings& settings, int devices);

}  // namespace debubble
