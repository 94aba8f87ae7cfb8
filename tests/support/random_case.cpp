#include "tests/support/random_case.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "tests/support/random_features.hpp"

namespace debubble::testing {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

std::int32_t mirror(int stage, int devices) {
  const int place = stage % (2 * devices);
  return place < devices ? place : 2 * devices - 1 - place;
}

// One replica's stages on devices: around the loop, in a V, or anywhere.
std::vector<std::int32_t> random_places(int stages, int devices, Dice& dice) {
  std::vector<std::int32_t> places;
  const int kind = dice.from(0, 3);
  for (int s = 0; s < stages; ++s) {
    if (kind == 0) places.push_back(s % devices);
    if (kind == 1) places.push_back(devices - 1 - s % devices);
    if (kind == 2) places.push_back(mirror(s, devices));
    if (kind == 3) places.push_back(dice.from(0, devices - 1));
  }
  return places;
}

bool same_piece(const Op& a, const Op& b) { return a.microbatch == b.microbatch; }

bool is_gradient(OpKind kind) { return kind == OpKind::kBackward || kind == OpKind::kInputGrad; }

bool uses(const Op& later, const Op& earlier) {
  if (!same_piece(later, earlier)) return false;
  if (later.kind == OpKind::kVocabularyGradient) return earlier.kind == OpKind::kVocabularyLogits;
  if (is_vocabulary(later.kind) || is_vocabulary(earlier.kind)) return false;  // `runnable` has asked
  const int step = later.stage - earlier.stage;
  if (later.kind == OpKind::kForward) return earlier.kind == OpKind::kForward && step == 1;
  if (later.kind == OpKind::kWeightGrad) return earlier.kind == OpKind::kInputGrad && step == 0;
  return (earlier.kind == OpKind::kForward && step == 0) || (is_gradient(earlier.kind) && step == -1);
}

// Hands out, op by op, what may run next.
class ListScheduler {
 public:
  ListScheduler(Schedule& schedule, Dice& dice)
      : schedule_(schedule), dice_(dice), split_odds_(dice.from(0, 2)), pairs_(dice.once_in(3)) {
    const std::size_t count = at(schedule.stages) * at(schedule.total_pieces());
    const std::size_t shards = at(schedule.devices) * at(schedule.total_pieces());
    logits_.assign(shards, false);
    vocabulary_.assign(shards, false);
    forwards_.assign(count, false);
    gradients_.assign(count, false);
    weights_.assign(count, false);
    for (std::size_t i = 0; i < count; ++i) split_.push_back(split_odds_ == 2 || (split_odds_ == 1 && dice.once_in(2)));
  }

  void run() {
    while (true) {
      std::vector<std::pair<int, Op>> can_run = runnable();
      if (can_run.empty()) return;
      const auto [device, op] = can_run[at(dice_.from(0, static_cast<int>(can_run.size()) - 1))];
      auto& row = schedule_.rows[at(device)];
      emit(row, op);
      if (pairs_ && dice_.once_in(3)) pair_up(device, row);
    }
  }

 private:
  [[nodiscard]] std::size_t slot(int stage, int microbatch) const {
    return at(stage) * at(schedule_.total_pieces()) + at(microbatch);
  }
  [[nodiscard]] int device_of(const Op& op) const {
    return schedule_.placement.device_of(schedule_.replica_of[at(op.microbatch)], op.stage);
  }

  void pair_up(int device, std::vector<Op>& row) {
    std::vector<Op> partners;
    for (const auto& [other_device, op] : runnable()) {
      const bool independent = !uses(op, row.back()) && !may_not_share_a_cell(op, row.back());
      if (other_device == device && independent) partners.push_back(op);
    }
    if (partners.empty()) return;
    row.back().paired_with_next = true;
    emit(row, partners[at(dice_.from(0, static_cast<int>(partners.size()) - 1))]);
  }

  // What comes to stand in a cell with a shard or a slice may have become possible through the other member only.
  [[nodiscard]] bool may_not_share_a_cell(const Op& a, const Op& b) const {
    const bool shards = is_vocabulary(a.kind) || is_vocabulary(b.kind);
    const bool same_microbatch = a.microbatch / schedule_.pieces == b.microbatch / schedule_.pieces;
    return shards || (schedule_.sliced && same_microbatch);
  }

  void emit(std::vector<Op>& row, const Op& op) {
    row.push_back(op);
    if (is_vocabulary(op.kind)) {
      (op.kind == OpKind::kVocabularyLogits ? logits_ : vocabulary_)[shard(op.stage, op.microbatch)] = true;
      return;
    }
    const std::size_t index = slot(op.stage, op.microbatch);
    if (op.kind == OpKind::kForward) forwards_[index] = true;
    if (op.kind == OpKind::kBackward || op.kind == OpKind::kInputGrad) gradients_[index] = true;
    if (op.kind == OpKind::kBackward || op.kind == OpKind::kWeightGrad) weights_[index] = true;
  }

  [[nodiscard]] std::vector<std::pair<int, Op>> runnable() const {
    std::vector<std::pair<int, Op>> ops;
    for (int stage = 0; stage < schedule_.stages; ++stage) {
      for (int mb = 0; mb < schedule_.total_pieces(); ++mb) {
        Op op;
        op.stage = stage;
        op.microbatch = mb;
        if (next_kind(stage, mb, op.kind)) ops.emplace_back(device_of(op), op);
      }
    }
    if (schedule_.vocabulary_barriers > 0) add_shards(ops);
    return ops;
  }

  [[nodiscard]] std::size_t shard(int device, int mb) const {
    return at(device) * at(schedule_.total_pieces()) + at(mb);
  }
  [[nodiscard]] bool all_shards(const std::vector<bool>& done, int mb) const {
    for (int d = 0; d < schedule_.devices; ++d) {
      if (!done[shard(d, mb)]) return false;
    }
    return true;
  }

  void add_shards(std::vector<std::pair<int, Op>>& ops) const {
    for (int mb = 0; mb < schedule_.total_pieces(); ++mb) {
      const bool all_logits = all_shards(logits_, mb);
      for (int d = 0; d < schedule_.devices; ++d) {
        if (!logits_[shard(d, mb)] && forwards_[slot(schedule_.stages - 1, mb)]) {
          ops.emplace_back(d, Op{OpKind::kVocabularyLogits, false, d, mb});
        }
        if (all_logits && !vocabulary_[shard(d, mb)]) {
          ops.emplace_back(d, Op{OpKind::kVocabularyGradient, false, d, mb});
        }
      }
    }
  }

  // Slices of a microbatch run forward in order and backward in reverse order.
  [[nodiscard]] bool slice_may_run(int stage, int mb, bool forward) const {
    if (!schedule_.sliced) return true;
    const int place = mb % schedule_.pieces;
    if (forward) return place == 0 || forwards_[slot(stage, mb - 1)];
    return place + 1 == schedule_.pieces || gradients_[slot(stage, mb + 1)];
  }
  [[nodiscard]] bool loss_is_known(int mb) const {
    if (schedule_.vocabulary_barriers == 0) return true;
    return all_shards(schedule_.vocabulary_barriers == 1 ? logits_ : vocabulary_, mb);
  }

  [[nodiscard]] bool next_kind(int stage, int mb, OpKind& kind) const {
    const std::size_t index = slot(stage, mb);
    if (!forwards_[index]) {
      kind = OpKind::kForward;
      return slice_may_run(stage, mb, true) && (stage == 0 || forwards_[slot(stage - 1, mb)]);
    }
    if (!gradients_[index]) {
      kind = split_[index] ? OpKind::kInputGrad : OpKind::kBackward;
      if (!slice_may_run(stage, mb, false)) return false;
      return stage + 1 == schedule_.stages ? loss_is_known(mb) : gradients_[slot(stage + 1, mb)];
    }
    kind = OpKind::kWeightGrad;
    return !weights_[index];
  }

  Schedule& schedule_;
  Dice& dice_;
  int split_odds_ = 0;  // 0 never, 1 half of the backwards, 2 all
  bool pairs_ = false;
  std::vector<bool> split_;
  std::vector<bool> logits_;      // by device and piece: S
  std::vector<bool> vocabulary_;  // by device and piece: T
  std::vector<bool> forwards_;
  std::vector<bool> gradients_;
  std::vector<bool> weights_;
};

}  // namespace

namespace {

Schedule random_shape(Dice& dice) {
  Schedule schedule;
  schedule.name = "random";
  schedule.devices = dice.from(1, 6);
  schedule.stages = dice.once_in(3) ? schedule.devices * dice.from(1, 2) : dice.from(1, 8);
  schedule.chunks = (schedule.stages + schedule.devices - 1) / schedule.devices;
  schedule.microbatches = dice.from(1, 5);
  schedule.pieces = dice.once_in(4) ? dice.from(2, 3) : 1;
  const int replicas = dice.once_in(3) ? 2 : 1;
  std::vector<std::int32_t> places;
  for (int r = 0; r < replicas; ++r) {
    const auto of_replica = random_places(schedule.stages, schedule.devices, dice);
    places.insert(places.end(), of_replica.begin(), of_replica.end());
  }
  schedule.placement = Placement(replicas, schedule.stages, places);
  for (int i = 0; i < schedule.total_pieces(); ++i) schedule.replica_of.push_back(dice.from(0, replicas - 1));
  std::sort(schedule.replica_of.begin(), schedule.replica_of.end());
  schedule.rows.resize(at(schedule.devices));
  return schedule;
}

}  // namespace

Schedule random_schedule(Dice& dice) {
  Schedule schedule = random_shape(dice);
  ListScheduler(schedule, dice).run();
  return schedule;
}

Schedule random_schedule_with(const Features& features, Dice& dice) {
  Schedule schedule = random_shape(dice);
  if (features.shares || features.slices) cut_pieces(schedule, features, dice);
  if (features.shards) {
    schedule.vocabulary_barriers = dice.from(1, 2);
    if (schedule.placement.replicas() > 1) keep_one_replica(schedule);
  }
  schedule.pairs_run_side_by_side = features.side_by_side;
  schedule.replicas_share_weights = dice.once_in(2);
  ListScheduler(schedule, dice).run();
  if (features.recompute) add_recomputes(schedule, dice);
  if (features.copies) add_copies(schedule, dice);
  return schedule;
}

void shuffle_rows(Schedule& schedule, Dice& dice) {
  for (auto& row : schedule.rows) {
    for (Op& op : row) op.paired_with_next = false;
  }
  const int swaps = dice.from(1, 12);
  for (int n = 0; n < swaps; ++n) {
    auto& row = schedule.rows[at(dice.from(0, schedule.devices - 1))];
    if (row.size() < 2) continue;
    const std::size_t first = at(dice.from(0, static_cast<int>(row.size()) - 2));
    if (!uses(row[first + 1], row[first])) std::swap(row[first], row[first + 1]);
  }
}

namespace {

struct Range {
  int low = 0;
  int high = 0;
};

StageCost random_cost(Dice& dice, Range time, Range size) {
  const auto of_time = [&] { return Nanoseconds{dice.from(time.low, time.high)}; };
  const auto of_size = [&] { return Bytes{dice.from(size.low, size.high)}; };
  StageCost cost;
  for (Nanoseconds* each : {&cost.forward, &cost.backward, &cost.input_grad, &cost.weight_grad}) *each = of_time();
  for (Bytes* each : {&cost.activation, &cost.weight_grad_held, &cost.output, &cost.weights, &cost.gradients,
                      &cost.optimizer, &cost.workspace}) {
    *each = of_size();
  }
  return cost;
}

}  // namespace

void add_feature_costs(StageCosts& costs, Dice& dice) {
  const std::vector<Range> ranges{{0, 3}, {0, 0}, {1, 1}, {0, 20}, {1'000, 2'000'003}};
  const auto any = [&] { return ranges[at(dice.from(0, static_cast<int>(ranges.size()) - 1))]; };
  const Range time = any();
  const Range size = any();
  const auto of_time = [&] { return Nanoseconds{dice.from(time.low, time.high)}; };
  for (StageCost& cost : costs.stages) {
    cost.recompute = of_time();
    cost.copy = of_time();
    cost.checkpoint = dice.from(size.low, size.high);
    cost.comm_buffers = dice.from(size.low, size.high);
  }
  costs.vocabulary = VocabularyCost{of_time(), of_time(), of_time(), Bytes{dice.from(size.low, size.high)}};
}

StageCosts random_costs(int stages, Dice& dice) {
  const std::vector<Range> ranges{{0, 3}, {0, 0}, {1, 1}, {0, 20}, {1'000, 2'000'003}};
  const auto any = [&] { return ranges[at(dice.from(0, static_cast<int>(ranges.size()) - 1))]; };
  const Range time = any();
  const Range size = any();
  StageCosts costs;
  for (int s = 0; s < stages; ++s) costs.stages.push_back(random_cost(dice, time, size));
  if (dice.once_in(3)) costs.overlapped_pair = dice.from(time.low, 2 * time.high);
  return costs;
}

HopFigures random_link(Dice& dice) {
  const std::vector<Nanoseconds> latencies{0, 0, 1, 2, 5, 777'777};
  const std::vector<std::int64_t> bandwidths{0, 0, 1, 3, 1'000'000'000, 1'500'000'000, 123'456'789'123, 7'000'000};
  return {latencies[at(dice.from(0, static_cast<int>(latencies.size()) - 1))],
          bandwidths[at(dice.from(0, static_cast<int>(bandwidths.size()) - 1))]};
}

}  // namespace debubble::testing
