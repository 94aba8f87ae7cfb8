#include "sim/rows/check.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "sim/core/at.hpp"
#include "sim/core/words.hpp"
#include "sim/rows/check_features.hpp"
#include "sim/rows/op_index.hpp"

namespace debubble {
namespace {

std::string name_of_op(OpKind kind, std::int32_t stage, std::int32_t microbatch) {
  return to_string(Op{kind, false, stage, microbatch});
}

class RowChecker {
 public:
  explicit RowChecker(const Schedule& schedule)
      : schedule_(schedule),
        ops_(schedule),
        pieces_(static_cast<std::int64_t>(schedule.microbatches) * static_cast<std::int64_t>(schedule.pieces)) {}

  std::vector<ScheduleProblem> run() {
    check_shape();
    for (std::int32_t id = 0; id < ops_.size() && !is_full(); ++id) {
      if (!ops_.in_range(ops_.op(id))) {
        report_out_of_range(id);
        continue;
      }
      if (placed_) check_device(id);
      check_halves(id);
      check_own_order(id);
    }
    check_cells();
    for (const OpIndex::Duplicate& twice : ops_.duplicates()) {
      if (is_full()) break;
      report("T003", twice.id, twice.first, to_string(ops_.op(twice.id)) + " is in the schedule twice",
             "every op runs exactly once");
    }
    check_features(schedule_, ops_, placed_, problems_);
    std::stable_sort(problems_.begin(), problems_.end(), [](const ScheduleProblem& a, const ScheduleProblem& b) {
      return std::tie(a.device, a.position) < std::tie(b.device, b.position);
    });
    check_nothing_missing();
    return std::move(problems_);
  }

 private:
  void report(std::string code, std::int32_t id, std::int32_t other, std::string message, std::string help) {
    ScheduleProblem problem{std::move(code), -1, -1, -1, -1, std::move(message), std::move(help)};
    if (id >= 0) problem.device = ops_.device(id), problem.position = ops_.position(id);
    if (other >= 0) problem.other_device = ops_.device(other), problem.other_position = ops_.position(other);
    if (!is_full()) problems_.push_back(std::move(problem));
  }
  // Then no more is reported, so that nothing is gained by looking.
  [[nodiscard]] bool is_full() const { return problems_.size() >= kMostScheduleProblems; }
  void report_shape(std::string message) { report("T001", -1, -1, std::move(message), ""); }

  // The parts of the value must agree before placement and replica_of may be used; `placed_` says that they do.
  void check_shape() {
    const Schedule& s = schedule_;
    if (s.devices < 1 || s.stages < 1 || s.microbatches < 1 || s.pieces < 1) {
      report_shape("a schedule needs at least one device, stage, microbatch and piece; this one has " +
                   std::to_string(s.devices) + ", " + std::to_string(s.stages) + ", " + std::to_string(s.microbatches) +
                   " and " + std::to_string(s.pieces));
    }
    if (static_cast<std::int64_t>(s.rows.size()) != s.devices) {
      report_shape(counted(static_cast<std::int64_t>(s.rows.size()), "row") + " for " + counted(s.devices, "device"));
    }
    if (static_cast<std::int64_t>(s.replica_of.size()) != pieces_) {
      report_shape("the replica of " + counted(static_cast<std::int64_t>(s.replica_of.size()), "microbatch piece") +
                   " is known, and there are " + std::to_string(pieces_));
    }
    const bool same_pieces = static_cast<std::int64_t>(s.replica_of.size()) == pieces_;
    if (!s.placement.well_formed() || s.placement.stages() != s.stages || s.placement.replicas() < 1) {
      report_shape("the placement is of " + counted(s.placement.replicas(), "replica") + " of " +
                   counted(s.placement.stages(), "stage") + ", and the schedule has " + counted(s.stages, "stage"));
      return;
    }
    check_placement();
    placed_ = check_replicas() && same_pieces;
  }

  void check_placement() {
    const Placement& placement = schedule_.placement;
    for (int replica = 0; replica < placement.replicas(); ++replica) {
      for (int stage = 0; stage < placement.stages(); ++stage) {
        const std::int32_t device = placement.device_of(replica, stage);
        if (device >= 0 && device < schedule_.devices) continue;
        report_shape("stage " + std::to_string(stage) + " of replica " + std::to_string(replica) + " is on device " +
                     std::to_string(device) + " of " + std::to_string(schedule_.devices));
      }
    }
  }

  bool check_replicas() {
    const int replicas = schedule_.placement.replicas();
    bool fine = true;
    for (std::size_t i = 0; i < schedule_.replica_of.size(); ++i) {
      const std::int32_t replica = schedule_.replica_of[i];
      if (replica >= 0 && replica < replicas) continue;
      fine = false;
      report_shape("microbatch " + std::to_string(i) + " belongs to replica " + std::to_string(replica) + " of " +
                   std::to_string(replicas));
    }
    return fine;
  }

  void report_out_of_range(std::int32_t id) {
    const Op& op = ops_.op(id);
    const std::int64_t places = is_vocabulary(op.kind) ? ops_.rows() : schedule_.stages;
    const bool stage_is_wrong = op.stage < 0 || op.stage >= places;
    const std::int64_t limit = stage_is_wrong ? places : pieces_;
    const std::string noun = !stage_is_wrong ? "microbatch" : is_vocabulary(op.kind) ? "device" : "stage";
    report("T002", id, -1,
           to_string(op) + " names " + noun + " " + std::to_string(stage_is_wrong ? op.stage : op.microbatch) +
               ", and there " + (limit == 1 ? "is " : "are ") + counted(limit, noun),
           limit < 1 ? "" : noun + " numbers run from 0 to " + std::to_string(limit - 1));
  }

  // The device that holds the stage for this microbatch; -1 when there is no such device.
  [[nodiscard]] std::int32_t home(std::int32_t stage, std::int32_t microbatch) const {
    const std::int32_t replica = at(schedule_.replica_of, microbatch);
    const std::int32_t device = schedule_.placement.device_of(replica, stage);
    return device < 0 || device >= ops_.rows() ? -1 : device;
  }

  void check_device(std::int32_t id) {
    const Op& op = ops_.op(id);
    if (is_vocabulary(op.kind)) {
      if (ops_.device(id) == op.stage) return;
      report("T008", id, -1, to_string(op) + " is on device " + std::to_string(ops_.device(id)),
             "the number before S and T is the device that holds the shard of the vocabulary");
      return;
    }
    const std::int32_t device = home(op.stage, op.microbatch);
    if (device < 0 || ops_.device(id) == device) return;
    const std::int32_t forward = ops_.find(OpKind::kForward, op.stage, op.microbatch);
    report("T008", id, forward == id ? -1 : forward,
           to_string(op) + " is on device " + std::to_string(ops_.device(id)) + ", but stage " +
               std::to_string(op.stage) + " of microbatch " + std::to_string(op.microbatch) + " belongs to device " +
               std::to_string(device),
           "a microbatch runs forward and backward of a stage on the one device that holds it");
  }

  // A backward is either whole (B) or split (I and W), not both and not half.
  void check_halves(std::int32_t id) {
    const Op& op = ops_.op(id);
    if (op.kind != OpKind::kInputGrad && op.kind != OpKind::kWeightGrad) return;
    const std::int32_t whole = ops_.find(OpKind::kBackward, op.stage, op.microbatch);
    const OpKind other_kind = op.kind == OpKind::kInputGrad ? OpKind::kWeightGrad : OpKind::kInputGrad;
    const std::int32_t other = ops_.find(other_kind, op.stage, op.microbatch);
    if (whole >= 0 && other < 0 && op.kind == OpKind::kWeightGrad) {
      report("T007", id, whole,
             to_string(op) + " repeats a part of " + to_string(ops_.op(whole)) + ", the whole backward",
             "B is the whole backward, I and W its halves; older PyTorch tables write B for I and BW for B: rename "
             "B to I, then BW to B");
    } else if (whole >= 0) {
      report("T007", id, whole,
             to_string(op) + " repeats a part of " + to_string(ops_.op(whole)) + ", the whole backward",
             "run either B, or I and W");
    } else if (other < 0) {
      report("T004", id, -1,
             to_string(op) + " is half a backward: " + name_of_op(other_kind, op.stage, op.microbatch) + " is missing",
             "run both I and W, or B alone");
    }
  }

  void check_own_order(std::int32_t id) {
    for (const std::int32_t input : ops_.inputs(ops_.op(id))) check_earlier(id, input);
    for (const std::int32_t input : ops_.gathered(ops_.op(id))) check_earlier(id, input);
  }

  void check_earlier(std::int32_t id, std::int32_t input) {
    const bool later_in_row = ops_.device(input) == ops_.device(id) && input > id;
    const bool same_cell = input == id + 1 && ops_.op(id).paired_with_next;
    if (!later_in_row || same_cell) return;
    report("T009", id, input,
           to_string(ops_.op(id)) + " needs " + to_string(ops_.op(input)) + ", which comes later in the same row",
           "a device runs its row strictly in order");
  }

  void check_cells() {
    for (std::int32_t id = 0; id < ops_.size(); ++id) {
      if (!ops_.op(id).paired_with_next) continue;
      const std::int32_t end = ops_.cell_end(id);
      if (end == id + 1) {
        report("T010", id, -1, to_string(ops_.op(id)) + " is paired with the next op, and it is the last of its row",
               "an overlapped pair is two ops");
      } else if (ops_.op(end - 1).paired_with_next) {
        report("T010", end - 1, id, to_string(ops_.op(end - 1)) + " is in a pair and paired with a third op",
               "an overlapped pair is two ops");
      } else {
        check_independent(id, id + 1);
        check_independent(id + 1, id);
      }
      id = end - 1;
    }
  }

  // The members of a pair run together, so neither may use what the other makes. Only a late recomputation is the first
  // half of its own backward's cell.
  void check_independent(std::int32_t user, std::int32_t maker) {
    if (ops_.op(maker).kind == OpKind::kRecompute && maker < user) return;
    const auto check = [&](std::int32_t input) {
      if (input != maker) return;
      report("T010", user, maker,
             to_string(ops_.op(user)) + " needs " + to_string(ops_.op(maker)) + ", with which it is paired",
             "the members of an overlapped pair run together: pair ops of different microbatches");
    };
    for (const std::int32_t input : ops_.inputs(ops_.op(user))) check(input);
    for (const std::int32_t input : ops_.gathered(ops_.op(user))) check(input);
  }

  void check_nothing_missing() {
    if (schedule_.stages < 1 || pieces_ < 1) return;  // check_shape has said so
    if (!ops_.dense()) {
      report("T004", -1, -1,
             counted(ops_.size(), "op") + " cannot be a whole schedule of " + counted(schedule_.stages, "stage") +
                 " and " + counted(pieces_, "microbatch") + ", which takes at least two for each stage and microbatch",
             "");
      return;
    }
    for (std::int32_t microbatch = 0; microbatch < pieces_; ++microbatch) {
      for (std::int32_t stage = 0; stage < schedule_.stages; ++stage) check_present(stage, microbatch);
    }
  }

  void check_present(std::int32_t stage, std::int32_t microbatch) {
    const auto has = [&](OpKind kind) { return ops_.find(kind, stage, microbatch) >= 0; };
    const bool forward = has(OpKind::kForward);
    const bool backward = has(OpKind::kBackward) || has(OpKind::kInputGrad) || has(OpKind::kWeightGrad);
    if (forward && backward) return;
    const std::string f = name_of_op(OpKind::kForward, stage, microbatch);
    const std::string b = name_of_op(OpKind::kBackward, stage, microbatch);
    const bool kept = problems_.size() < kMostScheduleProblems;
    const std::string i = name_of_op(OpKind::kInputGrad, stage, microbatch);
    const std::string w = name_of_op(OpKind::kWeightGrad, stage, microbatch);
    if (backward) {
      report("T004", -1, -1,
             f + " is missing, though the backward of stage " + std::to_string(stage) + " runs on microbatch " +
                 std::to_string(microbatch),
             "");
    } else if (forward) {
      report("T004", -1, -1, "the backward after " + f + " is missing: neither " + b + ", nor " + i + " and " + w,
             "add " + b + ", or " + i + " and " + w + ", after " + f);
    } else {
      report("T004", -1, -1,
             "stage " + std::to_string(stage) + " never runs microbatch " + std::to_string(microbatch) + ": " + f +
                 " and its backward are missing",
             "");
    }
    if (placed_ && kept) problems_.back().device = home(stage, microbatch);
  }

  const Schedule& schedule_;
  OpIndex ops_;
  std::int64_t pieces_;
  bool placed_ = false;
  std::vector<ScheduleProblem> problems_;
};

}  // namespace

std::vector<ScheduleProblem> find_problems(const Schedule& schedule) { return RowChecker(schedule).run(); }

}  // namespace debubble
