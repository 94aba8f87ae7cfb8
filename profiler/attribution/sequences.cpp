#include "profiler/attribution/sequences.hpp"

#include <algorithm>

namespace debubble::attribution {

Sequences::Sequences(std::size_t most_ops) : most_ops_(most_ops), threads_of_(most_ops, std::min(kFirst, most_ops)) {}

void Sequences::add(std::uint32_t thread, std::int64_t sequence, const ForwardOp& op) {
  const auto number = static_cast<std::uint64_t>(sequence);
  const std::size_t most = ops_.size() < kBusyThreads ? most_ops_ : std::min(kMostOpsOfOthers, most_ops_);
  ForwardOp& known = ops_.try_emplace(thread, most, std::min(kFirst, most)).first->second.at(number);
  if (known.range != 0 && known.time > op.time)
    return;  // a later start was seen before; of nested ops the inner counts
  known = op;
  if (op.in_backward) return;
  Owner& owner = threads_of_.at(number);
  owner.contested = owner.known && (owner.contested || owner.thread != thread);
  owner.thread = thread;
  owner.known = true;
}

ForwardOp* Sequences::find_on(std::uint32_t thread, std::int64_t sequence) {
  const auto found = ops_.find(thread);
  return found == ops_.end() ? nullptr : found->second.find(static_cast<std::uint64_t>(sequence));
}

// From the most certain to the least: the forward thread is known; the op was recomputed inside the same outer node, as
// its range opened after that node's; some thread ran an op of this number in its forward. Numbers of several forward
// threads overlap, so the last is a guess where more than one has used it, and counted as such.
const ForwardOp* Sequences::find(const Query& query) {
  if (query.forward_thread != 0) return find_on(query.forward_thread, query.sequence);
  const ForwardOp* own = find_on(query.thread, query.sequence);
  if (own != nullptr && own->in_backward && query.outer != 0 && own->range > query.outer) return own;
  const Owner* owner = threads_of_.find(static_cast<std::uint64_t>(query.sequence));
  if (owner == nullptr) return own;
  if (owner->contested) ++ambiguous_;
  const ForwardOp* op = find_on(owner->thread, query.sequence);
  return op == nullptr ? own : op;
}

}  // namespace debubble::attribution
