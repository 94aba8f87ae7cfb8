#include "studies/planners/pipedream_2bw.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "sim/core/at.hpp"
#include "sim/core/words.hpp"
#include "studies/planners/params.hpp"
#include "studies/planners/stages.hpp"

namespace debubble {

namespace {

constexpr double kTwoBufferedNever = std::numeric_limits<double>::infinity();

// Depth lies within machines first: pipelines are consecutive devices.
int two_buffered_device(const TwoBufferedChoice& choice, int pipeline, int stage) {
  return pipeline * choice.depth + stage;
}

double slowest_exchange_link(const PlannerJob& job, const TwoBufferedChoice& choice, int stage) {
  double slowest = kTwoBufferedNever;
  for (int pipeline = 1; pipeline < choice.width; ++pipeline) {
    slowest =
        std::min(slowest, static_cast<double>(pair_bandwidth(job, two_buffered_device(choice, pipeline - 1, stage),
                                                             two_buffered_device(choice, pipeline, stage))));
  }
  return slowest;
}

double slowest_boundary_link(const PlannerJob& job, const TwoBufferedChoice& choice, int stage) {
  double slowest = kTwoBufferedNever;
  for (int pipeline = 0; pipeline < choice.width; ++pipeline) {
    const int device = two_buffered_device(choice, pipeline, stage);
    slowest = std::min(slowest, static_cast<double>(pair_bandwidth(job, device, device + 1)));
  }
  return slowest;
}

PlannerDecision decision_of(const PlannerJob& job, const TwoBufferedChoice& best, double time) {
  PlannerDecision decision;
  decision.stages = stages_of_sizes(even_sizes(job.layer_count(), best.depth));
  for (int stage = 0; stage < best.depth; ++stage) {
    PlannerStage& one = at(decision.stages, stage);
    one.replicas = best.width;
    one.devices.clear();
    for (int pipeline = 0; pipeline < best.width; ++pipeline) {
      one.devices.push_back(two_buffered_device(best, pipeline, stage));
    }
  }
  decision.predicted = time;
  decision.unit = "ns per microbatch of the job";
  decision.choices = {{"depth", std::to_string(best.depth)},
                      {"width", std::to_string(best.width)},
                      {"microbatch", std::to_string(best.size) + " times the job's"},
                      {"microbatches", std::to_string(best.microbatches)},
                      {"recompute", best.recompute ? "yes" : "no"}};
  return decision;
}

PlannerDecision decide_two_buffered(const PlannerJob& job, const PlannerRequest&) {
  TwoBufferedChoice best;
  double least = kTwoBufferedNever;
  bool legal = false;
  for (int depth = 1; depth <= std::min(job.device_count(), job.layer_count()); ++depth) {
    if (job.device_count() % depth != 0) continue;
    const int width = job.device_count() / depth;
    for (int size = 1; size * width <= job.microbatches; ++size) {
      const int count = job.microbatches / (size * width);
      if (job.microbatches % (size * width) != 0 || count < depth) continue;
      legal = true;
      for (const bool recompute : {false, true}) {
        const TwoBufferedChoice choice{depth, width, size, recompute, count};
        const double time = two_buffered_time(job, choice);
        if (time >= least) continue;
        least = time;
        best = choice;
      }
    }
  }
  if (!legal) {
    not_for_planner("pipedream-2bw",
                    "no depth and width of " + counted(job.device_count(), "device") + " share " +
                        counted(job.microbatches, "microbatch") + " evenly with at least as many as stages each",
                    "use a number of microbatches that the devices divide");
  }
  if (least == kTwoBufferedNever) {
    no_plan_fits("pipedream-2bw", "no depth, recomputed or not, fits " + mebibytes(least_memory(job)) + " per device",
                 "use devices with more memory, or a smaller microbatch");
  }
  return decision_of(job, best, least);
}

}  // namespace

double two_buffered_time(const PlannerJob& job, const TwoBufferedChoice& choice) {
  const PlannerSums sums(job);
  const double factor = slowest_factor(job);
  const double size = choice.size;
  const auto weights = static_cast<double>(sums.parameters(0, job.layer_count()));
  const auto kept = static_cast<double>(sums.activation(0, job.layer_count())) * size;
  double slowest = 0;
  double input = 0;
  const std::vector<int> sizes = even_sizes(job.layer_count(), choice.depth);
  int begin = 0;
  for (int stage = 0; stage < choice.depth; ++stage) {
    const int end = begin + at(sizes, stage);
    double time = static_cast<double>(sums.time(begin, end)) * factor * size;
    if (choice.recompute) time += static_cast<double>(sums.forward(begin, end)) * factor * size;
    if (stage > 0) {
      const double bytes = static_cast<double>(at(job.layers, begin - 1).output) * size;
      input = std::max(input, bytes);
      time += 2 * bytes / slowest_boundary_link(job, choice, stage - 1) * 1e9;
    }
    if (choice.width > 1) {
      const double moved = 2.0 * (choice.width - 1) / choice.width * static_cast<double>(sums.parameters(begin, end));
      time = std::max(time, moved / slowest_exchange_link(job, choice, stage) * 1e9 / choice.microbatches);
    }
    slowest = std::max(slowest, time);
    begin = end;
  }
  const double depth = choice.depth;
  const double memory = 2 * weights / depth + (choice.recompute ? kept / depth + depth * input : kept);
  const Bytes limit = least_memory(job);
  if (limit > 0 && memory > static_cast<double>(limit)) return kTwoBufferedNever;
  return slowest / (size * choice.width);
}

const PlannerEntry& pipedream_2bw_planner() {
  static const PlannerEntry entry{
      .name = "pipedream-2bw",
      .summary = "depth, width, microbatch size and recomputation of equal pipelines, by trying all combinations",
      .objective = "least time per microbatch over all pipelines, in the steady state without a flush",
      .cost_model =
          "slowest stage of max(compute + both transfers of its input, exchange of its weights / microbatches); "
          "memory: "
          "2 weights / depth + activations, or with recomputation a depth-th of them + depth inputs",
      .assumes =
          "a uniform model, cut evenly by layers; two versions of the weights, so at least as many microbatches as "
          "stages; gradients and optimizer state are not in its memory; times proportional to the microbatch size",
      .published = "none known to us: up to 20 times a model-parallel baseline, 3.2 times GPipe (abstract)",
      .faults = "",
      .certainty = PlannerCertainty::kRecalled,
      .certainty_note =
          "its formulas are from memory, not from the paper; tested against all choices and numbers computed by hand",
      .params = {},
      .advice = "Ask it for uniform transformers where weights may be one update old.",
      .citation = "Narayanan et al., Memory-Efficient Pipeline-Parallel DNN Training, ICML 2021, arXiv 2006.09503",
      .decide = decide_two_buffered};
  return entry;
}

}  // namespace debubble
