// CopyTree: the best order together with the best plan of copies to the host, exact, by branch and bound. For small
// problems: it grows with every op and every activation that may leave.
//
// A plan is what the engine runs: rows, lanes and gates, every op and copy as soon as these allow. Ordered by their
// begins, the ops and copies of any plan are a sequence in which each one's causes precede it, so the tree appends them
// by begin: at every node, each op that could be the next one of its row, and each copy that could be the next one of
// its lane, that begins no sooner than the last one appended. A way back begins when its lane is free, or with the op
// of its device that has just begun. What could have begun earlier and did not has to wait for its row or lane to move
// on. Memory is checked at every begin: all that is given back by then has been appended.
//
// A node is cut off where what is left takes each device to the best known cost or beyond (one device at a time, with
// heads, tails and interruptions: Jackson's preemptive schedule), and where the same ops, copies, times and memory have
// been met before. A sooner begin is not better, as an op that begins sooner takes its memory sooner, so nodes that
// differ in times are never compared.
//
// As in the MILP (program/program_copies.hpp), copies of a stage leave and return in order of microbatches.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "schedules/optimal/order_budget.hpp"
#include "schedules/optimal/order_problem.hpp"
#include "schedules/optimal/program/copy_times.hpp"

namespace debubble {

struct CopiedOrder {
  Orders orders;
  OrderCopies copies;  // by device
  Nanoseconds cost = 0;
};

class CopyTree {
 public:
  explicit CopyTree(const OrderProblem& problem);

  // Whether the tree holds every plan: ops and copies that take no time, and stages that keep more for their W than
  // their activation was, are not in it.
  [[nodiscard]] static bool applies(const OrderProblem& problem);

  struct Result {
    bool found = false;     // `best` costs less than `below`
    bool complete = false;  // and nothing costs less than it, or than `below`
    CopiedOrder best;
  };
  Result search(Nanoseconds below, OrderBudget& budget);

 private:
  enum class What : std::uint8_t { kOp, kOut, kBack };
  struct Step {
    What what = What::kOp;
    std::int32_t queue = 0;  // of the op; of a copy its F
    std::int32_t microbatch = 0;
    std::int32_t gate = -1;  // of a way back
    Nanoseconds begin = 0;
  };
  struct Taken {
    Nanoseconds time = 0;
    Bytes bytes = 0;
  };
  struct DeviceState {
    Nanoseconds free = 0, lane = 0;
    Nanoseconds last = -1;      // begin of its last op
    std::int32_t position = 0;  // ops that it has begun
    std::vector<Taken> taken;   // and given back, below 0
  };
  enum class Away : std::uint8_t { kNever, kOut, kBack };
  struct Waiting {
    Nanoseconds head = 0, tail = 0, left = 0;
  };

  void branch();
  void add_candidates(std::vector<Step>& steps) const;
  void add_ways(std::vector<Step>& steps, std::int32_t forward) const;
  void run(const Step& step);
  void record();
  [[nodiscard]] Bytes held(std::int32_t device, Nanoseconds time) const;
  [[nodiscard]] bool fits(std::int32_t device, Nanoseconds time, Bytes more) const;
  // When the next op of a queue begins if it is the next one of its row; below 0: something it needs is not there.
  [[nodiscard]] Nanoseconds begin_of(std::int32_t queue) const;
  [[nodiscard]] bool hopeless();
  [[nodiscard]] bool find_heads();
  [[nodiscard]] Nanoseconds one_machine(std::int32_t device);
  [[nodiscard]] bool seen();

  const OrderProblem& problem_;
  std::vector<std::int32_t> queues_;  // each after what it needs
  std::vector<Nanoseconds> tails_;    // by op: from its end to where the cost is counted, at least
  std::vector<std::int32_t> counts_;  // by queue
  std::vector<std::int32_t> places_;  // by op: its position in its row
  std::vector<Nanoseconds> ends_, backs_, heads_;
  std::vector<Away> away_;  // by op, of Fs
  std::vector<DeviceState> devices_;
  Nanoseconds now_ = 0;
  std::size_t done_ = 0;
  std::vector<Step> path_;
  std::vector<std::vector<Step>> steps_;  // by depth
  std::vector<Waiting> waiting_;
  std::unordered_set<std::string> seen_;
  std::vector<Nanoseconds> state_;
  std::size_t stored_ = 0;  // bytes
  Result result_;
  Nanoseconds below_ = 0;
  OrderBudget* budget_ = nullptr;
  bool cut_short_ = false;
};

}  // namespace debubble
