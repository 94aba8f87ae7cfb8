// A training log, checked: what it says of its job fits together, and its iterations follow each other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/megatron/log.hpp"

namespace debubble {

struct LoggedRun {
  MegatronLog log;
  std::vector<LoggedInterval> intervals;  // that are compared: warm, of the full batch, each with its optimizer
  std::size_t smaller = 0;                // lines of another batch that were left out
  std::size_t skipping = 0;               // lines with iterations that skipped the optimizer, left out
  std::int64_t pipeline = 1;
  std::int64_t world = 0;         // ranks; 0: not in the log
  std::int64_t global_batch = 0;  // samples; 0: not in the log
  std::int64_t sequence = 0;
  std::int64_t inner_ranks = 1;  // tensor x context ranks, which are next to each other in Megatron's order
  bool pipeline_inside = false;  // --use-tp-pp-dp-mapping: pipeline ranks follow each other, replicas lie outside

  // The pipeline rank of a rank of the job.
  [[nodiscard]] int device_of(std::int64_t rank) const;
};

// The file's text, out of gzip when it is in gzip. Throws InputError C005, K001, P017.
[[nodiscard]] std::string log_text(const std::string& file, const std::string& flag);

// Throws InputError P010, P012, P016, as make_log_diff says.
[[nodiscard]] LoggedRun read_logged_run(const std::string& text, const std::string& name);

}  // namespace debubble
