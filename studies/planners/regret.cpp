#include "studies/planners/regret.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <variant>

#include "schedules/catalog.hpp"
#include "sim/core/at.hpp"
#include "sim/core/numbers.hpp"
#include "sim/core/stage_costs.hpp"
#include "sim/core/topology.hpp"
#include "sim/engine/simulate.hpp"
#include "studies/planners/optpipe.hpp"
#include "studies/planners/params.hpp"

namespace debubble {

namespace {

const std::string* choice_of(const PlannerDecision& decision, std::string_view what) {
  for (const auto& [name, value] : decision.choices) {
    if (name == what) return &value;
  }
  return nullptr;
}

// "2 times the job's"
int microbatch_multiple(const PlannerDecision& decision) {
  const std::string* const text = choice_of(decision, "microbatch");
  std::string_view word = text == nullptr ? "" : std::string_view(*text);
  return std::max(take_whole<int>(word).value_or(1), 1);
}

std::int64_t whole_up(double value) { return static_cast<std::int64_t>(std::ceil(value - 1e-6)); }

class DecidedPipeline {
 public:
  DecidedPipeline(const PlannerJob& job, const PlannerDecision& decision)
      : job_(job), stages_(decision.stages), sums_(job), multiple_(microbatch_multiple(decision)) {
    const std::string* recompute = choice_of(decision, "recompute");
    recompute_ = recompute != nullptr && *recompute == "yes";
    if (decision.planner == optpipe_planner().name) host_ = optpipe_host(decision);
  }

  [[nodiscard]] int microbatches() const { return std::max(1, job_.microbatches / multiple_); }

  [[nodiscard]] DecisionWorth worth(const Program& program) const {
    // Links differ from cut to cut: a byte of the first run is a nanosecond, those of the second are bytes.
    const Topology nanoseconds = Topology::ideal(0, 1'000'000'000);
    const Totals timed = simulate_totals(program, costs(true), nanoseconds);
    const Totals held = simulate_totals(program, costs(false), Topology::ideal(0, 0));
    DecisionWorth worth;
    for (std::size_t stage = 0; stage < stages_.size(); ++stage) {
      worth.step = std::max(worth.step, timed.devices[stage].last_end + exchange(stage));
      const Bytes peak = host_ > 0 ? with_copies(stage, timed) : held.devices[stage].peak_memory;
      worth.peak_memory = std::max(worth.peak_memory, peak);
      for (const int device : stages_[stage].devices) {
        const Bytes memory = at(job_.types, at(job_.devices, device)).memory;
        worth.fits = worth.fits && (memory == 0 || peak <= memory);
      }
    }
    return worth;
  }

 private:
  // With copies what a device holds follows from the times. Beside its activations it has the stage's fixed state, and
  // two inputs that have been received, as the planner takes for granted.
  [[nodiscard]] Bytes with_copies(std::size_t index, const Totals& timed) const {
    const PlannerStage& stage = stages_[index];
    const Bytes received = stage.begin == 0 ? 0 : 2 * at(job_.layers, stage.begin - 1).output;
    return sums_.parameters(stage.begin, stage.end) + sums_.state(stage.begin, stage.end) + received +
           timed.devices[index].peak_activation;
  }

  [[nodiscard]] StageCosts costs(bool timed) const {
    StageCosts all;
    for (std::size_t index = 0; index < stages_.size(); ++index) {
      const PlannerStage& stage = stages_[index];
      double factor = 0;
      for (const int device : stage.devices)
        factor = std::max(factor, at(job_.types, at(job_.devices, device)).time_factor);
      const double share = factor * multiple_ / stage.replicas;
      const auto forward = static_cast<double>(sums_.forward(stage.begin, stage.end));
      const auto both = static_cast<double>(sums_.time(stage.begin, stage.end));
      const Bytes input = stage.begin == 0 ? 0 : at(job_.layers, stage.begin - 1).output;
      StageCost cost;
      cost.forward = whole_up(forward * share);
      cost.backward = whole_up((both - forward + (recompute_ ? forward : 0)) * share);
      cost.input_grad = cost.backward / 2;
      cost.weight_grad = cost.backward - cost.input_grad;
      const Bytes kept = recompute_ ? input : sums_.activation(stage.begin, stage.end);
      cost.activation = whole_up(static_cast<double>(kept) * multiple_ / stage.replicas);
      cost.weight_grad_held = cost.activation;
      cost.copy = host_copy_time(cost.activation, host_);
      cost.weights = sums_.parameters(stage.begin, stage.end);
      cost.optimizer = sums_.state(stage.begin, stage.end);
      if (index + 1 < stages_.size()) cost.output = timed ? transfer(index) : sent(index);
      if (cost.forward < 0 || cost.backward < 0 || cost.activation < 0 || cost.weights < 0) {
        not_for_planner("regret", "a stage takes less than no time or memory",
                        "simulate decisions about layers, not about states of a graph");
      }
      all.stages.push_back(cost);
    }
    return all;
  }

  [[nodiscard]] Bytes sent(std::size_t stage) const {
    const int sharers = std::min(stages_[stage].replicas, stages_[stage + 1].replicas);
    return whole_up(static_cast<double>(at(job_.layers, stages_[stage].end - 1).output) * multiple_ / sharers);
  }
  [[nodiscard]] Nanoseconds transfer(std::size_t stage) const {
    return over_link(static_cast<double>(sent(stage)), slowest_pair(stages_[stage], stages_[stage + 1]));
  }
  [[nodiscard]] Nanoseconds exchange(std::size_t index) const {
    const PlannerStage& stage = stages_[index];
    if (stage.replicas < 2) return 0;
    const auto weights = static_cast<double>(sums_.parameters(stage.begin, stage.end));
    return over_link(2.0 * (stage.replicas - 1) / stage.replicas * weights, slowest_pair(stage, stage));
  }
  static Nanoseconds over_link(double bytes, double bandwidth) {
    return bandwidth >= static_cast<double>(kUnlimitedLink) ? 0 : whole_up(bytes / bandwidth * 1e9);
  }
  [[nodiscard]] double slowest_pair(const PlannerStage& one, const PlannerStage& other) const {
    auto slowest = std::numeric_limits<double>::infinity();
    for (const int from : one.devices) {
      for (const int to : other.devices) {
        if (from != to) slowest = std::min(slowest, static_cast<double>(card_bandwidth(job_, from, to)));
      }
    }
    return slowest;
  }

  const PlannerJob& job_;
  const std::vector<PlannerStage>& stages_;
  PlannerSums sums_;
  int multiple_;
  bool recompute_ = false;
  double host_ = 0;  // GB/s over which activations leave
};

}  // namespace

DecisionWorth decision_worth(const PlannerJob& job, const PlannerDecision& decision) {
  return DecisionWorths(job).of(decision);
}

DecisionWorth DecisionWorths::of(const PlannerDecision& decision) {
  if (decision.stages.empty()) {
    not_for_planner(decision.planner, "its decision has no stages to simulate", "it decides how operators are split");
  }
  const DecidedPipeline pipeline(job_, decision);
  if (decision.planner == optpipe_planner().name) {
    const auto own_order = lower(optpipe_schedule(job_, decision));
    return pipeline.worth(std::get<Program>(own_order));
  }
  const std::pair<int, int> size(static_cast<int>(decision.stages.size()), pipeline.microbatches());
  auto program = programs_.find(size);
  if (program == programs_.end()) {
    ScheduleRequest request;
    request.devices = size.first;
    request.microbatches = size.second;
    const auto lowered_rows = lower(build_schedule("1f1b", request));
    program = programs_.emplace(size, std::get<Program>(lowered_rows)).first;
  }
  return pipeline.worth(program->second);
}

}  // namespace debubble
