// Report: every number about one run. Views only print it; every number printed is in the JSON, and the reverse.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/analysis/fill_bubbles.hpp"
#include "sim/core/deadlock.hpp"
#include "sim/core/op.hpp"
#include "sim/core/stage_costs.hpp"
#include "sim/core/units.hpp"
#include "sim/core/weight_versions.hpp"

namespace debubble {

// Why a device's compute lane was idle. The causes of a device add up to its idle time exactly.
enum class IdleCause {
  kFill,        // waiting for compute elsewhere before its first backward: the pipeline ramps up
  kDrain,       // waiting for compute elsewhere after its last forward, and after its last op
  kDependency,  // waiting for compute elsewhere in between: stages are not equal, or the order is not ideal
  kTransferLatency,
  kTransferBandwidth,
  kCollective,  // waiting for all devices' parts of an output layer that is split over them
  kStraggler,
  kMemoryLimit,  // waiting for an activation that was moved away
  kLaunchGap,    // measured runs only
};
inline constexpr int kIdleCauses = 9;
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
  std::string peak_memory_op;  // "2F3": the op that reached it; empty when the peak is the static state
  BytesByCategory peak_by_category{};
  Bytes peak_activation = 0;
  Bytes peak_host_memory = 0;         // activations that its copies have put into the host's memory
  double peak_activation_shares = 0;  // in activations of one device share (1/p of the model, one microbatch)
};

struct CriticalPath {
  Nanoseconds compute = 0;
  Nanoseconds transfer = 0;    // copies to the host or a peer count too
  Nanoseconds collective = 0;  // barriers of a vocabulary that is split over the devices
  Nanoseconds wait = 0;        // launch gaps of measured runs; the four add up to the makespan exactly
  int hops = 0;                // transfers on the path
};

struct Finding {
  std::string severity;  // "note", "warning", "error"
  std::string code;
  std::string message;
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
  std::optional<FilledBubbles> extra_work;  // where work beside the schedule fills its bubbles
  std::optional<StreamReport> stream;       // only of schedules without a flush
  std::vector<DeviceReport> devices;
  std::vector<Finding> findings;
};

}  // namespace debubble
