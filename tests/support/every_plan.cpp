#include "tests/support/every_plan.hpp"

namespace debubble::testing {

namespace {

using DevicePlan = std::pair<std::vector<std::int32_t>, std::vector<OrderCopy>>;  // a row and its lane

// All rows of a device with microbatches in order, each with all plans of copies: any activations, any order of the
// lane, any gate. In plain loops; shares nothing with the program but the clock.
class EveryPlan {
 public:
  explicit EveryPlan(const OrderProblem& problem) : problem_(problem) {
    for (int d = 0; d < problem.devices; ++d) {
      plans_.emplace_back();
      std::vector<std::int32_t> row;
      std::vector<int> counts(problem.queues.size(), 0);
      extend_row(d, row, counts);
    }
  }

  Nanoseconds best() {
    Orders orders;
    OrderCopies copies;
    choose(orders, copies);
    return best_;
  }

 private:
  void extend_row(int device, std::vector<std::int32_t>& row, std::vector<int>& counts) {
    bool more = false;
    for (const std::int32_t q : at(problem_.of_device, device)) {
      const OrderQueue& queue = at(problem_.queues, q);
      if (at(counts, q) == problem_.microbatches) continue;
      more = true;
      if (queue.needs >= 0 && at(counts, queue.needs) <= at(counts, q)) continue;
      row.push_back(q);
      ++at(counts, q);
      extend_row(device, row, counts);
      --at(counts, q);
      row.pop_back();
    }
    if (more) return;
    std::vector<OrderCopy> lane;
    extend_lane(device, row, lane);
  }

  [[nodiscard]] static std::size_t position(const std::vector<std::int32_t>& row, std::int32_t queue, int microbatch) {
    for (std::size_t k = 0;; ++k) {
      if (row[k] == queue && microbatch-- == 0) return k;
    }
  }

  void extend_lane(int device, const std::vector<std::int32_t>& row, std::vector<OrderCopy>& lane) {
    bool closed = true;
    for (const std::int32_t q : at(problem_.of_device, device)) {
      if (at(problem_.queues, q).kind != OpKind::kForward || at(problem_.queues, q).at_begin == 0) continue;
      for (std::int32_t k = 0; k < problem_.microbatches; ++k) {
        bool out = false;
        bool back = false;
        for (const OrderCopy& copy : lane) {
          if (copy.forward != q || copy.microbatch != k) continue;
          (copy.back ? back : out) = true;
        }
        if (back) continue;
        if (!out) {
          lane.push_back({false, q, k, -1});
          extend_lane(device, row, lane);
          lane.pop_back();
          continue;
        }
        closed = false;
        const std::size_t use = position(row, at(problem_.queues, q).follower, k);
        for (std::size_t gate = position(row, q, k); gate < use; ++gate) {
          lane.push_back({true, q, k, static_cast<std::int32_t>(gate)});
          extend_lane(device, row, lane);
          lane.pop_back();
        }
      }
    }
    if (closed) at(plans_, device).emplace_back(row, lane);
  }

  void choose(Orders& orders, OrderCopies& copies) {
    if (orders.size() == plans_.size()) {
      const CopiedTimes times = time_with_copies(problem_, orders, copies);
      if (!times.runs || times.cost >= best_) return;
      for (std::size_t d = 0; d < plans_.size(); ++d) {
        if (times.peaks[d] > problem_.limits[d]) return;
      }
      best_ = times.cost;
      return;
    }
    for (const auto& [row, lane] : plans_[orders.size()]) {
      orders.push_back(row);
      copies.push_back(lane);
      choose(orders, copies);
      orders.pop_back();
      copies.pop_back();
    }
  }

  const OrderProblem& problem_;
  std::vector<std::vector<DevicePlan>> plans_;
  Nanoseconds best_ = std::numeric_limits<Nanoseconds>::max();
};

}  // namespace

CopiedCase copied_case(Dice& dice, int devices, int microbatches, int chunks) {
  CopiedCase of;
  const int stages = devices * chunks;
  const int scale = dice.once_in(2) ? 4 : 97;
  of.placement = dice.once_in(2) ? loop_placement(devices, stages) : zigzag_placement(devices, stages);
  of.microbatches = microbatches;
  std::vector<Bytes> least(static_cast<std::size_t>(devices), 0);
  for (int s = 0; s < stages; ++s) {
    StageCost stage;
    stage.forward = dice.from(1, scale);
    stage.input_grad = dice.from(1, scale);
    stage.weight_grad = dice.from(1, scale);
    stage.backward = stage.input_grad + stage.weight_grad;
    stage.activation = dice.from(2, 6);
    stage.weight_grad_held = dice.from(0, static_cast<int>(stage.activation));
    stage.copy = dice.from(1, scale);
    least[static_cast<std::size_t>(of.placement.device_of(0, s))] += stage.activation;
    of.costs.costs.stages.push_back(stage);
  }
  of.costs.hops.assign(static_cast<std::size_t>(stages - 1), dice.once_in(3) ? 0 : dice.from(0, 5));
  for (const Bytes one : least) of.limits.push_back(one + dice.from(0, static_cast<int>(one) * (microbatches - 1)));
  return of;
}

CopiedCase tight_copied_case(Dice& dice, int devices, int microbatches) {
  CopiedCase of = copied_case(dice, devices, microbatches, 1);
  for (Nanoseconds& hop : of.costs.hops) hop += dice.from(0, 40);
  for (StageCost& stage : of.costs.costs.stages) stage.copy = dice.from(1, 8);
  if (devices * microbatches > 4) of.costs.costs.stages.back().activation = 0;
  if (devices * microbatches > 4) of.costs.costs.stages.back().weight_grad_held = 0;
  if (devices > 1) of.limits[0] = of.costs.costs.stages[0].activation * dice.from(1, microbatches - 1);
  return of;
}

Nanoseconds best_of_every_plan(const OrderProblem& problem) { return EveryPlan(problem).best(); }

}  // namespace debubble::testing
