// Executor: runs iterations of a schedule on the virtual devices. One host thread issues all work in the order of
// issue_order; streams wait for each other by events; nothing is synchronised inside.
//
//     device 0  compute   [begin|0F0|end]─┐ [begin|0F1|end] ...
//               to 1                      └►[begin|copy|end]─┐
//     device 1  compute                                      └►[begin|1F0|end] ...
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "live/cuda/gate.hpp"
#include "live/cuda/issue_order.hpp"
#include "live/cuda/lane.hpp"
#include "live/cuda/stage_work.hpp"
#include "live/cuda/trace_buffer.hpp"
#include "live/job.hpp"
#include "sim/core/at.hpp"

namespace debubble::live {

using Lanes = std::vector<std::unique_ptr<LaneDevice>>;
using Works = std::vector<std::unique_ptr<StageWork>>;

class Executor {
 public:
  // All must outlive it.
  Executor(const Job& job, const IssueOrder& order, const GpuParts& parts, const Lanes& lanes, const Works& works);
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  struct Mode {
    bool graph = false;
    bool payloads = false;  // checksums of all payloads too, which takes time on the compute streams
    // Launched one by one, without a gate and without faults on messages: whatever is loaded at its first launch is
    // loaded now, where that may wait for what was launched before.
    bool loading = false;
  };
  // Runs one iteration and reads the trace buffers. Returns what every device waited for when there was no progress for
  // the request's patience. Throws UnavailableError U027 when the GPU fails.
  [[nodiscard]] std::optional<Stall> run(std::int32_t iteration, const Mode& mode);

  [[nodiscard]] const TraceBuffer& trace_buffer(std::int32_t device) const { return *at(trace_buffers_, device); }
  // For a `slow` fault: what to lengthen. A graph with such ops is captured anew.
  void set_costs(const StageCosts& costs);
  [[nodiscard]] bool lengthens_ops() const;

  [[nodiscard]] Opened gate_opened() const { return opened_; }       // in the last iteration
  [[nodiscard]] std::int64_t launches() const { return launches_; }  // of the last iteration issued
  [[nodiscard]] std::size_t graph_nodes() const { return gate_.graph_nodes(); }
  // The GPU hangs and cannot be freed: nothing of it may be touched, or waited for, again.
  [[nodiscard]] bool is_lost() const { return lost_; }

  // For calibration. A transfer's stream:
  [[nodiscard]] cuda::Stream transfer_stream(std::int32_t from, std::int32_t to) const {
    return transfers_.at({from, to}).get();
  }
  [[nodiscard]] const std::map<std::pair<std::int32_t, std::int32_t>, OwnedHandle<cuda::Stream>>& edges() const {
    return transfers_;
  }
  [[nodiscard]] Gate& gate() { return gate_; }
  void stamp(std::int32_t device, cuda::Stream stream, DeviceAddress slot);
  // The kernel that ends every op of a run, so that a calibrated op takes as long, with its stamp in `slot`.
  void end_stamp(std::int32_t device, DeviceAddress slot);
  void record(cuda::Event event, cuda::Stream stream, const char* what);
  void wait_for(cuda::Stream stream, cuda::Event event, const char* what);
  void copy(std::int32_t from, std::int32_t to, DeviceAddress source, DeviceAddress target, Bytes bytes);
  // Reads device memory on a stream of its own, without waiting for any work.
  void read(void* to, DeviceAddress from, Bytes bytes);
  // Waits for the gate's last run; false when `progress` stayed the same for the request's patience.
  [[nodiscard]] bool wait(const std::function<std::int64_t()>& progress);
  // After `wait` returned false: releases the streams that can be released. Then either all work is over, or `is_lost`.
  void give_up(const std::function<std::int64_t()>& progress);

 private:
  void issue(const Mode& mode);
  void issue_cell(std::int32_t device, const Action& action, const Mode& mode);
  void issue_send(std::int32_t device, const Hop& hop, cuda::Event ready, bool faults);
  void finish_op(std::int32_t device, std::size_t position);
  void lengthen(std::int32_t device, const Op& op);
  void checksum(std::int32_t device, DeviceAddress data, std::size_t word);
  void read_trace_buffers();
  [[nodiscard]] std::int64_t stamps_written();
  [[nodiscard]] Stall where_it_stands();
  void enter_transfer(std::int32_t device) const;
  cuda::Event event(std::map<Tensor, OwnedHandle<cuda::Event>>& events, const Tensor& tensor, const GpuPart& part);
  void check(cuda::Result result, const std::string& what) const;
  [[nodiscard]] LaneDevice& lane(std::int32_t device) const { return *at(lanes_, device); }
  [[nodiscard]] StageWork& work(std::int32_t device) const { return *at(works_, device); }

  const Job& job_;
  const IssueOrder& order_;
  const GpuParts& parts_;
  const Lanes& lanes_;
  const Works& works_;
  StageCosts costs_;
  std::vector<std::unique_ptr<TraceBuffer>> trace_buffers_;
  HostFlag lost_messages_;  // streams of dropped messages wait for it
  OwnedHandle<cuda::Stream> reader_;
  std::map<std::pair<std::int32_t, std::int32_t>, OwnedHandle<cuda::Stream>> transfers_;
  std::map<Tensor, OwnedHandle<cuda::Event>> made_;
  std::map<Tensor, OwnedHandle<cuda::Event>> arrived_;
  Gate gate_;                     // last, so that it is destroyed, and opened, before the streams
  std::optional<bool> captured_;  // with payloads or without
  std::int64_t launches_ = 0;
  Opened opened_ = Opened::kInTime;
  bool lost_ = false;
};

}  // namespace debubble::live
