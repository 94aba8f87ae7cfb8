#include "sim/rows/check_features.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "sim/core/at.hpp"
#include "sim/core/piece_share.hpp"

namespace debubble {
namespace {

// The first op of the cell that holds `id`.
std::int32_t cell_begin(const OpIndex& ops, std::int32_t id) {
  const bool second = id > ops.row_begin(ops.device(id)) && ops.op(id - 1).paired_with_next;
  return second ? id - 1 : id;
}

class FeatureChecker {
 public:
  FeatureChecker(const Schedule& schedule, const OpIndex& ops, std::vector<ScheduleProblem>& problems)
      : schedule_(schedule), ops_(ops), problems_(problems) {}

  void check_shares() {
    const auto& shares = schedule_.piece_shares;
    if (shares.empty()) return;
    const bool positive = std::all_of(shares.begin(), shares.end(),
                                      [](std::int64_t share) { return share >= 1 && share <= kMostShares; });
    std::int64_t sum = 0;
    for (const std::int64_t share : shares) sum = std::min(sum + (positive ? share : 0), 2 * kMostShares);
    if (static_cast<std::int64_t>(shares.size()) == schedule_.pieces && positive && sum <= kMostShares) return;
    report("T071", -1, -1,
           std::to_string(shares.size()) + " shares for " + std::to_string(schedule_.pieces) +
               " pieces of a microbatch, which must be whole numbers from 1 that add up to at most " +
               std::to_string(kMostShares),
           "give one share per piece, or none: then all pieces are alike");
  }

  // A stage runs the slices of a microbatch forward from the first to the last and backward from the last to the first:
  // a slice attends to those before it.
  void check_slices() {
    if (!schedule_.sliced) return;
    for (std::int32_t stage = 0; stage < schedule_.stages; ++stage) {
      for (std::int32_t piece = 1; piece < schedule_.total_pieces(); ++piece) {
        if (piece % schedule_.pieces == 0) continue;
        check_in_order(ops_.find(OpKind::kForward, stage, piece - 1), ops_.find(OpKind::kForward, stage, piece));
        check_in_order(ops_.find_gradient(stage, piece), ops_.find_gradient(stage, piece - 1));
      }
    }
  }

  void check_vocabulary() {
    const int barriers = schedule_.vocabulary_barriers;
    if (barriers < 0 || barriers > 2 || (barriers > 0 && schedule_.placement.replicas() != 1)) {
      report("T072", -1, -1,
             "the output layer is split over the devices with " + std::to_string(barriers) + " barriers and " +
                 std::to_string(schedule_.placement.replicas()) + " replicas",
             "such a schedule has one or two barriers per microbatch and one replica");
      return;
    }
    if (barriers == 0) return check_no_shards();
    const std::int64_t wanted = std::int64_t{ops_.rows()} * schedule_.total_pieces();
    if (wanted > ops_.size()) {
      report("T072", -1, -1,
             "every device runs S and T of every microbatch, which takes " + std::to_string(2 * wanted) +
                 " ops, and there are " + std::to_string(ops_.size()) + " in all",
             "");
      return;
    }
    for (std::int32_t device = 0; device < ops_.rows(); ++device) {
      for (std::int32_t piece = 0; piece < schedule_.total_pieces(); ++piece) check_shard(device, piece);
    }
  }

  void check_copies() {
    if (schedule_.copies.empty()) return;
    if (static_cast<std::int32_t>(schedule_.copies.size()) != ops_.rows()) {
      report("T074", -1, -1,
             "copies of " + std::to_string(schedule_.copies.size()) + " devices for " + std::to_string(ops_.rows()) +
                 " rows",
             "give one list of copies per device, or none at all");
      return;
    }
    for (std::int32_t device = 0; device < ops_.rows(); ++device) check_lane(device);
  }

 private:
  void report(std::string code, std::int32_t id, std::int32_t other, std::string message, std::string help) {
    ScheduleProblem problem{std::move(code), -1, -1, -1, -1, std::move(message), std::move(help)};
    if (id >= 0) problem.device = ops_.device(id), problem.position = ops_.position(id);
    if (other >= 0) problem.other_device = ops_.device(other), problem.other_position = ops_.position(other);
    problems_.push_back(std::move(problem));
  }

  // Missing ops are reported elsewhere.
  void check_in_order(std::int32_t first, std::int32_t second) {
    if (first < 0 || second < 0) return;
    const bool same_row = ops_.device(first) == ops_.device(second);
    if (same_row && cell_begin(ops_, first) < cell_begin(ops_, second)) return;
    report("T009", second, first,
           to_string(ops_.op(second)) + " does not run after " + to_string(ops_.op(first)) +
               ", the slice of its sequence that it needs",
           "a device runs the slices of a microbatch forward in order and backward in reverse order");
  }

  void check_no_shards() {
    for (std::int32_t id = 0; id < ops_.size(); ++id) {
      if (!is_vocabulary(ops_.op(id).kind)) continue;
      report("T072", id, -1,
             to_string(ops_.op(id)) + " works on a shard of the vocabulary, and the schedule has no barriers for it",
             "S and T are allowed only where the output layer is split over the devices");
      return;  // the others are wrong in the same way
    }
  }

  void check_shard(std::int32_t device, std::int32_t piece) {
    for (const OpKind kind : {OpKind::kVocabularyLogits, OpKind::kVocabularyGradient}) {
      if (ops_.find(kind, device, piece) >= 0) continue;
      report("T072", -1, -1, to_string(Op{kind, false, device, piece}) + " is missing",
             "every device runs S and T of every microbatch on its shard of the vocabulary");
      problems_.back().device = device;
    }
  }

  [[nodiscard]] static std::string name_of(const Copy& copy) {
    return std::string(copy.way == Copy::Way::kOut ? "the copy out" : "the copy back") + " of " +
           to_string(Op{OpKind::kForward, false, copy.stage, copy.microbatch});
  }

  void check_lane(std::int32_t device) {
    const auto& lane = at(schedule_.copies, device);
    const std::int32_t row = ops_.row_begin(device);
    std::vector<std::size_t> out(to_index(ops_.row_begin(device + 1) - row),
                                 kNone);  // by position of the F: where on the lane
    std::vector<std::size_t> back(out.size(), kNone);
    std::int32_t latest = -1;  // the last cell (its first op) that the lane has waited for up to here
    for (std::size_t k = 0; k < lane.size(); ++k) {
      const std::int32_t forward = check_copy(device, lane[k]);
      if (forward < 0) continue;
      const bool leaves = lane[k].way == Copy::Way::kOut;
      if (at((leaves ? out : back), forward - row) != kNone) {
        report("T003", forward, -1, name_of(lane[k]) + " is there twice", "an activation leaves and comes back once");
        continue;
      }
      at((leaves ? out : back), forward - row) = k;
      latest = std::max(latest, awaited(device, lane[k], forward));
      if (leaves) continue;
      if (at(out, forward - row) == kNone) {
        report("T074", forward, -1, name_of(lane[k]) + " comes before its copy out", "what has not left cannot return");
      } else if (lane[at(out, forward - row)].peer != lane[k].peer) {
        report("T074", forward, -1, name_of(lane[k]) + " returns from another place than it went to", "");
      }
      check_user(forward, latest, lane[k]);
    }
    for (std::int32_t id = row; id < ops_.row_begin(device + 1); ++id) {
      if (at(out, id - row) == kNone || at(back, id - row) != kNone) continue;
      report("T074", id, -1, name_of(lane[at(out, id - row)]) + " has no copy back",
             "the backward needs the activation");
    }
  }

  // The F whose activation it moves; -1, and a problem, where the copy makes no sense on this device.
  std::int32_t check_copy(std::int32_t device, const Copy& copy) {
    const std::int32_t forward = ops_.find(OpKind::kForward, copy.stage, copy.microbatch);
    const auto row = ops_.row_begin(device + 1) - ops_.row_begin(device);
    const bool leaves = copy.way == Copy::Way::kOut;
    std::string fault;
    if (forward < 0 || ops_.device(forward) != device) {
      fault = ", which this device does not run";
    } else if (copy.peer < -1 || copy.peer >= ops_.rows() || copy.peer == device) {
      fault = " goes to device " + std::to_string(copy.peer) + ", which is not another device";
    } else if (copy.after < -1 || copy.after >= row || (leaves && copy.after >= 0)) {
      fault = " waits for position " + std::to_string(copy.after) + ", for which it cannot wait";
    } else if (copy.after >= 0 &&
               cell_begin(ops_, ops_.row_begin(device) + copy.after) != ops_.row_begin(device) + copy.after) {
      fault = " waits for position " + std::to_string(copy.after) + ", which is not the first of its cell";
    }
    if (fault.empty()) return forward;
    report("T074", -1, -1, name_of(copy) + fault,
           "a copy moves the activation of an F of its device to the host (-1) or another device; only a copy back may "
           "wait for a cell of the row");
    problems_.back().device = device;
    return -1;
  }

  // The cell (its first op) that must have ended or begun before the copy starts; -1: none.
  [[nodiscard]] std::int32_t awaited(std::int32_t device, const Copy& copy, std::int32_t forward) const {
    if (copy.way == Copy::Way::kOut) return cell_begin(ops_, forward);
    return copy.after < 0 ? -1 : ops_.row_begin(device) + copy.after;
  }

  // The first op that uses the activation must come after everything that its copy back waits for.
  void check_user(std::int32_t forward, std::int32_t latest, const Copy& copy) {
    const Op& op = ops_.op(forward);
    std::int32_t user = ops_.find(OpKind::kRecompute, op.stage, op.microbatch);
    const std::int32_t backward = ops_.find_gradient(op.stage, op.microbatch);
    if (user < 0 || (backward >= 0 && backward < user)) user = backward;
    if (user < 0 || latest < cell_begin(ops_, user)) return;
    report("T011", user, latest,
           to_string(ops_.op(user)) + " waits for " + name_of(copy) + ", which waits for " +
               to_string(ops_.op(latest)) + ", not earlier in the same row",
           "bring the activation back before its backward: copies of a device run one at a time, in their order");
  }

  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  const Schedule& schedule_;
  const OpIndex& ops_;
  std::vector<ScheduleProblem>& problems_;
};

}  // namespace

void check_features(const Schedule& schedule, const OpIndex& ops, bool placed, std::vector<ScheduleProblem>& problems) {
  FeatureChecker checker(schedule, ops, problems);
  checker.check_shares();
  if (!placed || !ops.dense()) return;
  checker.check_slices();
  checker.check_vocabulary();
  checker.check_copies();
}

}  // namespace debubble
