#include "cost_models/transformer/known_layers.hpp"

#include <utility>

namespace debubble {
namespace {

constexpr std::size_t kMostKept = 500'000;  // numbers of classes, and times: some 50 MB

}  // namespace

void KnownLayers::make_room() {
  if (kept_ <= kMostKept) return;
  classes_.clear();
  times_.clear();
  kept_ = 0;
}

KnownLayers::Layout KnownLayers::layout_of(const RankLayout& layout) {
  const Parallelism& sizes = layout.sizes;
  return {{sizes.tensor, sizes.context, sizes.expert, sizes.data, sizes.pipeline, sizes.expert_tensor},
          layout.order,
          layout.devices};
}

std::vector<std::size_t> KnownLayers::classes(const RankLayout& layout,
                                              const std::function<std::vector<std::size_t>()>& make) {
  Layout key = layout_of(layout);
  {
    const std::lock_guard lock(mutex_);
    const auto found = classes_.find(key);
    if (found != classes_.end()) return found->second;
  }
  std::vector<std::size_t> made = make();
  const std::lock_guard lock(mutex_);
  make_room();
  kept_ += made.size();
  classes_.emplace(std::move(key), made);
  return made;
}

OpTime KnownLayers::time(const LayerOp& op, Bytes bytes, const ModelRequest& request,
                         const std::function<OpTime()>& make) {
  const Layout layout = layout_of(*request.layout);
  const Collective key{request.place, op.group, op.collective, op.exchange, bytes, *request.generation};
  {
    const std::lock_guard lock(mutex_);
    const auto known = times_.find(layout);
    if (known != times_.end()) {
      const auto found = known->second.find(key);
      if (found != known->second.end()) return found->second;
    }
  }
  const OpTime made = make();
  const std::lock_guard lock(mutex_);
  make_room();
  if (times_[layout].emplace(key, made).second) ++kept_;
  return made;
}

}  // namespace debubble
