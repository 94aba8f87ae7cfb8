// BriefAnalysis: what each cell of a running RowStream waited for and why, and the memory that its device holds then:
// what a report sums up, and what a trace of a run shows whose spans are not kept. Internal to studies/simulate.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "scenario/job/job.hpp"
#include "sim/analysis/memory_fit.hpp"
#include "sim/analysis/report.hpp"
#include "sim/analysis/step_report.hpp"
#include "sim/engine/row_stream.hpp"
#include "studies/simulate/streamed_memory.hpp"
#include "studies/simulate/wait_history.hpp"

namespace debubble {

// A cell with all that is known of it when it goes by.
struct ExplainedCell {
  const StreamedCell* cell = nullptr;
  int member = -1;              // whose input it waited for last; -1: for its lane
  std::int64_t parent = -1;     // the cell at whose end that began; -1: it begins at time 0
  bool first = false;           // on its device
  bool last = false;            // the same
  Nanoseconds idle_from = 0;    // the end of the cell before it, or 0
  NanosecondsByCause causes{};  // of the time from then to its begin
};

// Is told of a run while it goes by.
class RunObserver : public LevelObserver {
 public:
  virtual void cell(const ExplainedCell& cell) = 0;
  // Nothing that is told from now on begins before `time`.
  virtual void nothing_before(Nanoseconds time) = 0;
};

class BriefAnalysis {
 public:
  // `observer` may be null.
  BriefAnalysis(const Job& job, RowStream& stream, const std::vector<Bytes>& capacities,
                RunObserver* observer = nullptr);

  [[nodiscard]] bool run() {
    return stream_.run([&](const StreamedCell& cell) { add(cell); });
  }
  // Once it has run.
  [[nodiscard]] Report report();
  [[nodiscard]] std::vector<DeviceMemory> memories() const { return memory_.memories(); }

 private:
  // One device on the way through its row.
  struct State {
    std::size_t first_backward = 0;  // positions of ops; past the row: none
    std::size_t last_forward = 0;
    Nanoseconds first_begin = 0;
    Nanoseconds last_end = 0;
    std::int64_t last = -1;  // its last cell
    bool ended = false;
    // Before its first cell: whether it is known that this cannot begin before `last_end`, and the ways of the makers
    // of what its members receive.
    bool may_begin = false;
    std::array<Way, 2> first_ways;
    Way way;  // of the first cell that ends at `last_end`
  };

  void start(std::size_t device);
  [[nodiscard]] int waited_for(const StreamedCell& cell, const State& state) const;
  void add(const StreamedCell& cell);
  void explain(const StreamedCell& cell, const StreamedTensor& in, const Way& makers, const State& state,
               NanosecondsByCause& causes) const;
  void add_exchange(const StreamedCell& cell, const Way& way);
  void keep_first_way(const Op& op, const StreamedTensor& out, const Way& way);
  [[nodiscard]] const TransferTime& transfer(const StreamedTensor& in) const {
    return at(stream_.tables().channels, in.channel);
  }
  [[nodiscard]] std::int64_t look_every() const;
  void forget();
  void tell_observer();

  const Job& job_;
  RowStream& stream_;
  RunObserver* observer_;
  StreamedMemory memory_;
  InsideCollectives inside_;
  WaitHistory history_;
  std::vector<State> states_;
  std::vector<DeviceReport> reports_;
  Nanoseconds longest_ = 0;  // transfer
  std::int64_t messages_ = 0;
  Bytes bytes_ = 0;
  Nanoseconds inside_sum_ = 0;
};

// Whether a run follows from its rows as they go by, without spans (brief_report.hpp).
[[nodiscard]] bool follows_without_spans(const Job& job);

}  // namespace debubble
