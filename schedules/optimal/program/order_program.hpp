// OrderProgram: an OrderProblem stated as a MILP, as OptPipe does: when each op begins, which of two ops of a device
// runs first, and the memory that follows from it.
//
//     minimise C
//     C >= x(a) + d(a) - offset                         every op ends before
//     x(b) >= x(a) + d(a) + lag                         what b needs, or the microbatch before it
//     x(b) >= x(a) + d(a) - (1 - y(a,b)) M              a before b on one device, y(b,a) = 1 - y(a,b)
//     sum over b before a of what b keeps + what a takes <= limit
//
// Fixed in advance is what follows from microbatches in order (symmetry) and from what an op needs; M is as small as
// the earliest and latest begin of the two allow. Implied, but a help to the solver: once one microbatch's op has
// overtaken another kind's, the later ones have, too; and what precedes an op on its device, or follows it, takes its
// time.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "schedules/optimal/order_problem.hpp"
#include "schedules/optimal/program/mixed_program.hpp"

namespace debubble {

class OrderProgram {
 public:
  // Of orders that cost from `least` to `most`.
  OrderProgram(const OrderProblem& problem, Nanoseconds least, Nanoseconds most);

  // No device ever holds more than its limit; for problems without copies.
  void add_memory();

  [[nodiscard]] Orders orders(const std::vector<double>& values) const;

  [[nodiscard]] MixedProgram& program() { return program_; }
  [[nodiscard]] const OrderProblem& problem() const { return problem_; }
  // Times of the program are in this many nanoseconds.
  [[nodiscard]] double unit() const { return unit_; }
  [[nodiscard]] double scaled(Nanoseconds time) const { return static_cast<double>(time) / unit_; }

  [[nodiscard]] int cost() const { return cost_; }                       // the column of C
  [[nodiscard]] int begin(std::size_t op) const { return begins_[op]; }  // the column of its begin
  [[nodiscard]] double earliest(std::size_t op) const { return program_.lower(begins_[op]); }
  [[nodiscard]] double latest(std::size_t op) const { return program_.upper(begins_[op]); }
  [[nodiscard]] double duration(std::size_t op) const { return scaled(queue_of(op).duration); }
  [[nodiscard]] const OrderQueue& queue_of(std::size_t op) const {
    return problem_.queues[op / to_index(problem_.microbatches)];
  }
  // 1 where the first of two ops of one device runs before the second, else 0.
  [[nodiscard]] MixedSum before(std::size_t one, std::size_t other) const;
  [[nodiscard]] bool always_before(std::size_t one, std::size_t other) const;
  [[nodiscard]] const std::vector<std::size_t>& ops_of(int device) const { return at(of_device_, device); }
  // The value of a sum in a solution.
  [[nodiscard]] static double value(const MixedSum& sum, const std::vector<double>& values);

 private:
  void choose_unit(Nanoseconds most);
  void add_begins(Nanoseconds most);
  void add_cost(Nanoseconds least, Nanoseconds most);
  void add_flow();
  void add_pair(std::size_t one, std::size_t other);
  void add_overtaking();
  void add_sums();

  const OrderProblem& problem_;
  MixedProgram program_;
  double unit_ = 1;
  int cost_ = 0;
  std::vector<std::vector<char>> leads_;             // by queue and queue: the first one's op k precedes the other's
  std::vector<int> begins_;                          // by op
  std::vector<std::vector<std::size_t>> of_device_;  // its ops
  std::map<std::pair<std::size_t, std::size_t>, int> pairs_;  // first < second: 1 where the first is before
};

}  // namespace debubble
