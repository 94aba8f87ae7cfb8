// Changes: what is different in the other run of `debubble whatif`. The schedule stays: the same ops in the same order.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scenario/job/job.hpp"
#include "scenario/request/scenario.hpp"
#include "studies/whatif/link_changes.hpp"

namespace debubble {

struct Changes {
  std::vector<SlowItem> slow;
  FactorSource factors;
  double jitter = 0;
  std::vector<LinkChange> links;
  std::optional<bool> overlap;  // of communication with compute
  // A stage's ops take this factor, in addition to all else: for ranking.
  int stage = -1;
  double stage_factor = 1;
};

// One of them with its words.
struct NamedChange {
  std::string label;  // "device=3:1.25 slower"
  Changes changes;
};

// All of them at once. What undoes another change leaves nothing of both.
[[nodiscard]] Changes together(const std::vector<NamedChange>& changes);
[[nodiscard]] Changes together(Changes changes, const Changes& more);

// The scenario with what the changes say about the training step.
[[nodiscard]] Scenario changed_scenario(Scenario scenario, const Changes& changes);

// `prepared` with the changes. What the base varies in stays. Throws InputError for what
// the run does not have.
[[nodiscard]] Job changed_job(const Scenario& scenario, const Job& prepared, const Changes& changes);

// The variation of the changed run, as flags: for other seeds.
[[nodiscard]] VariationScenario changed_variation(const Scenario& scenario, const Changes& changes);

}  // namespace debubble
