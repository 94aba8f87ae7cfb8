// Report: every number about one run. Views only print it; every number printed is in the JSON, and the reverse.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/analysis/fill_bubbles.hpp"
#include "sim/analysis/finding.hpp"
#include "sim/analysis/peak_op.hpp"
#include "sim/analysis/step_range.hpp"
#include "sim/core/assumption.hpp"
#include "sim/core/op.hpp"
#include "sim/core/units.hpp"
#include "sim/rows/deadlock.hpp"
#include "sim/rows/weight_versions.hpp"

namespace debubble {

// Why a device's compute lane was idle. The causes of a device add up to its idle time exactly.
enum class IdleCause {
  kFill,        // waiting for compute elsewhere before its first backward: the pipeline ramps up
  kDrain,       // waiting for compute elsewhere after its last forward, and after its last op
  kDependency,  // waiting for compute elsewhere in between: stages are not equal, or the order is not ideal
  kTransferLatency,
  kTransferBandwidth,
  kContention,   // waiting for a transfer that shared its links with others: the time beyond what it takes alone
  kCollective,   // waiting for a collective: of a split output layer, of gradients, of parameters
  kStraggler,    // waiting for compute elsewhere that took longer than its stage costs, or for a slower replica
  kMemoryLimit,  // waiting for an activation that was moved away
  kLaunchGap,    // measured runs only
};
inline constexpr int kIdleCauses = 10;
[[nodiscard]] const char* to_string(IdleCause cause);  // "fill", "transfer_latency", ...: the JSON keys

enum class MemoryCategory {
  kWeights,
  kGradients,
  kOptimizer,
  kExtraWeights,       // second and later weight versions
  kActivations,        // F start .. B or I end, and what shards of the vocabulary hold
  kHeldForWeightGrad,  // I end .. W end
  kReceived,           // inputs and gradients: arrival .. end of the op that uses them
  kCommBuffers,
  kWorkspace,  // while an op runs
};
inline constexpr int kMemoryCategories = 9;
[[nodiscard]] const char* to_string(MemoryCategory category);        // "weights", "held_for_weight_grad", ...
[[nodiscard]] const char* to_string(Asynchrony::Versions versions);  // "latest", "stashed", "per-batch", "predicted"

using BytesByCategory = std::array<Bytes, kMemoryCategories>;
using NanosecondsByCause = std::array<Nanoseconds, kIdleCauses>;

// One step of a device's memory curve: from `at` on, until the next point.
struct MemoryPoint {
  Nanoseconds at = 0;
  BytesByCategory bytes{};
};

struct DeviceReport {
  int device = 0;
  Nanoseconds busy = 0;
  Nanoseconds idle = 0;
  double bubble_ratio = 0;  // idle / makespan
  NanosecondsByCause idle_by_cause{};
  Bytes peak_memory = 0;
  Nanoseconds peak_memory_at = 0;
  PeakOp peak_memory_op;  // that reached it; empty when the peak is the static state
  BytesByCategory peak_by_category{};
  Bytes peak_activation = 0;
  Bytes peak_host_memory = 0;         // activations that its copies have put into the host's memory
  double peak_activation_shares = 0;  // in activations of one device share (1/p of the model, one microbatch)
};

struct CriticalPath {
  Nanoseconds compute = 0;     // the optimizer, too
  Nanoseconds transfer = 0;    // copies to the host or a peer count too
  Nanoseconds collective = 0;  // barriers of a vocabulary that is split over the devices, and the step's collectives
  // Launch gaps of measured runs, and waits for another replica of the pipeline. The four add up to the makespan
  // exactly.
  Nanoseconds wait = 0;
  int hops = 0;  // transfers on the path
};

// In a full pipeline `microbatches` of them take `time`.
struct StreamPeriod {
  Nanoseconds time = 0;
  int microbatches = 1;

  [[nodiscard]] double per_microbatch() const { return static_cast<double>(time) / microbatches; }
};

// Of a schedule without a flush: what its stages read and hold, and its pace once the pipeline is full.
struct StreamReport {
  std::string versions;  // how weights are chosen: "latest", "stashed", "per-batch", "predicted"
  int update_every = 1;  // backward passes of a device per update
  std::optional<StreamPeriod> period;
  std::optional<double> samples_per_second;  // at that pace
  std::optional<double> tokens_per_second;
  std::vector<StageVersions> stages;
};

// One kind of task of a training step, over all devices.
struct StepPart {
  StepTask::Kind kind = StepTask::Kind::kOther;
  int tasks = 0;
  Nanoseconds time = 0;     // the longest sum on one device
  Nanoseconds exposed = 0;  // of these, on that device, while its compute lane was idle or held by it
  Nanoseconds contention = 0;
  Bytes bytes = 0;  // per rank of that device
};

struct StepReport {
  Nanoseconds pipeline_end = 0;  // when the last op of the schedule ended
  std::vector<StepPart> parts;   // in the order of StepTask::Kind
};

// The cluster that a run was mapped onto, and how its pipeline replicas went.
struct ClusterReport {
  std::string topology;      // "dgx-h100:8"
  std::string network;       // "fluid", "fifo", "uncontended"
  std::int64_t devices = 0;  // of the cluster
  std::int64_t ranks = 0;    // of the job
  int tensor = 1, context = 1, expert = 1, data = 1;
  int expert_tensor = 0;       // ranks that split an expert; 0: the tensor ranks do
  int simulated_replicas = 1;  // of the pipeline; the report shows the slowest
  Nanoseconds fastest_replica = 0;
  Nanoseconds slowest_replica = 0;
};

// Whether the run fits the devices' memory.
struct MemoryFit {
  Bytes capacity = 0;                 // of every device
  int device = 0;                     // the one with the least to spare
  Bytes allocated = 0;                // its peak
  Bytes reserved = 0;                 // what a caching allocator takes from the device for it
  Bytes spare = 0;                    // capacity less reserved; below 0: out of memory
  Nanoseconds at = 0;                 // when the peak is reached, or, out of memory, when the first allocation fails
  PeakOp op;                          // by which op
  std::vector<std::string> remedies;  // out of memory only: what would make it fit, each tried
};

struct ScheduleFacts {
  std::string name;
  int devices = 0;
  int stages = 0;
  int microbatches = 0;
  int chunks = 1;
  int replicas = 1;
  std::vector<std::pair<std::string, std::string>> params;
  int pieces = 1;       // parts of a microbatch that ops count
  bool sliced = false;  // the parts are slices of the sequence
};

struct Report {
  ScheduleFacts schedule;
  std::vector<Assumption> assumptions;
  std::optional<Deadlock> deadlock;  // then only the fields above and `findings` mean anything
  Nanoseconds makespan = 0;
  Nanoseconds span = 0;  // max over devices of last end - first start
  // Time per iteration when iterations are chained without a barrier; one iteration alone does not show it.
  std::optional<Nanoseconds> steady_period;
  Nanoseconds ideal = 0;         // all compute, spread evenly over the devices
  double bubble_ratio = 0;       // idle / (p x makespan)
  double bubble_over_ideal = 0;  // idle / ideal compute
  double span_bubble_ratio = 0;  // (span - ideal) / span
  std::optional<double> samples_per_second;
  std::optional<double> tokens_per_second;
  int weight_copies = 1;  // copies of the model's weights in the pipeline group
  Bytes p2p_bytes = 0;    // sent between devices in one iteration
  std::int64_t p2p_messages = 0;
  std::int64_t copies = 0;  // of activations to the host or a partner, and back
  CriticalPath critical_path;
  std::optional<FilledBubbles> extra_work;  // where work outside the schedule fills its bubbles
  std::optional<StreamReport> stream;       // only of schedules without a flush
  std::optional<ClusterReport> cluster;
  std::optional<StepReport> step;
  std::optional<MemoryFit> memory_fit;
  std::optional<StepRange> step_range;  // of modelled costs, where it was asked for (studies/uncertainty)
  std::optional<double> mfu;            // model FLOPs per second over what the devices could do, 0..1
  Nanoseconds inside_collectives = 0;   // of all compute time, collectives inside stages
  std::vector<DeviceReport> devices;
  std::vector<Finding> findings;
};

// Idle time of all devices by that cause.
[[nodiscard]] Nanoseconds idle_by(const Report& report, IdleCause cause);

}  // namespace debubble
