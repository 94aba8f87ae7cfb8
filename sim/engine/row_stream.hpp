// RowStream: a plain run cell by cell, straight from the rows: no Program, no Timeline. For runs of so many ops that
// nothing may be kept for each: beside the rows it holds a byte for each (stage, piece), and what is on its way.
//
//     rows      0F0 0F1 0B0 ...    ──►  cells in an order in which each comes after all it waits for, with their times
//     on the way  1F0 (made, not yet taken)
//
// The rules and the times are those of `lower` and `simulate`. A device runs ahead of the others by some hundred cells
// at most, so what is on its way is as much as the schedule itself leaves open, and not a row of it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "sim/core/at.hpp"
#include "sim/core/schedule.hpp"
#include "sim/core/stage_costs.hpp"
#include "sim/core/topology.hpp"
#include "sim/engine/lowering.hpp"
#include "sim/engine/program.hpp"
#include "sim/engine/tables.hpp"
#include "sim/engine/tensors_on_way.hpp"

namespace debubble {

// A tensor between two devices: what an op makes or takes.
struct StreamedTensor {
  std::int32_t channel = -1;  // in Program::channels; -1: nothing travels
  std::int64_t maker = -1;    // the number of the cell that makes it
  Nanoseconds sent = 0;       // when that ends
};

struct StreamedCell {
  std::int64_t number = 0;  // from 0, in the order of the stream
  std::int32_t device = 0;
  std::size_t position = 0;  // of `op` in the device's row
  Op op;
  Op partner;  // of a pair
  bool paired = false;
  std::array<StreamedTensor, 2> in;  // by member
  std::array<StreamedTensor, 2> out;
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
};

class RowStream {
 public:
  // Whether it runs schedules of this kind: ops F, B, I and W of equal pieces, transfers that hold no lane.
  [[nodiscard]] static bool knows(const Schedule& schedule, P2p p2p);

  // All of them must stay. Throws InputError as make_tables does.
  RowStream(const Schedule& schedule, const StageCosts& costs, const Topology& topology);

  // Calls visit(const StreamedCell&) for each cell. False where the rows are not complete, deadlock, or hold other ops:
  // `lower` says what it is. Every lane goes on where the last run left it.
  template <typename Visit>
  [[nodiscard]] bool run(const Visit& visit);

  // The schedule's cells and channels, without a node.
  [[nodiscard]] const Program& program() const { return program_; }
  [[nodiscard]] const Tables& tables() const { return tables_; }
  [[nodiscard]] const Schedule& schedule() const { return schedule_; }
  // When each device's lane is free.
  [[nodiscard]] const std::vector<Nanoseconds>& free() const { return free_; }

 private:
  static constexpr std::int32_t kMostAhead = 512;  // cells in one go
  static constexpr std::size_t kNothing = static_cast<std::size_t>(-1);
  static constexpr unsigned char kForwardDone = 1;
  static constexpr unsigned char kGradientDone = 2;
  static constexpr unsigned char kWeightsDone = 4;
  static constexpr unsigned char kAllDone = kForwardDone | kGradientDone | kWeightsDone;

  // One replica's stage: where it runs, and by which channels its inputs come and its outputs go (-1: they stay).
  struct StageRecord {
    std::int32_t device = 0;
    std::int32_t next_device = 0;
    std::int32_t previous_device = 0;
    std::int32_t forward_in = -1;
    std::int32_t forward_out = -1;
    std::int32_t gradient_in = -1;
    std::int32_t gradient_out = -1;
  };
  enum class State { kReady, kWaiting, kFaulty };
  enum class Turn { kMore, kWaits, kFaulty };

  void make_stage_records();
  void start();
  [[nodiscard]] const StageRecord& record(const Op& op) const {
    const std::int32_t replica = one_replica_ ? 0 : at(schedule_.replica_of, op.microbatch);
    return at(records_, replica * stages_ + op.stage);
  }
  // Whether the op may run now; if so, what it takes from another device.
  [[nodiscard]] State check(const Op& op, std::int32_t device, StreamedTensor& in);
  [[nodiscard]] State take(bool made, std::int32_t channel, std::size_t event, std::int32_t device, std::int32_t piece,
                           StreamedTensor& in);
  [[nodiscard]] State check_pair(const Op& op, const Op& partner, std::int32_t device, StreamedTensor& in);
  void time(StreamedCell& cell);
  // Marks what the op has done and wakes who waits for it; what it sends.
  [[nodiscard]] StreamedTensor finish(const Op& op, const StreamedCell& cell);
  void wake(std::int32_t device, std::size_t event) {
    std::size_t& waits_for = at(waits_for_, device);
    if (waits_for != event) return;
    waits_for = kNothing;
    runnable_.push_back(device);
  }
  [[nodiscard]] bool all_complete() const;

  template <typename Visit>
  [[nodiscard]] Turn advance(std::int32_t device, const Visit& visit);

  const Schedule& schedule_;
  const StageCosts& costs_;
  const Topology& topology_;
  Lowering lowering_;
  Program program_;
  Tables tables_;
  std::int32_t stages_;
  std::int32_t pieces_;
  bool one_replica_;
  std::vector<StageRecord> records_;  // by replica, then stage
  std::vector<unsigned char> done_;   // by stage, then piece
  TensorsOnWay on_way_;
  std::int64_t next_number_ = 0;
  std::vector<std::size_t> cursor_;     // by device
  std::vector<std::size_t> waits_for_;  // by device: 2 * (stage, piece) number, + 1 for its gradient
  std::vector<Nanoseconds> free_;       // by device
  std::vector<std::int32_t> runnable_;
  std::vector<std::int32_t> waking_;
};

// The same as steady_period (sim/engine/simulate.hpp), from the rows alone. 0 where they do not run to their end.
[[nodiscard]] Nanoseconds steady_period(RowStream& stream, int max_iterations);

template <typename Visit>
bool RowStream::run(const Visit& visit) {
  start();
  while (!runnable_.empty()) {
    waking_.swap(runnable_);
    for (const std::int32_t device : waking_) {
      const Turn turn = advance(device, visit);
      if (turn == Turn::kFaulty) return false;
      if (turn == Turn::kMore) runnable_.push_back(device);
    }
    waking_.clear();
  }
  return all_complete();
}

// Runs the device's row until it waits, or has run ahead far enough.
template <typename Visit>
RowStream::Turn RowStream::advance(std::int32_t device, const Visit& visit) {
  const std::vector<Op>& row = at(schedule_.rows, device);
  std::size_t& cursor = at(cursor_, device);
  StreamedCell cell;
  cell.device = device;
  for (std::int32_t ahead = 0; cursor < row.size(); ++ahead) {
    if (ahead == kMostAhead) return Turn::kMore;
    cell.op = row[cursor];
    cell.paired = cell.op.paired_with_next;
    cell.in = {};
    State state = check(cell.op, device, cell.in[0]);
    if (cell.paired && state != State::kFaulty) {
      if (cursor + 1 >= row.size() || row[cursor + 1].paired_with_next) return Turn::kFaulty;
      cell.partner = row[cursor + 1];
      if (state == State::kReady) state = check_pair(cell.op, cell.partner, device, cell.in[1]);
    }
    if (state != State::kReady) return state == State::kWaiting ? Turn::kWaits : Turn::kFaulty;
    cell.position = cursor;
    cursor += cell.paired ? 2 : 1;
    time(cell);
    cell.out[0] = finish(cell.op, cell);
    cell.out[1] = cell.paired ? finish(cell.partner, cell) : StreamedTensor{};
    visit(static_cast<const StreamedCell&>(cell));
  }
  return Turn::kWaits;
}

}  // namespace debubble
