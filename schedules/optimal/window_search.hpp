// WindowSearch: the best order of the ops of a window, everything before and after it kept: exact, by branch and bound.
//
// A window is a range of OrderTimes::sequence(), so all before it has begun earlier and all after it later. What
// precedes it fixes when devices become free and tensors arrive; what follows it keeps its order and gives every op a
// tail. The cost of an order is then the largest end + tail. A window of everything is the whole problem.
//
// Branching (Giffler and Thompson, Operations Research 8, 1960): on the device with the earliest possible end C of a
// next op, one branch for each op that can begin there before C. Some best order is among these, for whatever begins
// later leaves room for the op that ends at C, unless that op takes memory that is free later only: then a branch more
// keeps these ops back until the device has run another one. A node is cut off where a bound is no better than the
// best known cost, or where another one with the same ops done had every device and tensor no later.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "schedules/optimal/order_budget.hpp"
#include "schedules/optimal/order_problem.hpp"

namespace debubble {

struct WindowChoice {
  std::size_t from = 0;    // of the sequence
  std::size_t to = 0;      // one after the last
  Nanoseconds below = 0;   // only orders that cost less are of interest
  std::int64_t nodes = 0;  // at most
};

struct WindowResult {
  bool found = false;
  bool complete = false;  // nothing better than the result, or than `below`, exists in this window
  Nanoseconds cost = 0;   // of the whole order
  Orders orders;          // all of it
};

class WindowSearch {
 public:
  explicit WindowSearch(const OrderProblem& problem);

  // `times` has evaluated `orders`.
  WindowResult search(const Orders& orders, const OrderTimes& times, const WindowChoice& choice, OrderBudget& budget);

 private:
  struct Candidate {
    std::int32_t queue = -1;
    Nanoseconds begin = 0;
  };
  struct Needed {  // what a device has to run before the last op of a queue of the window
    std::int32_t queue = -1;
    std::int32_t until = 0;
  };
  struct Drain {
    Nanoseconds tail = 0;  // of that last op
    std::vector<Needed> needed;
  };

  void open(const Orders& orders, const OrderTimes& times, const WindowChoice& choice);
  void add_window_tails(const OrderTimes& times, const WindowChoice& choice);
  void add_drains();
  void branch(Nanoseconds cost, Nanoseconds left);
  bool choose_device(Nanoseconds& completion, std::int32_t& device);
  [[nodiscard]] bool can_begin(std::int32_t queue) const;
  [[nodiscard]] Nanoseconds arrival(std::int32_t queue) const;
  [[nodiscard]] bool too_late(Nanoseconds completion);
  [[nodiscard]] bool seen_better(Nanoseconds left);
  [[nodiscard]] bool may_hold_back(std::int32_t device, const std::vector<Candidate>& next) const;
  void run(const Candidate& next, Nanoseconds cost, Nanoseconds left);
  [[nodiscard]] Nanoseconds leaves(std::int32_t queue, std::int32_t microbatch, Nanoseconds end) const;
  void record(Nanoseconds cost);

  const OrderProblem& problem_;
  std::vector<std::int32_t> counts_, until_, first_;  // by queue: done, in the window at most, at its beginning
  std::vector<Nanoseconds> ends_, tails_;             // by op
  const OrderTimes* times_ = nullptr;
  std::vector<Nanoseconds> free_, after_, work_;    // by device; `after_`: tail of what follows; `work_`: to be done
  std::vector<Nanoseconds> soonest_;                // by device, of the node at hand: begin of its next op
  std::vector<Bytes> memory_;                       // by device
  std::vector<std::uint64_t> blocked_;              // by device: its queues that are held back, a bit each; 64 at most
  std::vector<std::int32_t> slot_;                  // by queue: its bit
  std::vector<std::vector<Drain>> drains_;          // by device
  std::vector<std::int32_t> active_;                // devices with something in the window
  std::vector<std::int32_t> path_, best_;           // queues in the order of the search
  std::vector<std::vector<Candidate>> candidates_;  // by depth
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> seen_;
  std::vector<Nanoseconds> states_, state_;
  std::size_t total_ = 0;
  Nanoseconds below_ = 0;
  std::int64_t nodes_ = 0;
  OrderBudget* budget_ = nullptr;
  bool cut_short_ = false;
  bool found_ = false;
};

}  // namespace debubble
