#include "schedules/exchange/expressible.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>
#include <vector>

namespace debubble {
namespace {

template <typename Holds>
bool any_op(const Schedule& schedule, const Holds& holds) {
  return std::any_of(schedule.rows.begin(), schedule.rows.end(),
                     [&](const auto& row) { return std::any_of(row.begin(), row.end(), holds); });
}

bool has_copies(const Schedule& schedule) {
  return std::any_of(schedule.copies.begin(), schedule.copies.end(), [](const auto& row) { return !row.empty(); });
}

bool has_uneven_pieces(const Schedule& schedule) {
  return std::adjacent_find(schedule.piece_shares.begin(), schedule.piece_shares.end(), std::not_equal_to<>()) !=
         schedule.piece_shares.end();
}

// Rows tell replicas apart by the devices of their stages alone.
bool has_replicas_alike(const Schedule& schedule) {
  const Placement& placement = schedule.placement;
  std::set<std::vector<std::int32_t>> seen;
  for (int replica = 0; replica < placement.replicas(); ++replica) {
    std::vector<std::int32_t> devices;
    for (int stage = 0; stage < placement.stages(); ++stage) devices.push_back(placement.device_of(replica, stage));
    if (!seen.insert(std::move(devices)).second) return true;
  }
  return false;
}

// All its pairs are an R with the backward that needs it.
bool recomputes_late(const Schedule& schedule) {
  return !any_op(schedule, [&](const Op& op) { return op.paired_with_next && op.kind != OpKind::kRecompute; });
}

// What none of them can say.
std::string not_sayable(const Schedule& schedule) {
  if (any_op(schedule, [](const Op& op) { return is_vocabulary(op.kind); })) {
    return "it has passes over shards of the vocabulary (S and T)";
  }
  if (has_copies(schedule)) return "it moves activations away and back";
  if (schedule.asynchrony) return "it runs as a stream without a flush";
  if (has_replicas_alike(schedule)) return "two of its replicas are on the same devices";
  if (schedule.replicas_share_weights) return "its replicas share their weights";
  if (has_uneven_pieces(schedule)) return "its slices are of unequal size";
  return "";
}

}  // namespace

std::string not_expressible(const Schedule& schedule, ExchangeFormat format) {
  if (std::string reason = not_sayable(schedule); !reason.empty()) return reason;
  const bool pairs = any_op(schedule, [](const Op& op) { return op.paired_with_next; });
  if (format == ExchangeFormat::kPytorchTable) {
    if (any_op(schedule, [](const Op& op) { return op.kind == OpKind::kRecompute; })) {
      return "it recomputes forwards at places of its own (R)";
    }
    if (schedule.sliced && schedule.pieces > 1) return "it cuts microbatches into slices that depend on each other";
    if (pairs && schedule.pairs_run_side_by_side) return "its pairs run side by side on two engines";
    return "";
  }
  if (schedule.placement.replicas() > 1) return "it has several replicas of each stage";
  if (pairs && recomputes_late(schedule)) {
    return "it recomputes late, R in one cell with its backward, and a node of a list waits for its own inputs alone; "
           "recompute:when=early has words";
  }
  if (pairs) return "it has overlapped pairs";
  if (schedule.pieces > 1 && !schedule.sliced) return "it cuts microbatches into parts that are no slices";
  return "";
}

}  // namespace debubble
