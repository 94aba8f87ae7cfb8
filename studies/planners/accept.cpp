#include "studies/planners/accept.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "sim/core/at.hpp"
#include "sim/core/splitmix.hpp"
#include "studies/planners/params.hpp"
#include "studies/planners/stages.hpp"

namespace debubble {

namespace {

class AcceptModel {
 public:
  AcceptModel(const PlannerJob& job, const AcceptOptions& options) : job_(job), options_(options) {
    for (std::size_t type = 0; type < job.types.size(); ++type) {
      true_.push_back({0});
      predicted_.push_back({0});
      for (std::size_t layer = 0; layer < job.layers.size(); ++layer) {
        const PlannerLayer& one = job.layers[layer];
        const double time = static_cast<double>(one.forward + one.backward) * job.types[type].time_factor;
        true_.back().push_back(true_.back().back() + time);
        predicted_.back().push_back(predicted_.back().back() + time * error_factor(type, layer));
      }
    }
  }

  [[nodiscard]] double slowest_of(int stage, int begin, int end, bool predicted) const {
    const auto& times = at(predicted ? predicted_ : true_, at(job_.devices, stage));
    double time = at(times, end) - at(times, begin);
    double link = 0;
    if (begin > 0) {
      time += codec(begin);
      const auto bandwidth = static_cast<double>(card_bandwidth(job_, stage - 1, stage));
      link = 2 * bytes(begin) * options_.ratio / bandwidth * 1e9;
    }
    if (end < job_.layer_count()) time += codec(end);
    return std::max(time, link);
  }

 private:
  [[nodiscard]] double error_factor(std::size_t type, std::size_t layer) const {
    const std::uint64_t draw = splitmix64(splitmix64(options_.seed) ^ splitmix64((std::uint64_t{type} << 32U) + layer));
    return 1 + options_.error * (static_cast<double>(draw >> 11) * 0x1p-52 - 1);
  }
  [[nodiscard]] double bytes(int cut) const { return static_cast<double>(at(job_.layers, cut - 1).output); }
  [[nodiscard]] double codec(int cut) const {
    return options_.codec_rate > 0 ? 2 * bytes(cut) / options_.codec_rate * 1e9 : 0;
  }

  const PlannerJob& job_;
  const AcceptOptions& options_;
  std::vector<std::vector<double>> true_, predicted_;  // by type: sums up to each layer
};

PlannerDecision decide_accept(const PlannerJob& job, const PlannerRequest& request) {
  const int stages = planner_count(request, "stages", job.device_count(), 1, job.device_count());
  require_planner_layers("accept", job, stages);
  AcceptOptions options;
  options.error = planner_number(request, "error", 0.1, 0, 0.99);
  options.seed = static_cast<std::uint64_t>(planner_count(request, "seed", 1, 0, 1000000000));
  options.ratio = planner_number(request, "ratio", 1, 0.001, 1);
  options.codec_rate = planner_number(request, "codec-rate", 0, 0, 1e15);
  const AcceptPlan plan = accept_plan(job, stages, options);
  PlannerDecision decision;
  decision.stages = stages_of_cuts(plan.cuts, job.layer_count());
  decision.predicted = plan.predicted;
  decision.unit = "ns per microbatch, slowest stage or link";
  const auto whole = [](double value) { return std::to_string(static_cast<std::int64_t>(std::llround(value))); };
  decision.choices = {{"true slowest, ns", whole(plan.actual)},
                      {"best by true times, ns", whole(plan.best)},
                      {"regret, ppm", whole(plan.best > 0 ? (plan.actual / plan.best - 1) * 1e6 : 0)}};
  return decision;
}

}  // namespace

AcceptPlan accept_plan(const PlannerJob& job, int stages, const AcceptOptions& options) {
  const AcceptModel model(job, options);
  const auto by = [&](bool predicted) {
    return least_largest(0, job.layer_count(), stages,
                         [&](int stage, int begin, int end) { return model.slowest_of(stage, begin, end, predicted); });
  };
  const LeastLargest found = by(true);
  AcceptPlan plan{found.cuts, found.largest, 0, by(false).largest};
  int begin = 0;
  for (int stage = 0; stage < stages; ++stage) {
    const int end = stage + 1 < stages ? at(found.cuts, stage) : job.layer_count();
    plan.actual = std::max(plan.actual, model.slowest_of(stage, begin, end, false));
    begin = end;
  }
  return plan;
}

const PlannerEntry& accept_planner() {
  static const PlannerEntry entry{
      .name = "accept",
      .summary = "cuts by predicted times, which have errors, with compressed transfers, and says what the errors cost",
      .objective = "least time per microbatch of the slowest stage or link, by predicted times",
      .cost_model =
          "stage: predicted forward and backward of its device's type + encoding and decoding of the tensors on either "
          "side; link: both directions / bandwidth, compressed",
      .assumes =
          "devices in the order of their ids, each with one stage; each layer's error is drawn independently within "
          "the given bound; a codec that occupies the device",
      .published = "none known to us: up to 3 times faster (abstract)",
      .faults = "",
      .certainty = PlannerCertainty::kRecalled,
      .certainty_note =
          "only the abstract was available: its predictor and codec are parameters here; without an error it equals "
          "brute "
          "force on random cases",
      .params = {{"stages", "1..devices", "devices", "how many stages"},
                 {"error", "0..0.99", "0.1", "bound of a predicted time's relative error"},
                 {"seed", "0..1000000000", "1", "of the errors"},
                 {"ratio", "0.001..1", "1", "compressed bytes over plain ones"},
                 {"codec-rate", "bytes per second", "0 (takes no time)", "of encoding, and of decoding"}},
      .advice =
          "Ask it how much a cut depends on exact times: it reports the regret that its own prediction error causes.",
      .citation = "Chen et al., AccEPT, IEEE TMC 2024, arXiv 2311.05827",
      .decide = decide_accept,
      .cuts_only = true};
  return entry;
}

}  // namespace debubble
