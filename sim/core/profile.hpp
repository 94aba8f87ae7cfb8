// Profile: what was measured or published about a model's layers; the JSON format `debubble.profile/1` is its image.
//
// A layer is the smallest unit that a partition may not cut. Times are for one microbatch of `microbatch_size` samples.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/core/assumption.hpp"
#include "sim/core/units.hpp"

namespace debubble {

// Distribution of a measured duration. A published single figure has only the median (n = 0: unknown).
struct TimeStatistics {
  Nanoseconds median = 0;
  std::optional<Nanoseconds> p10;
  std::optional<Nanoseconds> p90;
  std::int64_t n = 0;

  friend bool operator==(const TimeStatistics&, const TimeStatistics&) = default;
};

struct KernelSummary {
  std::string name;
  std::int64_t count = 0;
  Nanoseconds total = 0;

  friend bool operator==(const KernelSummary&, const KernelSummary&) = default;
};

// How a measured backward was divided into input gradient and weight gradient; the weakest rule that was needed.
enum class GradSplit { kNone, kRange, kShape, kName, kOrder };
[[nodiscard]] const char* to_string(GradSplit split);  // "none", "range", ...

// Held all the time in addition to a layer's sizes. Layers of a stage that name the same one share it; the largest
// counts.
struct SharedBuffer {
  std::string name;
  Bytes bytes = 0;

  friend bool operator==(const SharedBuffer&, const SharedBuffer&) = default;
};

struct ProfileLayer {
  std::string name;
  std::string kind;  // "transformer", "embedding", "conv", ...: free text, to display
  TimeStatistics forward;
  // Either the whole backward, or its two halves, or all three; a missing whole is the sum of the halves.
  std::optional<TimeStatistics> backward;
  std::optional<TimeStatistics> input_grad;
  std::optional<TimeStatistics> weight_grad;

  Bytes activation = 0;                   // kept for backward
  std::optional<Bytes> weight_grad_held;  // kept from I to W
  Bytes output = 0;                       // handed to the next layer
  Bytes parameters = 0;
  Bytes workspace = 0;
  GradSplit grad_split = GradSplit::kNone;

  // Of modelled layers only; where absent, the rules of a measured profile hold (TrainingState).
  std::optional<Bytes> gradients;
  std::optional<Bytes> optimizer;
  std::optional<Bytes> checkpoint;  // kept instead of `activation` where the layer is recomputed
  std::vector<SharedBuffer> buffers;
  Nanoseconds forward_collective = 0;  // parts of the times above that are collectives and not hidden
  Nanoseconds backward_collective = 0;
  Nanoseconds forward_launches = 0;  // parts of the times above in which the GPU waits for the host's launches
  Nanoseconds backward_launches = 0;
  std::int32_t activation_tensors = 0;  // into how many tensors `activation` falls; 0: unknown
  double forward_flops = 0;             // of one microbatch on one rank; 0: unknown
  double model_flops = 0;               // forward and backward of one microbatch, over all ranks, without recomputation

  std::vector<KernelSummary> kernels;  // of all phases, the longest in total first

  friend bool operator==(const ProfileLayer&, const ProfileLayer&) = default;
};

// Where the numbers come from. A measured profile names the machine; a published one names the publication.
struct ProfileOrigin {
  Source times = Source::kMeasured;   // measured or published (or modelled)
  Source memory = Source::kMeasured;  // may differ: a paper that prints times but not sizes
  std::string device;                 // "NVIDIA A100-SXM4-80GB"
  std::string driver;
  std::string cuda;
  std::string method;  // how the times were taken
  std::string date;
  std::int64_t repetitions = 0;
  std::string citation;  // for published figures: authors, title, venue, table
  std::string notes;

  friend bool operator==(const ProfileOrigin&, const ProfileOrigin&) = default;
};

// GPU time that belongs to no layer: "optimizer", "communication", "copies", "outside layers", "unlinked", ...
struct RestItem {
  std::string what;
  std::int64_t count = 0;
  Nanoseconds total = 0;

  friend bool operator==(const RestItem&, const RestItem&) = default;
};

// Counts of what was lost or refused: "dropped records", "kernels without times", ... Never hidden, never zero here.
struct LossItem {
  std::string what;
  std::int64_t count = 0;

  friend bool operator==(const LossItem&, const LossItem&) = default;
};

// SM clock while recording, in MHz, and how the work drifted.
struct ClockState {
  std::int32_t least_mhz = 0;  // 0: not sampled
  std::int32_t most_mhz = 0;
  std::int64_t samples = 0;
  std::int64_t slowed_samples = 0;        // by heat or by the hardware's protection
  std::optional<std::int64_t> drift_ppm;  // median duration of the last third of the steps over the first, less 1
  bool throttled = false;                 // our verdict; `notes` of the origin say why
  // At the power cap: how a GPU runs long matmuls, and no fault.
  std::int64_t power_capped_samples = 0;

  friend bool operator==(const ClockState&, const ClockState&) = default;
};

// How a measurement went: everything needed to judge it. Layers + rest = total, to the nanosecond.
struct Measurement {
  bool on_cpu = false;          // work is that of a CPU, in pieces of operators, where kernels are spoken of
  std::int64_t kernels = 0;     // GPU records accepted: kernels, copies and sets
  Nanoseconds kernel_time = 0;  // all of them
  Nanoseconds layer_time = 0;   // attributed to layers, warm-up included
  std::vector<RestItem> rest;   // the difference
  std::vector<LossItem> losses;
  std::int64_t steps = 0;          // seen
  std::int64_t warm_up_steps = 0;  // of these, discarded
  // Time of a recorded step over that of another, less 1. Against unrecorded steps of the same run, in which CUPTI
  // stays attached: a lower bound. Against a run without CUPTI: the whole.
  std::optional<std::int64_t> overhead_ppm;
  std::optional<std::int64_t> overhead_run_ppm;
  ClockState clock;

  friend bool operator==(const Measurement&, const Measurement&) = default;
};

// Of a profile joined from several ranks of a pipeline: how long one of them took for its layers, against what the
// others took for layers like them. The layers' times hold it, as measured.
struct RankSpeed {
  std::string rank;                 // "rank 2"
  std::int64_t slowdown_ppm = 0;    // 250000: a quarter longer
  std::vector<std::string> layers;  // its own, by name

  [[nodiscard]] double factor() const { return 1 + static_cast<double>(slowdown_ppm) / 1e6; }
  friend bool operator==(const RankSpeed&, const RankSpeed&) = default;
};

// Sizes of a transformer, for the products of its layers: those of kind "embedding", "transformer" and "head".
struct ProfiledTransformer {
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_size = 0;
  std::int64_t feed_forward = 0;
  std::int64_t vocabulary = 0;
  bool gated = false;                // SwiGLU
  bool flash_attention = false;      // scores never reach the memory
  std::int64_t tensor_parallel = 1;  // the profile is of one of so many shares; sizes are the whole model's

  friend bool operator==(const ProfiledTransformer&, const ProfiledTransformer&) = default;
};

// Of a profile for a size that was not measured: from which sizes its numbers follow and how, in words
// (cost_models/sizes/profile_at.hpp). Never in a file.
struct Derivation {
  std::string times;  // "interpolated from microbatch 2 and 4, by waves"
  std::string sizes;
  bool by_waves = false;  // some of the times

  friend bool operator==(const Derivation&, const Derivation&) = default;
};

struct Profile {
  std::string model;
  std::string dtype;                          // "bf16", "fp32", ...
  std::int64_t microbatch_size = 0;           // samples; 0 when unknown
  std::int64_t sequence_length = 0;           // tokens per sample; 0 when the model has none (images)
  std::optional<Nanoseconds> hop_latency;     // of one transfer between neighbouring stages, where it was measured
  std::optional<std::int64_t> hop_bandwidth;  // bytes per second
  double peak_flops = 0;                      // of one device in this dtype, per second; 0: unknown
  ProfileOrigin origin;
  std::optional<Measurement> measurement;  // of measured profiles
  std::optional<ProfiledTransformer> transformer;
  std::optional<Derivation> derived;  // absent: all numbers are as measured, published or modelled
  std::vector<RankSpeed> ranks;       // where one was slower or faster: all of them, in the order of the pipeline
  std::vector<ProfileLayer> layers;   // in model order

  friend bool operator==(const Profile&, const Profile&) = default;
};

// Whether the times are those of a CPU, by its own measurement.
[[nodiscard]] inline bool measured_on_cpu(const Profile& profile) {
  return profile.measurement && profile.measurement->on_cpu;
}

// The times of its layers as all ranks alike would take them; `ranks` stays.
[[nodiscard]] Profile as_of_equal_ranks(Profile profile);

}  // namespace debubble
