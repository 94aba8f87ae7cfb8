#include "cost_models/collectives/known_drafts.hpp"

#include <utility>

namespace debubble {
namespace {

constexpr std::size_t kMostNumbers = std::size_t{1} << 22;  // some 64 MB

std::size_t numbers_in(const collectives::Groups& groups) {
  std::size_t sum = 0;
  for (const collectives::Ranks& group : groups) sum += group.size();
  return sum;
}

std::size_t numbers_in(const collectives::Drafts& drafts) {
  std::size_t sum = 0;
  for (const collectives::PhaseDraft& draft : drafts) sum += draft.links.size();
  return sum;
}

}  // namespace

KnownDrafts::Drafts KnownDrafts::get(CollectiveAlgorithm algorithm, const collectives::Groups& groups,
                                     CollectiveKind kind, const CollectiveModel& model,
                                     const std::function<collectives::Drafts()>& make) {
  const Rest rest{algorithm, kind, model.tree_far_copies, model.density, model.entry_size};
  {
    const std::lock_guard lock(mutex_);
    const auto found = drafts_.find(groups);
    if (found != drafts_.end()) {
      const auto draft = found->second.find(rest);
      if (draft != found->second.end()) return draft->second;
    }
  }
  auto made = std::make_shared<const collectives::Drafts>(make());
  const std::lock_guard lock(mutex_);
  if (numbers_ > kMostNumbers) {
    drafts_.clear();
    numbers_ = 0;
  }
  const auto [of_groups, is_new] = drafts_.try_emplace(groups);
  numbers_ += (is_new ? numbers_in(groups) : 0) + numbers_in(*made);
  return of_groups->second.emplace(rest, std::move(made)).first->second;
}

}  // namespace debubble
