// Live execution: runs a Schedule with real work, real buffers and real transfers, and says what happened when.
//
//     Schedule ──► Plan ──► one worker per device ──► Observation ──► Timeline     (never a look at the prediction)
//
// Four backends make the same promises: `cpu` (a thread per device), `mpi` (a process per device), `cuda` (a GPU, or a
// part of one, per device), `torch` (a process with PyTorch per device). Every transferred tensor carries a checksum
// chain (live/checksum.hpp) that proves that the right data reached the right op; with torch the gradients prove it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/assumption.hpp"
#include "sim/core/error.hpp"
#include "sim/core/p2p.hpp"
#include "sim/core/run_record.hpp"
#include "sim/core/schedule.hpp"
#include "sim/core/stage_costs.hpp"
#include "sim/core/units.hpp"
#include "sim/rows/stall.hpp"

namespace debubble::live {

enum class Clock : std::uint8_t {
  // An op ends its cost after its begin, and a message carries its sender's time: exact on any number of cores. The
  // work is done all the same. Costs are the given ones (kGiven) or the CPU time that the op really took (kCpuTime).
  kLogicalGiven,
  kLogicalCpuTime,
  kWall,
};

// Something made to go wrong on purpose: to see what a report looks like, and that a gate notices.
struct Fault {
  enum class Kind : std::uint8_t {
    kSlow,     // every op of `device` takes `factor` times as long
    kDrop,     // the output of `op` is lost on its way
    kCorrupt,  // one bit of the output of `op` changes on its way
    kSwap,     // `op` and the op after it in its row change places
    kKill,     // the process that runs `op` dies there (mpi, torch)
  };
  Kind kind = Kind::kSlow;
  std::int32_t device = -1;
  Op op;
  double factor = 1.0;
};
// "slow=2:1.3", "drop=1F3", "corrupt=1F3", "swap=1F3", "kill=1F3". Throws InputError C006 (form), C012 (factor),
// E002 (no such op or device in the schedule).
[[nodiscard]] Fault parse_fault(const std::string& text, const Schedule& schedule);

struct LiveRequest {
  Schedule schedule;  // without problems, see find_problems
  StageCosts costs;   // what the work is sized from; on the logical clock with kLogicalGiven also its duration
  Nanoseconds hop_latency = 0;     // of emulated links (cpu, mpi without NCCL)
  std::int64_t hop_bandwidth = 0;  // bytes per second; 0: as fast as memory is
  P2p p2p = P2p::kOverlapped;
  Clock clock = Clock::kLogicalGiven;
  int repetitions = 1;
  int warm_up = 0;                                          // iterations before those that count
  Nanoseconds patience = 10 * std::int64_t{1'000'000'000};  // without any progress: the watchdog reports
  Bytes buffer_budget = Bytes{1} << 30;  // real bytes for all devices of a process; larger models get smaller buffers
  std::vector<Fault> faults;
  bool recomputes = false;  // whether the backend runs R, the forward once more; set by the backend
};

struct LiveResult {
  std::vector<RunIteration> iterations;  // as far as they were complete
  // What to predict the run with: the request's costs and links, or what was calibrated on this machine.
  StageCosts costs;
  Nanoseconds hop_latency = 0;
  std::int64_t hop_bandwidth = 0;
  std::vector<Assumption> assumptions;  // what the backend chose: buffer scale, BLAS, sizes of the work, partitions
  RunOrigin origin;                     // but for date, command line and version
  ClockAlignment clocks;
  std::int64_t tensors_checked = 0;
  std::optional<Stall> stall;
};

// `done` of `total` iterations; `what` is "calibrating", "warming up", "iteration 3".
using LiveProgress = std::function<void(int done, int total, const std::string& what)>;

// Wrong data at an op, found by the checksum chain: a finding of the run (exit code 1), not wrong input. what() names
// the op, the tensor it should have got, and the one it got.
class WrongDataError : public std::exception {
 public:
  explicit WrongDataError(std::string message) : message_(std::move(message)) {}
  [[nodiscard]] const char* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

}  // namespace debubble::live
