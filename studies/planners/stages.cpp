#include "studies/planners/stages.hpp"

#include <algorithm>
#include <limits>

#include "sim/core/at.hpp"

namespace debubble {

std::vector<int> even_sizes(int layers, int stages) {
  std::vector<int> sizes;
  for (int stage = 0; stage < stages; ++stage) sizes.push_back(layers / stages + (stage < layers % stages ? 1 : 0));
  return sizes;
}

std::vector<PlannerStage> stages_of_sizes(const std::vector<int>& sizes) {
  std::vector<PlannerStage> stages;
  int begin = 0;
  for (const int size : sizes) {
    stages.push_back({begin, begin + size, 1, {static_cast<int>(stages.size())}});
    begin += size;
  }
  return stages;
}

std::vector<PlannerStage> stages_of_cuts(const std::vector<int>& cuts, int layers) {
  std::vector<int> sizes;
  int begin = 0;
  for (const int cut : cuts) {
    sizes.push_back(cut - begin);
    begin = cut;
  }
  sizes.push_back(layers - begin);
  return stages_of_sizes(sizes);
}

LeastLargest least_largest(int begin, int end, int stages, const RangeWeight& weight) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  const int count = end - begin;
  // best[s][i]: the suffix from begin + i on stages s.. of them
  std::vector<std::vector<double>> best(to_index(stages + 1), std::vector<double>(to_index(count + 1), kNever));
  best.back().back() = 0;
  for (int stage = stages - 1; stage >= 0; --stage) {
    // The first stage begins where all begins: `weight` is asked of no other.
    for (int from = stage; from <= (stage == 0 ? 0 : count - (stages - stage)); ++from) {
      double& here = at(at(best, stage), from);
      for (int to = from + 1; to <= count - (stages - stage - 1); ++to) {
        const double rest = at(at(best, stage + 1), to);
        if (rest < here) here = std::min(here, std::max(rest, weight(stage, begin + from, begin + to)));
      }
    }
  }
  LeastLargest result{best.front().front(), {}};
  if (result.largest == kNever) return result;
  int from = 0;
  for (int stage = 0; stage + 1 < stages; ++stage) {
    int to = from + 1;
    while (at(at(best, stage + 1), to) > result.largest || weight(stage, begin + from, begin + to) > result.largest)
      ++to;
    result.cuts.push_back(begin + to);
    from = to;
  }
  return result;
}

double stage_time(const PlannerJob& job, const PlannerSums& sums, int begin, int end, int type) {
  return static_cast<double>(sums.time(begin, end)) * at(job.types, type).time_factor;
}

void note_slowest_device(const PlannerJob& job, PlannerDecision& decision) {
  if (!equal_types(job)) decision.notes.emplace_back("it knows equal devices only: the slowest one's times were used");
}

}  // namespace debubble
