// RunRecord: one run, simulated or real, with all that is needed to judge it, to replay it and to compare it. The file
// format `debubble.run/1` is its image (formats/run/run_file.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/assumption.hpp"
#include "sim/core/p2p.hpp"
#include "sim/core/profile.hpp"
#include "sim/core/schedule.hpp"
#include "sim/core/stage_costs.hpp"
#include "sim/core/timeline.hpp"
#include "sim/core/units.hpp"

namespace debubble {

// Who ran it, where, and whose clock the times are.
struct RunOrigin {
  std::string backend;  // "simulator", "cpu", "cuda", "mpi", "mpi+nccl", "torch", "import"
  std::string clock;    // "simulated", "logical", "wall", "gpu"
  std::string device;   // "NVIDIA H200", "AMD EPYC ... (2 cores)"
  std::string driver;   // GPU driver; empty where none took part
  std::string cuda;
  std::string libraries;  // "OpenBLAS 0.3.21", "Open MPI 4.1.4, NCCL 2.28.9"
  std::string method;     // how the times were taken, in a sentence
  std::string date;       // ISO 8601
  std::string command_line;
  std::string version;             // of debubble
  std::vector<std::string> notes;  // what a reader should know: partition sizes, clocks, throttling

  friend bool operator==(const RunOrigin&, const RunOrigin&) = default;
};

// How the clocks of several processes were aligned.
struct ClockAlignment {
  std::string method;                // "one clock", "ping-pong", "send/recv pairs", "not aligned"
  Nanoseconds residual = 0;          // the most by which two aligned clocks may still differ
  std::vector<Nanoseconds> offsets;  // added to each device's times; empty for one clock
  bool bounded = true;               // false: some clocks may differ by any amount, and `residual` says nothing

  friend bool operator==(const ClockAlignment&, const ClockAlignment&) = default;
};

// One iteration. Memory as the executor's own allocator saw it, by device; empty where nobody counted.
struct RunIteration {
  Timeline timeline;
  std::vector<Bytes> peak_activation;  // activations and what is held from I to W
  std::vector<Bytes> peak_memory;      // everything the run allocated
};

struct RunRecord {
  Schedule schedule;
  // What to predict the run with: the costs it was given, or those that were calibrated on the machine.
  StageCosts costs;
  Nanoseconds hop_latency = 0;
  std::int64_t hop_bandwidth = 0;  // bytes per second; 0: unlimited
  P2p p2p = P2p::kOverlapped;
  std::vector<Assumption> assumptions;      // where these numbers come from
  std::int64_t samples_per_microbatch = 0;  // 0: unknown
  std::int64_t tokens_per_sample = 0;       // 0: unknown
  RunOrigin origin;
  ClockAlignment clocks;
  std::int64_t tensors_checked =
      0;                         // transferred tensors whose checksum chain was right (all of them, or the run fails)
  std::vector<LossItem> losses;  // what an import could not place, ...
  std::vector<RunIteration> iterations;  // in the order of running; warm-up is not among them
};

}  // namespace debubble
