#include "sim/core/profile.hpp"

#include <cmath>
#include <map>
#include <stdexcept>

namespace debubble {
namespace {

void shorten(Nanoseconds& time, double factor) {
  time = static_cast<Nanoseconds>(std::llround(static_cast<double>(time) / factor));
}

void shorten(std::optional<TimeStatistics>& times, double factor) {
  if (!times) return;
  shorten(times->median, factor);
  if (times->p10) shorten(*times->p10, factor);
  if (times->p90) shorten(*times->p90, factor);
}

}  // namespace

const char* to_string(GradSplit split) {
  switch (split) {
    case GradSplit::kNone:
      return "none";
    case GradSplit::kRange:
      return "range";
    case GradSplit::kShape:
      return "shape";
    case GradSplit::kName:
      return "name";
    case GradSplit::kOrder:
      return "order";
  }
  throw std::logic_error("unknown GradSplit");
}

Profile as_of_equal_ranks(Profile profile) {
  std::map<std::string, double> factors;
  for (const RankSpeed& rank : profile.ranks) {
    for (const std::string& layer : rank.layers) factors[layer] = rank.factor();
  }
  for (ProfileLayer& layer : profile.layers) {
    const auto found = factors.find(layer.name);
    if (found == factors.end() || found->second == 1) continue;
    std::optional<TimeStatistics> forward = layer.forward;
    shorten(forward, found->second);
    layer.forward = *forward;
    for (std::optional<TimeStatistics>* times : {&layer.backward, &layer.input_grad, &layer.weight_grad}) {
      shorten(*times, found->second);
    }
  }
  return profile;
}

}  // namespace debubble
