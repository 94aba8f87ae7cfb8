// DeviceRunner: walks one device's part of the plan: waits for inputs, has the worker do the work, hands outputs on,
// checks every tensor's chain, and writes down what happened when. Free of threads: a thread, or a process, drives it.
//
// Clocks (LiveRequest::clock). Logical: the runner keeps the device's own time, and messages carry their sender's; an
// op takes its given cost (kLogicalGiven) or the thread's CPU time that its work took (kLogicalCpuTime). Wall: `now`
// is read, links are emulated by not using a message before its arrival. Message times are taken as being on this
// device's clock: a transport between processes translates them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "live/chain_checker.hpp"
#include "live/job.hpp"
#include "live/ledger.hpp"
#include "live/transport.hpp"
#include "live/worker.hpp"
#include "sim/rows/observed.hpp"

namespace debubble::live {

// One device's iteration.
struct DeviceRun {
  std::vector<ObservedOp> ops;              // in running order
  std::vector<ObservedTransfer> transfers;  // those that it received
  Bytes peak_activation = 0;
  Bytes peak_memory = 0;
  std::int64_t tensors_checked = 0;
};

// CLOCK_THREAD_CPUTIME_ID of the calling thread.
[[nodiscard]] Nanoseconds thread_cpu_time();

// Whether the bytes of tensors are hashed and compared in this iteration; their chains are in each. On the wall clock
// hashing takes time that no op takes, so it is left to the warm-up there, or to the first iteration where there is
// none.
[[nodiscard]] bool hashes_bytes(const LiveRequest& request, std::int32_t iteration);

using WallClock = std::function<Nanoseconds()>;

class DeviceRunner {
 public:
  // All must outlive the runner. `now` is called with Clock::kWall only.
  DeviceRunner(const Job& job, std::int32_t device, Transport& transport, Worker& worker, WallClock now);

  // One iteration, from the first op to the last transfer. Iterations are numbered from 0, warm-up included; the
  // caller has the devices meet (Transport::barrier) between them.
  // Throws WrongDataError, and what the transport and the worker throw (Stalled).
  [[nodiscard]] DeviceRun run(std::int32_t iteration);

 private:
  // A tensor at hand, with the proof of where it came from.
  struct Arrived {
    Payload payload;
    std::uint64_t chain = 0;
    std::uint64_t checksum = 0;
  };

  void compute(const Action& action);
  void take_inputs(const Action& action, const std::vector<Op>& cell);
  [[nodiscard]] Nanoseconds work(const std::vector<Op>& cell, Nanoseconds begin, std::vector<Payload>& outputs);
  void finish(const Op& op);
  void deliver_output(const Op& op, Payload payload);

  void exchange(const Action& action);
  void post(const Hop& hop, Nanoseconds posted);
  void ask_for(const Hop& hop, Nanoseconds posted);
  [[nodiscard]] Nanoseconds finish_send(const Hop& hop, Nanoseconds posted);
  [[nodiscard]] Nanoseconds finish_receive(const Hop& hop, Nanoseconds posted);
  void keep(const Hop& hop, Message message, Nanoseconds begin, Nanoseconds end);

  void check_input(const Op& op);

  [[nodiscard]] bool uses_wall_clock() const { return job_.request().clock == Clock::kWall; }
  [[nodiscard]] Nanoseconds time() const { return uses_wall_clock() ? now_() : free_; }
  void wait_until(Nanoseconds time) const;

  const Job& job_;
  std::int32_t device_;
  Transport& transport_;
  Worker& worker_;
  WallClock now_;
  ChainChecker chains_;

  // Of the iteration that runs.
  std::int32_t iteration_ = 0;
  bool hashes_ = true;
  Nanoseconds free_ = 0;   // logical: when the lane is free
  Nanoseconds ready_ = 0;  // overlapped: when the next cell's inputs have arrived
  Ledger ledger_;
  DeviceRun result_;
  std::map<Tensor, Arrived> inputs_;    // received, or handed over on this device
  std::map<Tensor, Message> outgoing_;  // made, not sent yet
};

}  // namespace debubble::live
