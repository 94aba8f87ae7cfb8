#include "scenario/job/make_variation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "sim/core/error.hpp"
#include "sim/core/quantities.hpp"

namespace debubble {

namespace {

// Each piece of a microbatch varies with it.
std::vector<double> piece_factors(const std::vector<double>& microbatches, int pieces) {
  std::vector<double> factors;
  for (const double factor : microbatches) factors.insert(factors.end(), static_cast<std::size_t>(pieces), factor);
  return factors;
}

// What the ranks took that a profile was joined from, on so many devices. Measured, but it is our conclusion that the
// rank is slow and not its layers.
Assumption slow_rank(const SlowItem& item, int devices) {
  if (holds_for(item, devices)) return {"slow", item.text + ", as the ranks of " + item.file, Source::kModelled};
  return {"slow",
          fmt::format("not the ranks of {} ({}), which are {} and not {}: the layers of all count alike", item.file,
                      item.text, item.factors.size(), devices),
          Source::kDefault};
}

void say_slow(const std::vector<SlowItem>& items, int devices, std::vector<Assumption>& assumptions) {
  std::string given;
  for (const SlowItem& item : items) {
    if (item.file.empty()) given += (given.empty() ? "" : ", ") + item.text;
  }
  if (!given.empty()) assumptions.push_back({"slow", given, Source::kGiven});
  for (const SlowItem& item : items) {
    if (item.file.empty()) continue;
    if (item.of_profile) {
      assumptions.push_back(slow_rank(item, devices));
      continue;
    }
    assumptions.push_back({"slow", item.text + ", as in " + item.file, Source::kMeasured});
  }
}

void say(const VariationScenario& scenario, const Variation& made, int devices, std::vector<Assumption>& assumptions) {
  say_slow(scenario.slow, devices, assumptions);
  const std::string seed = fmt::format(", seed {}", scenario.seed);
  if (!made.piece.empty()) {
    const auto [least, most] = std::minmax_element(made.piece.begin(), made.piece.end());
    assumptions.push_back({"microbatches",
                           fmt::format("{}{}: {:.2f} to {:.2f} of the average one", scenario.factors.text,
                                       scenario.factors.random() ? seed : "", *least, *most),
                           Source::kGiven});
  }
  if (made.jitter != 0) {
    assumptions.push_back({"jitter", "lognormal:" + plain(made.jitter) + " of every op" + seed, Source::kGiven});
  }
}

}  // namespace

Variation make_variation(const VariationScenario& scenario, const Schedule& schedule, int pipeline_replicas) {
  Variation made;
  std::vector<Diagnostic> problems;
  made.device = slow_factors(scenario.slow, SlowItem::What::kDevice, schedule.devices, problems);
  made.stage = slow_factors(scenario.slow, SlowItem::What::kStage, schedule.stages, problems);
  made.pipeline_replica = slow_factors(scenario.slow, SlowItem::What::kReplica, pipeline_replicas, problems);
  try {
    made.piece =
        piece_factors(microbatch_factors(scenario.factors, schedule.microbatches, scenario.seed), schedule.pieces);
  } catch (const InputError& error) {
    problems.insert(problems.end(), error.diagnostics().begin(), error.diagnostics().end());
  }
  made.jitter = scenario.jitter;
  made.seed = scenario.seed;
  if (!problems.empty()) throw InputError(std::move(problems));
  return made;
}

Variation make_variation(const VariationScenario& scenario, const Schedule& schedule, int pipeline_replicas,
                         std::vector<Assumption>& assumptions) {
  Variation made = make_variation(scenario, schedule, pipeline_replicas);
  say(scenario, made, schedule.devices, assumptions);
  return made;
}

void refuse_variation(const VariationScenario& scenario, const std::string& who) {
  if (scenario.none()) return;
  throw InputError(Diagnostic{"C087", "--slow", who + " runs for real, and what differs there differs by itself",
                              "leave --slow, --factors and --jitter out; --fault slow=2:1.5 slows a device down"});
}

}  // namespace debubble
