#include "schedules/zero_bubble/zb_auto_search.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

namespace debubble {

namespace {

// Where the paper leaves a greedy choice open, the search tries both: eight walks in all.
struct AutoChoices {
  bool extra_forwards = true;
  bool skip_forwards = true;
  bool fill_holes = true;
};

// One stage in the middle of a walk. Counters say which microbatch is next.
struct AutoLane {
  Nanoseconds now = 0;
  Nanoseconds idle = 0;  // since the stage's first F
  Bytes memory = 0;
  std::int32_t forwards = 0;
  std::int32_t input_grads = 0;
  std::int32_t weight_grads = 0;
  OpKind* next = nullptr;               // where the row's next op is written
  Nanoseconds* forward_ends = nullptr;  // by microbatch
  Nanoseconds* input_grad_ends = nullptr;
};

// The memory of all walks, allocated once.
struct AutoTables {
  AutoTables(std::size_t stages, std::size_t microbatches)
      : kinds(3 * stages * microbatches),
        ends(2 * stages * microbatches),
        lanes(stages),
        extra(stages),
        wants(stages) {}

  std::vector<OpKind> kinds;
  std::vector<Nanoseconds> ends;
  std::vector<AutoLane> lanes;
  std::vector<std::int32_t> extra;
  std::vector<std::uint8_t> wants;
};

class AutoWalk {
 public:
  AutoWalk(const std::vector<AutoStage>& stages, int microbatches, AutoChoices choices, AutoTables& tables)
      : stages_(stages),
        m_(microbatches),
        last_(stages.size() - 1),
        choices_(choices),
        tables_(tables),
        lanes_(tables.lanes.data()) {
    const auto m = static_cast<std::size_t>(microbatches);
    for (std::size_t j = 0; j < stages.size(); ++j) {
      lanes_[j] = {};
      lanes_[j].next = &tables.kinds[3 * j * m];
      lanes_[j].forward_ends = &tables.ends[2 * j * m];
      lanes_[j].input_grad_ends = &tables.ends[(2 * j + 1) * m];
    }
  }

  // False as soon as the span cannot be below `bound`: idle time only ever adds.
  bool run(Nanoseconds bound) {
    bound_ = bound;
    warm_up();
    for (std::int32_t i = 1; i < m_ && span_ < bound_; ++i) {
      choose_forwards();
      for (std::size_t j = 0; j <= last_; ++j) {
        if (tables_.wants[j] != 0) round_forward(j);
      }
      for (std::size_t j = last_ + 1; j-- > 0;) round_input_grad(j);
    }
    if (span_ >= bound_) return false;
    // What is still pending runs back to back and waits for nothing: it cannot change the span any more.
    for (std::size_t j = 0; j <= last_; ++j) {
      while (lanes_[j].weight_grads < m_) put_weight_grad(j);
    }
    return true;
  }

  [[nodiscard]] Nanoseconds span() const { return span_; }

 private:
  [[nodiscard]] bool pending(const AutoLane& lane) const { return lane.weight_grads < lane.input_grads; }
  // How much more than this stage the idlest one has waited: so much may be added here without harm.
  [[nodiscard]] Nanoseconds slack(const AutoLane& lane) const { return most_idle_ - lane.idle; }
  [[nodiscard]] Nanoseconds forward_arrival(std::size_t j) const {
    return j == 0 ? 0 : lanes_[j - 1].forward_ends[lanes_[j].forwards] + stages_[j - 1].hop;
  }
  [[nodiscard]] Nanoseconds gradient_arrival(std::size_t j) const {
    return j == last_ ? 0 : lanes_[j + 1].input_grad_ends[lanes_[j].input_grads] + stages_[j].hop;
  }

  void wait(std::size_t j, Nanoseconds arrival) {
    AutoLane& lane = lanes_[j];
    if (arrival <= lane.now) return;
    // The cost is the span, last end less first start, so what a stage waits before its first F is free. After that
    // everything it idles is lost: its span is its work and what it has idled.
    if (lane.forwards > 0) {
      lane.idle += arrival - lane.now;
      most_idle_ = std::max(most_idle_, lane.idle);
      span_ = std::max(span_, lane.idle + m_ * stages_[j].work());
    }
    lane.now = arrival;
  }

  void put_forward(std::size_t j) {
    wait(j, forward_arrival(j));
    AutoLane& lane = lanes_[j];
    lane.now += stages_[j].forward;
    lane.memory += stages_[j].activation;
    lane.forward_ends[lane.forwards++] = lane.now;
    *lane.next++ = OpKind::kForward;
  }

  void put_input_grad(std::size_t j) {
    wait(j, gradient_arrival(j));
    AutoLane& lane = lanes_[j];
    lane.now += stages_[j].input_grad;
    lane.memory += stages_[j].held - stages_[j].activation;
    lane.input_grad_ends[lane.input_grads++] = lane.now;
    *lane.next++ = OpKind::kInputGrad;
  }

  void put_weight_grad(std::size_t j) {
    AutoLane& lane = lanes_[j];
    lane.now += stages_[j].weight_grad;
    lane.memory -= stages_[j].held;
    ++lane.weight_grads;
    *lane.next++ = OpKind::kWeightGrad;
  }

  // W while the next input of the stage is in transit. A W that ends before the arrival costs nothing. One that would
  // delay the pass is worth it where waiting would make this stage the idlest of all, for that may lengthen the span;
  // else it only trades idle time here against a later output, which is one of the choices.
  void fill(std::size_t j, Nanoseconds arrival) {
    AutoLane& lane = lanes_[j];
    const Nanoseconds time = stages_[j].weight_grad;
    while (pending(lane) && lane.now + time <= arrival) put_weight_grad(j);
    if (!pending(lane) || lane.now >= arrival) return;
    if (arrival - lane.now > slack(lane) || choices_.fill_holes) put_weight_grad(j);
  }

  void make_room(std::size_t j, Bytes more) {
    AutoLane& lane = lanes_[j];
    while (pending(lane) && lane.memory + more > stages_[j].limit) put_weight_grad(j);
  }

  // Everything up to the first I of every stage. Counting the extra F needs the stages' clocks after their first one.
  void warm_up() {
    span_ = 0;
    for (const AutoStage& stage : stages_) span_ = std::max(span_, m_ * stage.work());
    for (std::size_t j = 0; j <= last_; ++j) put_forward(j);
    count_extra_forwards();
    for (std::size_t j = 0; j <= last_; ++j) {
      for (std::int32_t k = 0; k < tables_.extra[j]; ++k) put_forward(j);
    }
    for (std::size_t j = last_ + 1; j-- > 0;) put_input_grad(j);
  }

  // How many more F than the first fit in before the first gradient returns, from the last stage up.
  void count_extra_forwards() {
    std::vector<std::int32_t>& extra = tables_.extra;
    extra[last_] = 0;
    // `gradient` follows the first gradient up the pipeline: when stage j + 1 has computed it.
    Nanoseconds gradient = lanes_[last_].now + stages_[last_].input_grad;
    for (std::size_t j = last_; j-- > 0;) {
      const AutoStage& stage = stages_[j];
      const Nanoseconds arrival = gradient + stage.hop;
      // What the stage holds in addition to the activations while its first I turns one of them into what W needs.
      const Bytes at_input_grad = std::max<Bytes>(stage.held - stage.activation, 0);
      Nanoseconds now = lanes_[j].now;
      Bytes memory = lanes_[j].memory + at_input_grad;
      extra[j] = 0;
      while (1 + extra[j] < m_ && memory + stage.activation <= stage.limit &&
             (choices_.extra_forwards ? now + stage.forward <= arrival : now < arrival)) {
        memory += stage.activation;
        now += stage.forward;
        ++extra[j];
      }
      gradient = std::max(now, arrival) + stage.input_grad;
    }
    // Each stage runs fewer of them than the one before, as long as not all F are meant; never more, for want of input.
    for (std::size_t j = 1; j <= last_; ++j) {
      while (extra[j] > extra[j - 1] || (extra[j] > 0 && extra[j] == extra[j - 1] && 1 + extra[j] < m_)) --extra[j];
    }
  }

  void choose_forwards() {
    std::vector<std::uint8_t>& wants = tables_.wants;
    for (std::size_t j = 0; j <= last_; ++j) {
      wants[j] = lanes_[j].forwards < m_ ? 1 : 0;
      if (wants[j] != 0 && choices_.skip_forwards && j < last_ && sits_out(j)) wants[j] = 0;
    }
    // A stage before one that skips its F skips too: its output would only wait there.
    for (std::size_t j = last_; j-- > 0;) wants[j] = std::min(wants[j], wants[j + 1]);
  }

  // Whether an F now would only lengthen the queue before the next stage.
  [[nodiscard]] bool sits_out(std::size_t j) const {
    const AutoLane& lane = lanes_[j];
    const AutoStage& stage = stages_[j];
    // With a lead of less than two the next stage would soon run out of input.
    if (lane.forwards < lanes_[j + 1].forwards + 2) return false;
    // When this round's gradient is here, if the next stage runs an F before its I.
    const Nanoseconds next = lanes_[j + 1].now + stages_[j + 1].forward + stages_[j + 1].input_grad + stage.hop;
    if (lane.now >= next) return true;
    // An F that is done by then, with the W that must make room for it, delays nothing. A later one delays the I; it is
    // left out only if waiting for the gradient instead does not make this stage the idlest.
    const Bytes over = lane.memory + stage.activation - stage.limit;
    const std::int64_t to_free = over > 0 && stage.held > 0 ? (over + stage.held - 1) / stage.held : 0;
    if (lane.now + stage.forward + to_free * stage.weight_grad <= next) return false;
    return next - lane.now <= slack(lane);
  }

  void round_forward(std::size_t j) {
    make_room(j, stages_[j].activation);
    if (j > 0) fill(j, forward_arrival(j));
    put_forward(j);
  }

  void round_input_grad(std::size_t j) {
    make_room(j, stages_[j].held - stages_[j].activation);
    if (j < last_) fill(j, gradient_arrival(j));
    // No stage waits for stage 0's I, so once its F are done the order of its W and I is its own affair: W first frees
    // their memory.
    if (j == 0 && lanes_[0].forwards == m_) {
      while (pending(lanes_[0])) put_weight_grad(0);
    }
    put_input_grad(j);
  }

  const std::vector<AutoStage>& stages_;
  const std::int32_t m_;
  const std::size_t last_;
  const AutoChoices choices_;
  AutoTables& tables_;
  AutoLane* lanes_;
  Nanoseconds most_idle_ = 0;
  Nanoseconds span_ = 0;  // a lower bound of the walk's span, exact at its end
  Nanoseconds bound_ = 0;
};

// In this order: of equal walks the authors' scheduler keeps the first.
constexpr std::array<AutoChoices, 8> kAllChoices{{{true, true, true},
                                                  {true, true, false},
                                                  {true, false, true},
                                                  {true, false, false},
                                                  {false, true, true},
                                                  {false, true, false},
                                                  {false, false, true},
                                                  {false, false, false}}};

AutoPlan plan_of(const std::vector<OpKind>& kinds, std::size_t stages, Nanoseconds span) {
  AutoPlan plan;
  plan.span = span;
  const auto row = static_cast<std::ptrdiff_t>(kinds.size() / stages);
  for (auto begin = kinds.begin(); begin != kinds.end(); begin += row) plan.orders.emplace_back(begin, begin + row);
  return plan;
}

}  // namespace

AutoPlan search_auto_plan(const std::vector<AutoStage>& stages, int microbatches) {
  AutoTables tables(stages.size(), static_cast<std::size_t>(microbatches));
  Nanoseconds span = std::numeric_limits<Nanoseconds>::max();
  std::vector<OpKind> best(tables.kinds.size());
  for (const AutoChoices& choices : kAllChoices) {
    AutoWalk walk(stages, microbatches, choices, tables);
    if (!walk.run(span)) continue;
    span = walk.span();
    best.swap(tables.kinds);
  }
  return plan_of(best, stages.size(), span);
}

std::vector<AutoPlan> all_auto_plans(const std::vector<AutoStage>& stages, int microbatches) {
  AutoTables tables(stages.size(), static_cast<std::size_t>(microbatches));
  std::vector<AutoPlan> plans;
  for (const AutoChoices& choices : kAllChoices) {
    AutoWalk walk(stages, microbatches, choices, tables);
    if (!walk.run(std::numeric_limits<Nanoseconds>::max())) continue;
    plans.push_back(plan_of(tables.kinds, stages.size(), walk.span()));
  }
  return plans;
}

}  // namespace debubble
