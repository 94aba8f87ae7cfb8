// CopyMoves: orders with plans of copies to the host, made to fit a memory limit and then improved by small changes.
//
// A plan is an order and, for each activation that leaves, two numbers: how many ops of its row its way out waits for
// after its F, and how many ops before its gradient its way back is due. A device's lane runs these in the order of the
// rows' positions; the rest is the engine's (program/copy_times.hpp). Every plan is timed whole.
//
//     repair     at the first moment that takes more than the limit, that activation leaves whose use is furthest ahead
//                (Belady's rule); of the few furthest, the one that leaves the least beyond the limits
//     anneal     an activation leaves or stays, its copies come sooner or later, an op changes its place; kept if
//                shorter, or by chance (Kirkpatrick, Gelatt, Vecchi, Science 220, 1983); what is beyond a limit counts
//                as time
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "schedules/optimal/copies/copy_tree.hpp"
#include "schedules/optimal/order_budget.hpp"

namespace debubble {

class CopyMoves {
 public:
  CopyMoves(const OrderProblem& problem, OrderBudget& budget);

  // An order to start from: as it is, and with copies of all that is unused for long enough.
  void add_start(const std::string& name, const Orders& orders);
  // The starts made to fit, the shortest first, while more than `leave` is left of the budget.
  void repair_starts(std::int64_t leave);
  // The start of which the shortest plan came; empty where none came to fit.
  [[nodiscard]] const std::string& best_start() const { return best_start_; }
  [[nodiscard]] Nanoseconds best_start_cost() const { return best_start_cost_; }

  // From the best plan that is known here, or from the best start that did not come to fit, so many plans on.
  void anneal(std::int64_t plans);
  // What may stay as well stays: copies that gain nothing are left out, one by one while `more` lasts.
  void drop_idle_copies(OrderBudget more);

  // A plan that fits, from elsewhere.
  void offer(const CopiedOrder& order);
  [[nodiscard]] const std::optional<CopiedOrder>& best() const { return best_; }
  // Nodes that a plan is charged as.
  [[nodiscard]] std::int64_t price() const { return static_cast<std::int64_t>(problem_.ops() / 16 + 1); }

 private:
  struct Leave {
    bool leaves = false;
    std::int32_t wait = 0;  // ops of its row between its F and its way out
    std::int32_t lead = 1;  // ops of its row from the gate of its way back to its gradient, 1 at least
  };
  struct Plan {
    Orders orders;
    std::vector<Leave> leave;  // by op, of Fs
    CopiedTimes times;
    double value = 0;
  };
  struct Start {
    std::string name;
    Plan plan;
  };
  struct Held {
    std::size_t forward = 0;  // op
    Nanoseconds use = 0;
  };

  [[nodiscard]] OrderCopies lanes(const Plan& plan);
  void find_places(const Orders& orders);
  bool time(Plan& plan);
  void keep(const Plan& plan);
  [[nodiscard]] std::int32_t prompt_lead(const Plan& plan, std::size_t forward);
  [[nodiscard]] std::vector<Held> held_at(const Plan& plan, std::int32_t device, Nanoseconds moment);
  bool repair(Plan& plan);
  void send_away(Plan& plan, std::int32_t lead);
  bool change(Plan& plan);
  void move_op(Plan& plan);
  [[nodiscard]] Plan plan_of(const CopiedOrder& order);
  [[nodiscard]] std::size_t draw(std::size_t below);

  const OrderProblem& problem_;
  OrderBudget& budget_;
  std::vector<std::size_t> items_;    // ops: Fs whose activation may leave
  std::vector<std::int32_t> places_;  // by op: position in its row, of the order last looked at
  std::vector<std::int32_t> counts_;
  double excess_price_ = 1;  // ns per byte
  double mean_ = 1;          // duration of an op, ns
  std::optional<CopiedOrder> best_;
  std::vector<Start> starts_;
  std::string best_start_;
  Nanoseconds best_start_cost_ = 0;
  std::optional<Plan> failed_;
  std::uint64_t seed_ = 1;
  unsigned rounds_ = 0;
};

}  // namespace debubble
