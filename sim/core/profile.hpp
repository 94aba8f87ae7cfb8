// Profile: what was measured or published about a model's layers; the JSON format `debubble.profile/1` is its image.
//
// A layer is the smallest unit that a partition may not cut. Times are for one microbatch of `microbatch_size` samples.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/core/stage_costs.hpp"
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

struct ProfileLayer {
  std::string name;
  std::string kind;  // "transformer", "embedding", "conv", ...: free text, for people
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
  std::vector<KernelSummary> kernels;

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

struct Profile {
  std::string model;
  std::string dtype;                          // "bf16", "fp32", ...
  std::int64_t microbatch_size = 0;           // samples; 0 when unknown
  std::int64_t sequence_length = 0;           // tokens per sample; 0 when the model has none (images)
  std::optional<Nanoseconds> hop_latency;     // of one transfer between neighbouring stages, where it was measured
  std::optional<std::int64_t> hop_bandwidth;  // bytes per second
  ProfileOrigin origin;
  std::vector<ProfileLayer> layers;  // in model order

  friend bool operator==(const Profile&, const Profile&) = default;
};

}  // namespace debubble
