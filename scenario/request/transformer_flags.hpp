// Flags about the transformer that is modelled; part of every verb that takes a scenario.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cost_models/recompute_rule.hpp"
#include "cost_models/transformer/kernel_time.hpp"
#include "cost_models/transformer/setup.hpp"
#include "scenario/request/flag.hpp"
#include "sim/core/assumption.hpp"
#include "sim/core/profile.hpp"

namespace debubble {

// As typed.
struct TransformerFlags {
  std::string model;
  std::string model_size;
  std::string hardware;
  std::string dtype;
  std::string grad_dtype;
  std::string attention;
  std::string recompute;
  std::string recompute_stages;
  std::string recompute_blocks;
  std::string recompute_modules;
  std::string optimizer;
  std::string weight_dtype;
  std::string master_weights;
  std::string moment_dtype;
  std::string second_moment_dtype;
  std::string low_gradients;
  std::string fp8_weights;
  std::string loss;
  std::string grad_accumulation;
  std::string tensor_overlap;
  std::string context_exchange;
  std::string expert_imbalance;
  std::string capacity_factor;
  std::string moe_dispatch;
  std::string moe_overlap;
  std::string efficiency;
  std::string kernels;
  std::string cuda_graphs;
  std::string host_launch;
  std::string fp8_recipe;
  std::string calibrate;
  std::optional<std::int64_t> sequence;
  std::optional<std::int64_t> microbatch_size;
  bool dropout = false;
  // Of what the two sizes are called on this verb.
  const char* sequence_flag = "--sequence";
  const char* microbatch_flag = "--microbatch-size";
  bool scatter_gather = false;
  bool recompute_open = false;  // no flag: a plan has yet to say what --recompute is
  ModelEffects effects;         // no flag: a study's
};

[[nodiscard]] FlagRows flag_rows(TransformerFlags& flags);

struct PlacedLayers;

// The flags, checked. Without --model there is no setup.
struct TransformerScenario {
  std::optional<TrainingSetup> setup;          // but for its parallelism, which the cluster's flags say
  std::string hardware;                        // as given; empty: follows from the topology
  std::shared_ptr<const Hardware> named;       // what that names, a preset or a file's; null: nothing is given
  Efficiency calibration;                      // compute_scale and network_scale only
  bool scatter_gather = false;                 // tensor ranks send shares of what goes to the next stage
  std::vector<int> recompute_stages;           // the only ones that recompute; empty: all do, or none
  RecomputeRule recompute_blocks;              // and which of their blocks do
  std::shared_ptr<const Profile> recomputed;   // of these blocks, beside Scenario::profile; null: that is for all
  std::shared_ptr<const PlacedLayers> placed;  // set with the profile (scenario/job/model_profile.hpp)
  std::vector<MeasuredShape> measured;
  MeasuredPasses measured_passes;               // of the same machine
  std::string measured_hardware;                // what the table is of
  std::shared_ptr<const KernelTables> kernels;  // of --kernels FILE; null: those that debubble brings for the hardware
  bool no_kernels = false;                      // --kernels off
  bool cuda_graphs = false;                     // else the host launches every kernel
  std::optional<Nanoseconds> host_launch;       // of one kernel, as given
  std::vector<Assumption> assumptions;
  std::vector<std::string> notes;  // what the model leaves out

  // Whether some blocks recompute and others do not.
  [[nodiscard]] bool recomputes_some() const { return !recompute_stages.empty() || recompute_blocks.some(); }
};

// By stage, whether it recomputes. Throws InputError C012 for a stage that there is not.
[[nodiscard]] std::vector<bool> recomputing_stages(const TransformerScenario& transformer, int stages);

// Throws InputError with everything that is wrong with them. Without --model, sequence and microbatch size choose a
// size of a profile, where there is one (profile_files.hpp).
[[nodiscard]] TransformerScenario check_transformer(const TransformerFlags& flags);

}  // namespace debubble
