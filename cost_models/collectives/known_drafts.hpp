// KnownDrafts: what was drafted for collectives on one graph, kept for the next with the same groups. A draft holds for
// buffers of any size, and a study plans the same collectives for thousands of runs.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>

#include "cost_models/collectives/algorithms.hpp"

namespace debubble {

// Safe to use from any thread. Its memory is bounded. It must not outlive its graph's meaning: whoever changes links or
// routes of a copy of the graph plans without it.
class KnownDrafts {
 public:
  using Drafts = std::shared_ptr<const collectives::Drafts>;

  // What `make` makes, or made before.
  [[nodiscard]] Drafts get(CollectiveAlgorithm algorithm, const collectives::Groups& groups, CollectiveKind kind,
                           const CollectiveModel& model, const std::function<collectives::Drafts()>& make);

 private:
  // What else a draft depends on: tree_far_copies, density, entry_size.
  using Rest = std::tuple<CollectiveAlgorithm, CollectiveKind, double, double, double>;

  std::mutex mutex_;
  std::map<collectives::Groups, std::map<Rest, Drafts>> drafts_;
  std::size_t numbers_ = 0;  // about so many are kept: ranks of groups, and links of phases
};

}  // namespace debubble
