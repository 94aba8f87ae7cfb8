// OrderProblem: a search for the order of a pipeline's ops on plain numbers, and OrderTimes: what an order costs.
//
// All microbatches cost the same on a stage, so ops of one kind and stage may run first microbatch first: whatever
// another order reaches, renaming its microbatches reaches in this one, with every op at the same time and the same
// memory. So an order is, per device, a sequence of queues, one queue for each kind and stage that the device holds;
// the n-th time that a queue occurs stands for its microbatch n.
//
//     one stage, m=2     F F I W I W   is   F0 F1 I0 W0 I1 W1
//
// Without weight gradients of their own (`split` false) the queue I is B: it takes the whole backward's time.
#pragma once

#include <cstdint>
#include <vector>

#include "schedules/common/contract.hpp"
#include "sim/core/at.hpp"
#include "sim/core/op.hpp"

namespace debubble {

// Ops of one kind on one stage. Numbers of queues are -1 where there is none.
struct OrderQueue {
  OpKind kind = OpKind::kForward;
  std::int32_t stage = 0;
  std::int32_t device = 0;
  Nanoseconds duration = 0;
  std::int32_t feeder = -1;    // the queue of the neighbouring stage whose output it takes
  Nanoseconds lag = 0;         // from the feeder's end to the arrival
  std::int32_t needs = -1;     // the queue of its own stage that comes first: F before I, I before W
  std::int32_t consumer = -1;  // whose feeder it is
  std::int32_t follower = -1;  // which needs it
  Nanoseconds copy = 0;        // of an F: one way of what it makes to the host, or back
  Bytes at_begin = 0;          // taken when an op begins
  Bytes at_end = 0;            // taken (below 0: given back) when it ends
};

struct OrderProblem {
  int devices = 0;
  int microbatches = 0;
  int stages = 0;
  bool split = true;
  std::vector<OrderQueue> queues;                    // by stage: F, I, W; or F, B
  std::vector<std::vector<std::int32_t>> of_device;  // its queues
  std::vector<Bytes> limits;                         // of activations, by device
  std::vector<Nanoseconds> offsets;                  // by device: what does not count of the time until its last end

  [[nodiscard]] int kinds() const { return split ? 3 : 2; }
  [[nodiscard]] std::int32_t queue(OpKind kind, int stage) const {
    return kinds() * stage + (kind == OpKind::kForward ? 0 : kind == OpKind::kWeightGrad ? 2 : 1);
  }
  [[nodiscard]] std::size_t ops() const { return queues.size() * to_index(microbatches); }
  [[nodiscard]] std::size_t id(std::int32_t queue, std::int32_t microbatch) const {
    return to_index(queue) * to_index(microbatches) + to_index(microbatch);
  }
};

// By device, the queues in running order.
using Orders = std::vector<std::vector<std::int32_t>>;

// What is to be made short.
enum class OrderGoal : std::uint8_t {
  kStep,  // from 0 to the last end of all
  kSpan,  // the longest time from the earliest possible begin of a device to its last end
};

// `limits`: activations by device. Each device has limit enough for one microbatch of each of its stages.
[[nodiscard]] OrderProblem order_problem(const PlanningCosts& costs, const Placement& placement, int microbatches,
                                         const std::vector<Bytes>& limits, bool split, OrderGoal goal);

// Whether no device ever takes more than its limit: a matter of its row alone.
[[nodiscard]] bool within_limits(const OrderProblem& problem, const Orders& orders);

// Every op as early as its device's row and its inputs allow.
class OrderTimes {
 public:
  explicit OrderTimes(const OrderProblem& problem);

  // False where the orders deadlock; then nothing else may be asked. Linear.
  bool evaluate(const Orders& orders);

  [[nodiscard]] Nanoseconds cost() const { return cost_; }
  // By op (OrderProblem::id).
  [[nodiscard]] const std::vector<Nanoseconds>& ends() const { return ends_; }
  // From an op's end to where the cost is counted, along rows and transfers.
  [[nodiscard]] const std::vector<Nanoseconds>& tails() const { return tails_; }
  // All ops by begin: each after what it needs.
  [[nodiscard]] const std::vector<std::int32_t>& sequence() const { return sequence_; }

 private:
  void place(std::int32_t queue, std::int32_t microbatch);
  void add_tails();

  const OrderProblem& problem_;
  std::vector<Nanoseconds> ends_, begins_, tails_, free_;
  std::vector<std::int32_t> sequence_, counts_, position_;
  std::vector<std::int32_t> devices_;
  Nanoseconds cost_ = 0;
};

}  // namespace debubble
