// make_step_work: what a synchronous training step does in addition to the ops of its schedule.
//
//     stage's last B or W --> reduce over the data ranks --+--> norm (all devices) --> optimizer --> gather parameters
//     tied embedding: first and last stage add up theirs --+
//
// ZeRO (Rajbhandari et al., SC 2020) decides what each step carries:
//   0  gradients are all-reduced, every rank updates all of its weights;
//   1  gradients are reduce-scattered, every rank updates its part, the weights are gathered again;
//   2  as 1; gradients are scattered after every microbatch, so that only a part is kept, or once per step (`keep`);
//   3  as 2, and weights are gathered inside every op, or once per step (`keep`).
// What happens inside ops is not a task of the step: sharded_stage_costs puts it into the stages' times.
//
// Buckets (Megatron-LM, megatron/core/distributed/distributed_data_parallel.py): with overlap_reduce the gradients of
// the first stage are reduced bucket by bucket during its last backward, with overlap_gather its weights are gathered
// bucket by bucket during its first forward; a bucket has max(40 million, 1 million per data rank) parameters. Other
// stages have one bucket each, for the pipeline hides theirs. Of n equal buckets of c each beside an op of T, max(c, n
// c + T/n - T) lie outside of it, and that is the step's task; what runs beside the op slows it down.
//
// Ranks that see other samples or other parts of the sequence (data, context) hold the same weights and reduce
// together; experts' weights are the same on every `expert`-th of them only. Replicas of a stage inside the pipeline
// (Chimera) reduce together, too.
#pragma once

#include <optional>
#include <vector>

#include "cost_models/collectives/collective.hpp"
#include "cost_models/collectives/nccl_model.hpp"
#include "sim/core/assumption.hpp"
#include "sim/core/rank_layout.hpp"
#include "sim/core/schedule.hpp"
#include "sim/core/stage_costs.hpp"
#include "sim/core/step_work.hpp"
#include "sim/core/topology.hpp"

namespace debubble {

// Of one stage on one rank, as if nothing were sharded by ZeRO.
struct StageState {
  Bytes parameters = 0;  // as gathered: in the precision of compute
  Bytes gradients = 0;
  Bytes optimizer = 0;
  Bytes expert_parameters = 0;  // of these, experts'
  Bytes expert_gradients = 0;
  Bytes expert_optimizer = 0;
};

enum class GradientReduce : std::uint8_t {
  kOverlap,  // a stage's as soon as its last backward (or W) has ended
  kAtEnd     // when the last op of its device has ended
};
enum class NormMode : std::uint8_t {
  kBarrier,         // every device waits for the norm of all gradients
  kPostValidation,  // zero-bubble's: the partial norm is handed on from stage to stage; the verdict comes later
  kNone             // every device updates when its own gradients are reduced
};
enum class ParameterGather : std::uint8_t {
  kAfterOptimizer,  // at the end of the step
  kBeforeForward    // of each stage, before its first forward
};

// Durations that were given and not computed, each for one device's share: a stage of v on a device takes 1/v of it.
struct StepTimes {
  std::optional<Nanoseconds> reduce;
  std::optional<Nanoseconds> embedding;
  std::optional<Nanoseconds> norm;  // of the barrier, or of one message of the post-validation
  std::optional<Nanoseconds> optimizer;
  std::optional<Nanoseconds> gather;
};

struct StepOptions {
  GradientReduce reduce = GradientReduce::kOverlap;
  NormMode norm = NormMode::kBarrier;
  ParameterGather gather = ParameterGather::kAfterOptimizer;
  bool keep = false;            // ZeRO-2: all gradients, ZeRO-3: all weights and gradients stay for the whole step
  bool overlap_reduce = false;  // the first stage's gradients in buckets, during its last backward
  bool overlap_gather = false;  // the first stage's weights in buckets, during its first forward; needs kBeforeForward
  std::int64_t bucket = 0;      // parameters; 0: Megatron-LM's
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::kAuto;
  std::optional<double> slow_down;    // of compute that overlaps a collective; absent: the collective model's
  double density = 1;                 // of sparse reductions: the share of numbers that are sent
  double network_scale = 1;           // all collectives' times are divided by it
  std::int64_t memory_bandwidth = 0;  // bytes per second that an optimizer reaches; 0: it takes no time
  int master_ratio = 2;               // bytes of the copy that is updated over the weights'; 0: these are updated
  bool loss_scaling = false;          // of fp16: its scale is taken out of the gradients before the norm
  StepTimes times;
};

struct StepRequest {
  const Schedule* schedule = nullptr;
  std::vector<StageState> stages;  // by stage; empty: only what `options.times` names is done
  Parallelism parallel;
  const Topology* topology = nullptr;  // ideal: ranks with a port each, of its bandwidth, and its latency per message
  // Of what the topology does not say by its name; nothing: collectives have no latency but that of their links.
  std::optional<LinkGeneration> generation;
  KnownDrafts* drafts = nullptr;  // on the topology's graph; null: none are kept
  // For buckets: how long the first stage's first forward and last backward (or W) take, bytes of one of its
  // parameters.
  Nanoseconds first_forward = 0;
  Nanoseconds last_backward = 0;
  int parameter_bytes = 2;
  Bytes tied_embedding = 0;  // gradient bytes on a rank, held by first and last stage; 0: not tied
  StepOptions options;
};

// How many buckets the first stage has: at least one.
[[nodiscard]] std::int64_t buckets_of(const StepRequest& request, Bytes parameters);

// Says in `assumptions` what was assumed. Empty where there is nothing to do.
[[nodiscard]] StepWork make_step_work(const StepRequest& request, std::vector<Assumption>& assumptions);

// Without a training step: what a schedule with copies of a stage on several devices (Chimera, DualPipe) must do all
// the same, or the copies would drift apart. Empty where no stage is held twice or the request has no sizes.
[[nodiscard]] StepWork make_replica_sums(const StepRequest& request, std::vector<Assumption>& assumptions);

// A sum of so many bytes over all devices of the pipeline: of what the shards of an output layer have found.
[[nodiscard]] CollectivePlan pipeline_sum(const StepRequest& request, Bytes bytes);

// The stages' costs with what ZeRO-2 and ZeRO-3 do inside their ops. Over the `layers` of a stage transfers overlap
// compute: the first layer's weights are waited for, the last one's gradients too. Unchanged below ZeRO-2 and where the
// request keeps everything; then gradients (ZeRO-3: weights, too) take their full size.
[[nodiscard]] StageCosts sharded_stage_costs(const StepRequest& request, StageCosts costs,
                                             const std::vector<int>& layers, std::vector<Assumption>& assumptions);

}  // namespace debubble
