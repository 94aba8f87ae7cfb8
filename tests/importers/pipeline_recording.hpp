// A made-up 1F1B run on GPUs, as torch.profiler or Nsight Systems would have recorded it on each rank. Every time is
// known: F takes 1 ms, B takes 2 ms, a transfer 0.1 ms, and each rank's clock is off by what the test says.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/importers/runs/run_reader.hpp"

namespace debubble::testing {

struct RecordingStyle {
  int ranks = 3;
  int microbatches = 4;
  int iterations = 2;
  int replicas = 1;             // ranks are numbered through all replicas before the next stage
  bool replicas_first = false;  // or through all stages before the next replica
  bool named = true;            // forward_step and backward_step
  bool around = false;          // Forward 3 and Backward 3, around their transfers too, as PyTorch's GPipe has them
  bool pp_names = false;        // PP:0F3 instead
  bool nodes = true;            // autograd's nodes, with sequence numbers
  bool transfers = true;        // nccl:send and nccl:recv ranges
  bool directions = false;      // send_forward, recv_backward, ... around them
  bool kernels = true;          // of ops and transfers, with their launches
  bool alltoall = false;        // one in every forward, whose kernels are named like sends
  bool steps = true;            // ProfilerStep#N, or iteration N
  bool optimizer = true;
  std::int64_t slow_first = 0;          // ns that the first iteration's first forward takes longer
  std::vector<std::int64_t> skew = {};  // ns, by rank of the pipeline
};

struct RecordedItem {
  enum class Kind : std::uint8_t { kHost, kLaunch, kKernel } kind = Kind::kHost;
  std::string name;
  int thread = 1;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t id = 0;         // correlation
  std::int64_t sequence = -1;  // of host ops
};

// What each rank recorded, in the order of ranks.
[[nodiscard]] std::vector<std::vector<RecordedItem>> recorded(const RecordingStyle& style);

// As files of torch.profiler: rank0.json, ...
[[nodiscard]] std::vector<RunText> kineto_files(const RecordingStyle& style);
// As SQL of an Nsight Systems export of these ranks, process 100 + rank each.
[[nodiscard]] std::string nsys_sql(const std::vector<std::vector<RecordedItem>>& ranks, int first_rank = 0);
// As exports, one per rank: report.rank0.sqlite, ...
[[nodiscard]] std::vector<RunText> nsys_files(const RecordingStyle& style);

}  // namespace debubble::testing
