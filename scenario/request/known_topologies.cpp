#include "scenario/request/known_topologies.hpp"

#include <utility>

namespace debubble {
namespace {

// A sweep may be one over topologies; those of its latest rows stay.
constexpr std::size_t kMostTopologies = 16;

}  // namespace

KnownTopologies::Known KnownTopologies::get(const std::string& text, const std::function<Known()>& describe) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(text);
    if (found != known_.end()) return found->second;
  }
  Known made = describe();
  const std::lock_guard lock(mutex_);
  if (known_.size() >= kMostTopologies) known_.clear();
  return known_.try_emplace(text, std::move(made)).first->second;
}

}  // namespace debubble
