#include "schedules/transforms/vocabulary_parallel.hpp"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "schedules/common/contract.hpp"
#include "schedules/common/list_timing.hpp"
#include "schedules/transforms/request.hpp"
#include "schedules/transforms/rows.hpp"
#include "sim/rows/op_index.hpp"

namespace debubble {
namespace {

// Where the passes of a sharded output layer go in the rows of a schedule.

constexpr Nanoseconds kNever = std::numeric_limits<Nanoseconds>::max();

// Of what may begin at the same time on one device, the first.
enum Rank { kLogits, kGradientBeforeBarrier, kEarlyForward, kBackward, kGradient, kForward };

struct PlanCandidate {
  Nanoseconds begin = kNever;
  int rank = kForward;
  std::int32_t device = 0;
  Op op;                   // S or T
  std::int32_t cell = -1;  // id of a cell's first op, of all others

  [[nodiscard]] bool before(const PlanCandidate& other) const {
    return std::tie(begin, device, rank) < std::tie(other.begin, other.device, other.rank);
  }
};

class VocabularyPlan {
 public:
  VocabularyPlan(const Schedule& schedule, const PlanningCosts& costs)
      : schedule_(schedule),
        times_(schedule, costs),
        ops_(schedule),
        end_(static_cast<std::size_t>(ops_.size()), kNever),
        logits_(static_cast<std::size_t>(schedule.total_pieces())),
        gradients_(logits_.size()),
        devices_(schedule.rows.size()),
        rows_(schedule.rows.size()) {
    for (std::size_t d = 0; d < devices_.size(); ++d) devices_[d].next = ops_.row_begin(static_cast<std::int32_t>(d));
    for (Barrier& barrier : logits_) barrier.missing = schedule.devices;
    for (Barrier& barrier : gradients_) barrier.missing = schedule.devices;
  }

  std::vector<std::vector<Op>> run() {
    for (;;) {
      PlanCandidate best;
      for (std::int32_t device = 0; device < ops_.rows(); ++device) {
        Device& state = devices_[at(device)];
        if (state.changed) state.best = best_of(device);
        state.changed = false;
        if (state.best.before(best)) best = state.best;
      }
      if (best.begin == kNever) return std::move(rows_);
      take(best);
    }
  }

 private:
  struct Device {
    std::int32_t next = 0;  // id of the first cell of its row that has not run
    Nanoseconds free = 0;
    int early = 0;                        // forwards that ran before their turn
    std::vector<std::int32_t> logits;     // microbatches whose last forward has ended, S not run; oldest first
    std::vector<std::int32_t> gradients;  // microbatches whose S is done everywhere, T not run
    PlanCandidate best;                   // what it would begin next
    bool changed = true;                  // since `best` was found, what it depends on
  };
  struct Barrier {
    int missing = 0;
    Nanoseconds end = 0;  // of the last shard so far
  };

  static std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }
  [[nodiscard]] bool two_barriers() const { return schedule_.vocabulary_barriers == 2; }

  [[nodiscard]] PlanCandidate best_of(std::int32_t device) const {
    const Device& state = devices_[at(device)];
    PlanCandidate best;
    const auto offer = [&](Nanoseconds begin, int rank, const Op& op, std::int32_t cell) {
      if (begin == kNever) return;
      const PlanCandidate candidate{std::max(begin, state.free), rank, device, op, cell};
      if (candidate.before(best)) best = candidate;
    };
    if (!state.logits.empty()) {
      const std::int32_t piece = state.logits.front();
      offer(last_forward_end(piece), kLogits, {OpKind::kVocabularyLogits, false, device, piece}, -1);
    }
    if (!state.gradients.empty()) {
      const std::int32_t piece = state.gradients.front();
      offer(logits_[at(piece)].end + times_.barrier(), two_barriers() ? kGradientBeforeBarrier : kGradient,
            {OpKind::kVocabularyGradient, false, device, piece}, -1);
    }
    offer_cells(device, offer);
    return best;
  }

  template <typename Offer>
  void offer_cells(std::int32_t device, const Offer& offer) const {
    const Device& state = devices_[at(device)];
    const std::int32_t row_end = ops_.row_begin(device + 1);
    if (state.next >= row_end) return;
    offer(ready(state.next), ops_.op(state.next).kind == OpKind::kForward ? kForward : kBackward, {}, state.next);
    const int most = schedule_.vocabulary_barriers * schedule_.chunks * schedule_.pieces;
    // Forwards keep their order.
    if (state.early >= most || has_forward(state.next)) return;
    for (std::int32_t id = ops_.cell_end(state.next); id < row_end; id = ops_.cell_end(id)) {
      if (end_[at(id)] != kNever || !has_forward(id)) continue;
      if (ops_.op(id).paired_with_next) return;
      return offer(ready(id), kEarlyForward, {}, id);
    }
  }

  [[nodiscard]] bool has_forward(std::int32_t cell) const {
    if (ops_.op(cell).kind == OpKind::kForward) return true;
    return ops_.op(cell).paired_with_next && ops_.op(cell + 1).kind == OpKind::kForward;
  }

  [[nodiscard]] Nanoseconds last_forward_end(std::int32_t piece) const {
    return end_[at(ops_.find(OpKind::kForward, schedule_.stages - 1, piece))];
  }

  // When the inputs of a cell are there; never, as long as one has not run.
  [[nodiscard]] Nanoseconds ready(std::int32_t cell) const {
    Nanoseconds latest = 0;
    const std::int32_t cell_end = ops_.cell_end(cell);
    for (std::int32_t member = cell; member < cell_end; ++member) {
      const Op& op = ops_.op(member);
      for (const std::int32_t input : ops_.inputs(op)) {
        if (input >= cell && input < cell_end) continue;
        if (end_[at(input)] == kNever) return kNever;
        const bool remote = ops_.device(input) != ops_.device(cell);
        latest = std::max(latest, end_[at(input)] + (remote ? times_.hop(ops_.op(input).stage, op.stage) : 0));
      }
      if (!makes_input_gradient(op.kind) || op.stage + 1 != schedule_.stages) continue;
      const Barrier& barrier = (two_barriers() ? gradients_ : logits_)[at(op.microbatch)];
      if (barrier.missing > 0) return kNever;
      latest = std::max(latest, barrier.end + times_.barrier());
    }
    return latest;
  }

  void take(const PlanCandidate& candidate) {
    if (candidate.cell >= 0) return take_cell(candidate);
    const std::int32_t piece = candidate.op.microbatch;
    Device& device = devices_[at(candidate.device)];
    const bool logits = candidate.op.kind == OpKind::kVocabularyLogits;
    std::vector<std::int32_t>& queue = logits ? device.logits : device.gradients;
    queue.erase(queue.begin());
    rows_[at(candidate.device)].push_back(candidate.op);
    device.free = candidate.begin + times_.duration(candidate.op);
    device.changed = true;
    Barrier& barrier = (logits ? logits_ : gradients_)[at(piece)];
    barrier.end = std::max(barrier.end, device.free);
    if (--barrier.missing > 0) return;
    for (Device& each : devices_) {
      each.changed = true;
      if (logits) each.gradients.push_back(piece);
    }
  }

  void take_cell(const PlanCandidate& candidate) {
    Device& device = devices_[at(candidate.device)];
    const std::int32_t cell_end = ops_.cell_end(candidate.cell);
    device.free =
        candidate.begin + times_.cell(schedule_.rows[at(candidate.device)], at(ops_.position(candidate.cell)));
    for (std::int32_t id = candidate.cell; id < cell_end; ++id) {
      const Op& op = ops_.op(id);
      rows_[at(candidate.device)].push_back(op);
      end_[at(id)] = device.free;
      device.changed = true;
      if (const std::int32_t user = ops_.user(op); user >= 0) devices_[at(ops_.device(user))].changed = true;
      if (op.kind != OpKind::kForward || op.stage + 1 != schedule_.stages) continue;
      for (Device& each : devices_) {
        each.changed = true;
        each.logits.push_back(op.microbatch);
      }
    }
    if (candidate.cell != device.next) ++device.early;
    const std::int32_t row_end = ops_.row_begin(candidate.device + 1);
    bool own_turn = candidate.cell == device.next;
    while (device.next < row_end && end_[at(device.next)] != kNever) {
      if (!own_turn) --device.early;
      own_turn = false;
      device.next = ops_.cell_end(device.next);
    }
  }

  const Schedule& schedule_;
  PlanTimes times_;
  OpIndex ops_;
  std::vector<Nanoseconds> end_;  // by id
  std::vector<Barrier> logits_;   // by piece
  std::vector<Barrier> gradients_;
  std::vector<Device> devices_;
  std::vector<std::vector<Op>> rows_;
};

// The schedule with S and T in every row. `schedule` says how many barriers there are and has neither yet; so many
// microbatches may a device take in beyond its own row. The rows are those of a run by `costs`, so they cannot
// deadlock. A device that is free takes what can begin first; of several S, then (with two barriers) T, then a forward
// before its turn, then the next op of its row, where T comes before a forward.
std::vector<std::vector<Op>> plan_vocabulary(const Schedule& schedule, const PlanningCosts& costs) {
  return VocabularyPlan(schedule, costs).run();
}

// The transform may be asked before anybody knows the cost of a shard; then it plans for the output layer of the size
// that --times takes by default.
PlanningCosts vocabulary_costs(const Schedule& schedule, const TransformRequest& request) {
  if (request.costs == nullptr) return unit_costs(schedule);
  PlanningCosts costs = *request.costs;
  if (!costs.costs.vocabulary) costs.costs.vocabulary = unit_costs(schedule).costs.vocabulary;
  return costs;
}

Schedule vocabulary_parallel(const Schedule& before, const TransformRequest& request) {
  const TransformParams params(request, "vocabulary-parallel");
  const std::string barriers = params.choice("barriers", "1|2");
  if (before.vocabulary_barriers > 0) {
    params.refuse("M008", "", "the output layer of " + before.name + " is cut along the vocabulary already",
                  "leave the second --transform vocabulary-parallel out");
  }
  if (before.placement.replicas() != 1) {
    params.refuse("M007", "",
                  before.name + " runs " + std::to_string(before.placement.replicas()) +
                      " replicas of the model in one pipeline, each with an output layer of its own",
                  "use it with a schedule of one replica");
  }
  if (before.asynchrony) {
    params.refuse("M007", "",
                  before.name +
                      " updates the weights as soon as a backward ends, so shards of one layer "
                      "would hold different versions",
                  "use it with a schedule that flushes");
  }
  if (!before.copies.empty()) {
    params.refuse("M007", "",
                  "the copies of " + before.name + " are made for the order of its rows, which would change",
                  "apply vocabulary-parallel first, then offload");
  }
  Schedule schedule = before;
  schedule.vocabulary_barriers = barriers == "1" ? 1 : 2;
  schedule.rows = plan_vocabulary(schedule, vocabulary_costs(before, request));
  sign(schedule, "vocabulary-parallel", {{"barriers", barriers}});
  return schedule;
}

}  // namespace

const TransformEntry& vocabulary_parallel_entry() {
  static const TransformEntry entry{
      .name = "vocabulary-parallel",
      .summary = "the output layer in shards on all devices: two passes S and T per microbatch and device",
      .citation = "Yeung, Qi, Lin, Wan, Balancing Pipeline Parallelism with Vocabulary Parallelism, arXiv 2411.05288",
      .certainty = Certainty::kDerived,
      .certainty_note =
          "the insertion is ours: a run by list order; tested for the paper's peaks (p + 1, p + 2), for "
          "1F1B's bubble, and against every insertion for p = 2 and m <= 2; which of the paper's algorithms "
          "needs which peak is inferred",
      .constraints = "refuses schedules of several replicas, without a flush, with copies, and with S and T already",
      .params = {{"barriers", "1|2", "1", "1: the last stage's backward waits for all S; 2: for all T"}},
      .advice =
          "For large vocabularies, whose output layer makes the last stage the slowest. With 1F1B each device "
          "holds one microbatch more per barrier.",
      .apply = vocabulary_parallel,
      .uses_costs = true};
  return entry;
}

}  // namespace debubble
