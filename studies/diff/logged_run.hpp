// A training log, checked: what it says of its job fits together, and its iterations follow each other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/megatron/log.hpp"
#include "formats/megatron/log_iterations.hpp"
#include "scenario/request/scenario.hpp"

namespace debubble {

struct LoggedRun {
  MegatronLog log;
  MeasuredIterations measured;
  std::int64_t pipeline = 1;
  std::int64_t world = 0;         // ranks; 0: not in the log
  std::int64_t global_batch = 0;  // samples; 0: not in the log
  std::int64_t sequence = 0;
  std::int64_t inner_ranks = 1;  // tensor x context ranks, which are next to each other in Megatron's order
  bool pipeline_inside = false;  // --use-tp-pp-dp-mapping: pipeline ranks follow each other, replicas lie outside

  // All ranks of the job, one replica of the pipeline where the log does not say.
  [[nodiscard]] std::int64_t ranks() const { return world > 0 ? world : inner_ranks * pipeline; }
  // The pipeline rank of a rank of the job.
  [[nodiscard]] int device_of(std::int64_t rank) const;
};

// The file's text, out of gzip when it is in gzip. Throws InputError C005, K001, P017.
[[nodiscard]] std::string log_text(const std::string& file, const std::string& flag);

// `job`: what ran, where the log need not have a block of arguments; null: its block says it. Throws InputError P010,
// P012, P016, as make_log_diff says.
[[nodiscard]] LoggedRun read_logged_run(const std::string& text, const std::string& name,
                                        const Scenario* job = nullptr);

}  // namespace debubble
