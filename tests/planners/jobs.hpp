// Jobs of the tests of planners: chains written as lists, and random ones.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/error.hpp"
#include "sim/core/splitmix.hpp"
#include "studies/planners/job.hpp"
#include "studies/planners/regret.hpp"

namespace debubble::testing {

// Milliseconds and bytes as the papers' tables have them.
struct LayerRow {
  double forward = 0;
  double backward = 0;
  double output = 0;
  double parameters = 0;
  double activation = 0;
};

inline Nanoseconds in_ns(double milliseconds) { return std::llround(milliseconds * 1e6); }

inline void set_layers(PlannerJob& job, const std::vector<LayerRow>& rows) {
  job.layers.clear();
  for (const LayerRow& row : rows) {
    PlannerLayer layer;
    layer.name = "layer" + std::to_string(job.layers.size());
    layer.forward = in_ns(row.forward);
    layer.backward = in_ns(row.backward);
    layer.output = std::llround(row.output);
    layer.parameters = std::llround(row.parameters);
    layer.activation = std::llround(row.activation);
    job.layers.push_back(layer);
  }
}

using Ranges = std::vector<std::vector<int>>;  // begin, end, replicas

inline std::string text_of(const Ranges& ranges) {
  std::string text;
  for (const std::vector<int>& range : ranges) {
    text += "[" + std::to_string(range[0]) + "," + std::to_string(range[1]) + ")x" + std::to_string(range[2]) + " ";
  }
  return text;
}

template <typename Stages>
std::string ranges_of(const Stages& stages) {
  Ranges all;
  for (const auto& stage : stages) all.push_back({stage.begin, stage.end, stage.replicas});
  return text_of(all);
}

class Draws {
 public:
  explicit Draws(std::uint64_t seed) : state_(seed) {}
  // least <= result <= most
  int whole(int least, int most) {
    state_ = splitmix64(state_ + 0x51ed27);
    return least + static_cast<int>(state_ % static_cast<std::uint64_t>(most - least + 1));
  }

 private:
  std::uint64_t state_;
};

// Times of whole milliseconds, sizes of whole MB.
inline PlannerJob random_chain(Draws& draws, int layers, int devices) {
  PlannerJob job = equal_devices(devices, 1'000'000'000);
  std::vector<LayerRow> rows;
  for (int i = 0; i < layers; ++i) {
    rows.push_back({1.0 * draws.whole(1, 9), 1.0 * draws.whole(1, 18), 1e6 * draws.whole(0, 12),
                    1e6 * draws.whole(0, 20), 1e6 * draws.whole(0, 20)});
  }
  set_layers(job, rows);
  job.microbatches = draws.whole(1, 12);
  return job;
}

// Of all partitions the one whose heaviest stage is lightest: what that stage weighs. `weight`: of a stage's number and
// its layers from begin on, up to end.
inline double least_by_force(int layers, int stages, const std::function<double(int, int, int)>& weight) {
  double best = std::numeric_limits<double>::infinity();
  const std::function<void(int, int, double)> walk = [&](int begin, int stage, double most) {
    const int behind = stages - stage - 1;
    if (behind == 0) {
      best = std::min(best, std::max(most, weight(stage, begin, layers)));
      return;
    }
    for (int end = begin + 1; end + behind <= layers; ++end) {
      walk(end, stage + 1, std::max(most, weight(stage, begin, end)));
    }
  };
  walk(0, 0, 0);
  return best;
}

// What its decision is worth; nothing where it decides nothing here that can be simulated.
inline std::optional<DecisionWorth> worth_if_decided(const PlannerEntry& planner, const PlannerJob& job) {
  try {
    return decision_worth(job, decide({&planner, {}}, job));
  } catch (const InputError&) {
    return std::nullopt;
  }
}

}  // namespace debubble::testing
