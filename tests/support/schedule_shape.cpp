#include "tests/support/schedule_shape.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace debubble::testing {
namespace {

// What one device runs of one (stage, piece), in its order: "FB", "FRIW".
using Letters = std::map<std::pair<int, int>, std::string>;

bool is_complete(const std::string& letters) {
  for (const char* whole : {"FB", "FRB", "FIW", "FRIW"}) {
    if (letters == whole) return true;
  }
  return false;
}

std::string collect(const Schedule& schedule, Letters& stages, Letters& shards) {
  for (std::size_t d = 0; d < schedule.rows.size(); ++d) {
    for (const Op& op : schedule.rows[d]) {
      const bool shard = is_vocabulary(op.kind);
      const int replica = schedule.replica_of.at(static_cast<std::size_t>(op.microbatch));
      const int home = shard ? op.stage : schedule.placement.device_of(replica, op.stage);
      if (home != static_cast<int>(d)) return to_string(op) + " is misplaced";
      (shard ? shards : stages)[{op.stage, op.microbatch}] += letter(op.kind);
    }
  }
  return "";
}

std::string slice_problem(const Schedule& schedule) {
  if (!schedule.sliced) return "";
  std::map<std::pair<int, int>, std::pair<int, int>> next;  // stage and microbatch: slice due forward, and backward
  for (const auto& row : schedule.rows) {
    for (const Op& op : row) {
      auto& [forward, backward] =
          next.try_emplace({op.stage, op.microbatch / schedule.pieces}, std::pair{0, schedule.pieces - 1})
              .first->second;
      const int slice = op.microbatch % schedule.pieces;
      if (op.kind == OpKind::kForward && slice != forward++) return to_string(op) + " is not the slice that is due";
      const bool back = op.kind == OpKind::kBackward || op.kind == OpKind::kInputGrad;
      if (back && slice != backward--) return to_string(op) + " is not the slice that is due";
    }
  }
  return "";
}

// Stages that the replicas together put on each device.
std::vector<std::set<std::pair<int, int>>> held_stages(const Schedule& schedule) {
  std::vector<std::set<std::pair<int, int>>> held(static_cast<std::size_t>(schedule.devices));
  for (int replica = 0; replica < schedule.placement.replicas(); ++replica) {
    for (int stage = 0; stage < schedule.stages; ++stage) {
      const int shared = schedule.replicas_share_weights ? 0 : replica;
      held.at(static_cast<std::size_t>(schedule.placement.device_of(replica, stage))).insert({shared, stage});
    }
  }
  return held;
}

}  // namespace

std::string incompleteness(const Schedule& schedule) {
  Letters stages;
  Letters shards;
  if (auto problem = collect(schedule, stages, shards); !problem.empty()) return problem;
  for (int stage = 0; stage < schedule.stages; ++stage) {
    for (int piece = 0; piece < schedule.total_pieces(); ++piece) {
      const std::string& letters = stages[{stage, piece}];
      if (is_complete(letters)) continue;
      return "stage " + std::to_string(stage) + " runs \"" + letters + "\" on microbatch " + std::to_string(piece);
    }
  }
  const bool has_shards = schedule.vocabulary_barriers > 0;
  const std::size_t expected =
      has_shards ? schedule.rows.size() * static_cast<std::size_t>(schedule.total_pieces()) : 0;
  const bool whole = std::all_of(shards.begin(), shards.end(), [](const auto& shard) { return shard.second == "ST"; });
  if (shards.size() != expected || !whole) return "not one S and one T per device and piece";
  return slice_problem(schedule);
}

std::string shape_problem(const Schedule& schedule) {
  if (schedule.rows.size() != static_cast<std::size_t>(schedule.devices)) return "not one row per device";
  const auto pieces = static_cast<std::size_t>(schedule.total_pieces());
  if (schedule.replica_of.size() != pieces) return "replica_of is not one entry per piece";
  const auto shares = schedule.piece_shares.size();
  if (shares != 0 && shares != static_cast<std::size_t>(schedule.pieces)) return "not one share per piece";
  if (!schedule.copies.empty() && schedule.copies.size() != schedule.rows.size()) return "not one list of copies each";
  if (!schedule.placement.well_formed() || schedule.placement.stages() != schedule.stages) return "a broken placement";
  const int replicas = schedule.replicas_share_weights ? 1 : schedule.placement.replicas();
  const auto whole = static_cast<std::size_t>(replicas * schedule.chunks);
  for (std::size_t d = 0; d < schedule.rows.size(); ++d) {
    const std::size_t held = held_stages(schedule)[d].size();
    // With fewer microbatches than ways through shared stages, a device may have no work.
    const bool idle = schedule.replicas_share_weights && schedule.rows[d].empty();
    if (held == whole || (held == 0 && idle)) continue;
    return "device " + std::to_string(d) + " holds " + std::to_string(held) + " stages, not " + std::to_string(whole);
  }
  return incompleteness(schedule);
}

}  // namespace debubble::testing
