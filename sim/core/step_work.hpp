// StepWork: what a training step does in addition to the ops of its schedule, as a graph of tasks: gradients are
// reduced as soon as a stage's last backward has ended, the optimizer runs, parameters are gathered.
//
//     device 0   ... B B B |........|adam|        compute lane
//                        |reduce---|    |gather|  collective lane; a task starts when all it is after has ended
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/core/flow.hpp"
#include "sim/core/units.hpp"

namespace debubble {

// A stage of a model replica inside the pipeline group (Chimera has several; else replica 0).
struct StageName {
  std::int32_t replica = 0;
  std::int32_t stage = 0;

  friend bool operator==(const StageName&, const StageName&) = default;
};

struct StepTask {
  enum class Kind : std::uint8_t {
    kGradientReduce,   // all-reduce or reduce-scatter over the data-parallel ranks
    kEmbeddingReduce,  // of tied embeddings, between first and last stage
    kParameterGather,  // of sharded weights, before the forward or after the optimizer
    kGlobalNorm,       // of all gradients: a barrier
    kOptimizer,
    kOther,
  };
  enum class Lane : std::uint8_t { kCompute, kCollective };

  Kind kind = Kind::kOther;
  Lane lane = Lane::kCollective;
  std::string what;                   // "all-reduce of stage 3's gradients, ring over 128": to display
  std::vector<std::int32_t> devices;  // of the pipeline: it takes the lane of each of them, all at once
  // True where the same task of every pipeline replica is one: it starts when all of them may.
  bool across_replicas = false;
  // One after the other; where empty it takes `duration`. By pipeline replica, or one entry for all of them.
  std::vector<std::vector<Flow>> phases;
  Nanoseconds duration = 0;  // alone in the network, latencies included
  Bytes bytes = 0;           // per rank, for reports
  // Compute on its devices takes 1 + slow_down times as long while it runs: its kernels need SMs and memory, too.
  double slow_down = 0;

  std::vector<std::int32_t> after;       // tasks of the same step
  std::vector<StageName> after_stages;   // the last B or W of each on its device
  std::vector<StageName> before_stages;  // the first F of each waits for it
};

struct StepWork {
  std::vector<StepTask> tasks;  // each after those it is after

  [[nodiscard]] bool empty() const { return tasks.empty(); }
};

[[nodiscard]] const char* to_string(StepTask::Kind kind);  // "gradient_reduce", ...: the JSON's words

}  // namespace debubble
