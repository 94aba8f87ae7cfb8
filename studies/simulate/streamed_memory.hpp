// StreamedMemory: the memory of the devices of a running RowStream: peaks as MemoryWalk finds them, and whether it fits
// as memory_fit judges it, from the cells as they come. Internal to studies/simulate.
//
// A cell's changes are made once nothing can arrive before them any more: when all devices that send to its own have
// got so far. Until then it is kept.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "scenario/job/job.hpp"
#include "sim/analysis/memory.hpp"
#include "sim/analysis/memory_fit.hpp"
#include "sim/analysis/memory_replay.hpp"
#include "sim/analysis/report.hpp"
#include "sim/engine/row_stream.hpp"

namespace debubble {

// Is told of every level that a device's memory has, in order; of those of one time the last is that which lasts.
class LevelObserver {
 public:
  LevelObserver() = default;
  LevelObserver(const LevelObserver&) = delete;
  LevelObserver& operator=(const LevelObserver&) = delete;
  virtual ~LevelObserver() = default;
  virtual void level(std::int32_t device, Nanoseconds at, const BytesByCategory& bytes) = 0;
};

class StreamedMemory {
 public:
  // `capacities`: of the replays through an allocator, one for all devices or one each; empty: there are none.
  // `observer` may be null.
  StreamedMemory(const Job& job, const RowStream& stream, const std::vector<Bytes>& capacities,
                 LevelObserver* observer = nullptr);

  // The next cell of the stream.
  void add(const StreamedCell& cell);
  // Makes all changes that can be made by now.
  void settle_all();
  // No change will be made before.
  [[nodiscard]] Nanoseconds settled_until() const;
  // After the last one: fills the devices' peaks.
  void finish(std::vector<DeviceReport>& reports);
  // By device, where there are capacities. Of one that does not fit `reserved` is what fitted.
  [[nodiscard]] std::vector<DeviceMemory> memories() const;

 private:
  struct Arrival {
    Nanoseconds at = 0;
    Bytes bytes = 0;
    std::int32_t channel = -1;
    std::int32_t piece = 0;
    std::int64_t order = 0;  // among those of one time: the position of the op that takes it
  };
  struct CellSpan {
    Op op;
    Op partner;  // where paired
    bool paired = false;
    Nanoseconds begin = 0;
    Nanoseconds end = 0;

    [[nodiscard]] const Op* with() const { return paired ? &partner : nullptr; }
  };
  struct Cell {
    CellSpan span;
    std::size_t position = 0;
    std::array<Arrival, 2> in{};  // what it has received; no bytes: nothing
    bool begun = false;
  };
  // What a change came of: a cell, or a tensor that arrived while the cell at `position` was yet to come.
  struct Cause {
    bool nothing = true;  // the static state
    bool arrived = false;
    CellSpan span;
    Arrival arrival;
    std::size_t position = 0;
  };
  struct Device {
    DeviceReport report;
    BytesByCategory bytes{};
    Cause peak;
    std::vector<Cell> cells;        // not yet settled
    std::vector<Arrival> arrivals;  // neither; a heap, the next first
    std::size_t position = 0;       // of the first op that is not settled
    std::size_t settle_at = 0;      // as soon as there are so many cells
    std::vector<std::int32_t> senders;
    Nanoseconds last_end = 0;
    Nanoseconds settled = 0;  // the begin or end that was settled last
    bool ended = false;
    std::unique_ptr<MemoryReplay> replay;
    DeviceMemory memory;
    Cause most;
  };

  void start(std::int32_t device, const std::vector<Bytes>& capacities);
  void add_arrival(const Op& op, const StreamedTensor& out);
  // Makes all changes before `bound`.
  void settle(Device& device, Nanoseconds bound);
  void settle_arrivals(Device& device, Nanoseconds until, bool inclusive);
  void order_by_user(Device& device, std::vector<Arrival>& arrivals) const;
  void begin(Device& device, Cell& cell);
  void end(Device& device, Cell& cell);
  void change(Device& device, Nanoseconds at, const HeldThing& thing, Bytes bytes, const Cause& cause) const;
  void take_level(Device& device, Nanoseconds at, const Cause& cause) const;
  [[nodiscard]] Nanoseconds bound_of(const Device& device) const;
  [[nodiscard]] PeakOp peak_op(const Device& device, const Cause& cause) const;
  // The position in the row, from `from` on, of the op that takes the tensor.
  [[nodiscard]] std::size_t position_of_user(const Device& device, std::size_t from, const Arrival& arrival) const;
  [[nodiscard]] const std::vector<Op>& row_of(const Device& device) const {
    return at(job_.schedule.rows, device.report.device);
  }

  const Job& job_;
  const RowStream& stream_;
  LevelObserver* observer_;
  Timeline empty_;
  MemoryWalk walk_;
  std::vector<Device> devices_;
};

}  // namespace debubble
