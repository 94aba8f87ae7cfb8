#include "studies/plan/link_cuts.hpp"

#include <algorithm>
#include <utility>

#include "studies/parallel.hpp"
#include "studies/plan/cut_bounds.hpp"

namespace debubble {

bool cuts_ignore_links(const PlanRequest& request) {
  const auto cuts = request.allowed.find("partition");
  const bool balances = cuts == request.allowed.end() ||
                        std::find(cuts->second.begin(), cuts->second.end(), "auto") != cuts->second.end();
  return balances && links_may_differ(request);
}

std::vector<PlannedRun> cut_for_links(const PlanRequest& request, const std::vector<PlannedRun>& runs, int threads) {
  std::vector<Evaluation> found(runs.size());
  for_each_index(runs.size(), threads_for(runs.size(), threads), [&](std::size_t k) {
    const PlannedRun& run = runs[k];
    if (run.choice.pipeline < 2 || !run.choice.partition.empty()) return;
    PlanChoice choice = run.choice;
    choice.partition = kCutForLinks;
    const Pattern pattern = make_pattern(request, choice);
    found[k] = bounded(request, {choice}, {{pattern_key(choice), pattern}}).front();
    if (found[k].kind == Evaluation::Kind::kBounded) simulate_choice(request, choice, found[k]);
  });
  std::vector<PlannedRun> faster;
  for (std::size_t k = 0; k < runs.size(); ++k) {
    if (found[k].kind == Evaluation::Kind::kFits && found[k].run.step < runs[k].step) {
      faster.push_back(std::move(found[k].run));
    }
  }
  std::stable_sort(faster.begin(), faster.end(),
                   [](const PlannedRun& a, const PlannedRun& b) { return a.step < b.step; });
  return faster;
}

}  // namespace debubble
