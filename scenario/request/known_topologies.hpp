// KnownTopologies: the clusters that scenarios of one study have described, so that a thousand runs on one cluster
// build it once and draft its collectives once. Files are read once, too: a study has one view of them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cost_models/collectives/known_drafts.hpp"
#include "cost_models/transformer/known_layers.hpp"
#include "sim/core/assumption.hpp"
#include "sim/core/link_graph.hpp"

namespace debubble {

struct KnownTopology {
  LinkGraph graph;
  std::vector<Assumption> rates;
  KnownDrafts drafts;
  KnownLayers layers;
};

// Safe to use from any thread.
class KnownTopologies {
 public:
  using Known = std::shared_ptr<KnownTopology>;

  // By what was typed: what `describe` returns, or returned before. Throws what it throws.
  [[nodiscard]] Known get(const std::string& text, const std::function<Known()>& describe);

 private:
  std::mutex mutex_;
  std::map<std::string, Known> known_;
};

}  // namespace debubble
