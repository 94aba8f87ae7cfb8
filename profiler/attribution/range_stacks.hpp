// RangeStacks: the open ranges of every thread, and the slot of every range, decided when it opens.
//
// Ranges must open and close in order of time, over all threads, so that a forward op is known when its backward node
// begins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "profiler/attribution/instances.hpp"
#include "profiler/attribution/ledger.hpp"
#include "profiler/attribution/range_names.hpp"
#include "profiler/attribution/sequences.hpp"
#include "profiler/attribution/slot.hpp"
#include "profiler/attribution/steps.hpp"
#include "profiler/attribution/thread_history.hpp"
#include "profiler/attribution/window.hpp"
#include "profiler/records/record.hpp"

namespace debubble::attribution {

class RangeStacks {
 public:
  static constexpr std::size_t kMostRanges = std::size_t{1} << 20;  // that late kernels can still refer to
  static constexpr std::size_t kDeepest = 4096;
  static constexpr std::size_t kMostThreads = 4096;

  RangeStacks(RangeNames& names, Instances& instances, Steps& steps, Ledger& ledger,
              std::size_t most_ranges = kMostRanges);

  // From now on phases that repeat inside one layer range are parts of one execution, not executions of their own.
  void add_up_phases() { phases_add_up_ = true; }

  void push(const RangePush& record);
  void pop(const RangePop& record);
  // Counts what is still open.
  void close();

  // The slot of work linked to this range; unlinked, and counted, when the range is forgotten or never was.
  [[nodiscard]] Slot slot_of(std::uint64_t range);
  // The slot of work that this thread launched at that time. Thread 0, unknown, means the first that had a layer.
  [[nodiscard]] Slot slot_at(std::uint32_t thread, Nanoseconds time);
  // Whether that was before any range was opened, on any thread.
  [[nodiscard]] bool before_ranges(Nanoseconds time) const { return time < first_push_; }

  [[nodiscard]] std::int64_t ambiguous_nodes() const { return sequences_.ambiguous(); }
  [[nodiscard]] std::int64_t pushed() const { return pushed_; }

 private:
  struct Frame {
    std::uint64_t range = 0;
    std::uint64_t node_range = 0;  // of the innermost backward node, as the engine saw it
    std::uint64_t outer_node = 0;  // of the backward node around that one
    std::int64_t sequence = -1;
    std::uint32_t instance = kNoInstance;  // the layer execution that this is part of
    std::int32_t step = kNoStep;           // of a step's range
    std::uint32_t node_frame = 0;          // index of the innermost backward node's frame
    int matmuls = 0;                       // of a node: matmuls so far
    Slot slot;
    RangeKind kind = RangeKind::kOther;
    NodeKind node = NodeKind::kOrdinary;
    std::optional<Phase> phase;  // of the explicit phase range around
    bool backward = false;
    bool found = false;      // a backward node whose forward op is known
    bool recompute = false;  // forward work inside a backward node
    bool in_matmul = false;  // inside an operator that was told apart already
    Matmul matmul;           // of a backward node: its forward op's
  };
  struct Thread {
    std::vector<Frame> frames;
    ThreadHistory history;
    std::uint64_t too_deep = 0;             // open ranges beyond kDeepest
    std::uint32_t last_node = kNoInstance;  // of the newest node; AccumulateGrad belongs to it
    bool node_seen = false;
  };

  [[nodiscard]] Thread* thread_of(std::uint32_t thread);
  [[nodiscard]] Frame inside(const Thread& thread, const RangePush& record) const;
  void open(Thread& thread, Frame& frame, const RangePush& record, const RangeName& name);
  [[nodiscard]] static bool is_node_of(const Frame& engine, const RangePush& record);
  void open_layer(Frame& frame, std::uint32_t layer, Nanoseconds time);
  void open_phase(Frame& frame, Phase phase, Nanoseconds time);
  void place_explicit(Frame& frame, Nanoseconds time);
  void open_node(Thread& thread, Frame& frame, const RangePush& record, NodeKind node);
  void start_node(Thread& thread, Frame& frame, NodeKind node, bool in_engine);
  void resolve_node(Thread& thread, Frame& frame, const RangePush& record);
  void open_op(Thread& thread, Frame& frame, const RangePush& record, OpKind op);
  void open_backward_op(Thread& thread, Frame& frame, const RangePush& record, OpKind op);
  void leave(Thread& thread, Nanoseconds time);

  RangeNames& names_;
  Instances& instances_;
  Steps& steps_;
  Ledger& ledger_;
  Sequences sequences_;
  Window<Slot> slots_;
  std::map<std::uint32_t, Thread> threads_;
  std::uint32_t newest_id_ = 0;  // cache of thread_of
  Thread* newest_ = nullptr;
  std::optional<std::uint32_t> layer_thread_;
  std::int64_t pushed_ = 0;
  Nanoseconds first_push_ = std::numeric_limits<Nanoseconds>::max();  // of all threads
  std::uint32_t fused_nodes_ = 0;
  bool phases_add_up_ = false;
};

}  // namespace debubble::attribution
