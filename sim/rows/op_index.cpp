#include "sim/rows/op_index.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "sim/core/splitmix.hpp"

namespace debubble {
namespace {

// A complete schedule has at least two ops for each (stage, microbatch); a table four times too sparse is no accident
// of a few missing ops. Small ones always fit.
constexpr std::int64_t kEntriesPerOp = 4;
constexpr std::int64_t kEntriesAlways = 1024;

std::int64_t total_pieces(const Schedule& schedule) {
  return static_cast<std::int64_t>(schedule.microbatches) * static_cast<std::int64_t>(schedule.pieces);
}

}  // namespace

OpIndex::OpIndex(const Schedule& schedule)
    : schedule_(&schedule), stages_(schedule.stages), pieces_(total_pieces(schedule)), width_(schedule.stages) {
  std::size_t ops = 0;
  bool has_shards = false;
  row_begin_.reserve(schedule.rows.size() + 1);
  row_begin_.push_back(0);
  for (const auto& row : schedule.rows) {
    ops += row.size();
    has_shards = has_shards || std::any_of(row.begin(), row.end(), [](const Op& op) { return is_vocabulary(op.kind); });
    if (ops > index(std::numeric_limits<std::int32_t>::max()))
      throw std::length_error("a schedule of 2^31 ops or more");
    row_begin_.push_back(static_cast<std::int32_t>(ops));
  }
  device_.resize(ops);
  for (std::int32_t d = 0; d < rows(); ++d) {
    std::fill(device_.begin() + row_begin(d), device_.begin() + row_begin(d + 1), d);
  }

  if (has_shards) width_ = std::max<std::int64_t>(width_, rows());
  const std::int64_t most = kEntriesAlways + kEntriesPerOp * static_cast<std::int64_t>(ops);
  dense_ = width_ >= 0 && pieces_ >= 0 && pieces_ <= std::numeric_limits<std::int32_t>::max() &&
           (width_ == 0 || pieces_ <= most / width_);
  first_.assign(dense_ ? static_cast<std::size_t>(width_ * pieces_) : ops, -1);
  next_.assign(ops, -1);
  for (std::int32_t id = 0; id < size(); ++id) add(id);
}

std::size_t OpIndex::bucket(std::int32_t stage, std::int32_t microbatch) const {
  const auto s = static_cast<std::uint64_t>(stage);
  const auto i = static_cast<std::uint64_t>(microbatch);
  if (dense_) return static_cast<std::size_t>(s * static_cast<std::uint64_t>(pieces_) + i);
  return static_cast<std::size_t>(splitmix64((s << 32) | i) % first_.size());
}

void OpIndex::add(std::int32_t id) {
  const Op& added = op(id);
  if (!in_range(added)) return;
  if (const std::int32_t first = find(added.kind, added.stage, added.microbatch); first >= 0) {
    duplicates_.push_back({id, first});
    return;
  }
  std::int32_t& head = first_[bucket(added.stage, added.microbatch)];
  next_[index(id)] = head;
  head = id;
}

std::int32_t OpIndex::find(OpKind kind, std::int32_t stage, std::int32_t microbatch) const {
  if (!in_range(kind, stage, microbatch) || first_.empty()) return -1;
  for (std::int32_t id = first_[bucket(stage, microbatch)]; id >= 0; id = next_[index(id)]) {
    const Op& candidate = op(id);
    if (candidate.kind == kind && candidate.stage == stage && candidate.microbatch == microbatch) return id;
  }
  return -1;
}

// The feeder comes second: problems are reported, and cycles of a deadlock followed, in this order.
OpIndex::Inputs OpIndex::inputs(const Op& op) const {
  Inputs inputs;
  if (!in_range(op)) return inputs;
  const KindList& needs = rule_of(op.kind).needs;
  const auto add_need = [&](std::size_t k) { inputs.add(find(needs.kinds[k], op.stage, op.microbatch)); };
  if (needs.count > 0) add_need(0);
  inputs.add(feeder(op));
  for (std::size_t k = 1; k < needs.count; ++k) add_need(k);
  return inputs;
}

std::optional<OpKind> OpIndex::gathers(const Op& op) const {
  if (op.kind == OpKind::kVocabularyGradient) return OpKind::kVocabularyLogits;
  if (!makes_input_gradient(op.kind) || op.stage != stages_ - 1 || schedule_->vocabulary_barriers < 1)
    return std::nullopt;
  return schedule_->vocabulary_barriers == 1 ? OpKind::kVocabularyLogits : OpKind::kVocabularyGradient;
}

std::vector<std::int32_t> OpIndex::gathered(const Op& op) const {
  std::vector<std::int32_t> ids;
  const std::optional<OpKind> kind = gathers(op);
  if (!kind || !in_range(op)) return ids;
  for (std::int32_t device = 0; device < rows(); ++device) {
    const std::int32_t shard = find(*kind, device, op.microbatch);
    if (shard >= 0) ids.push_back(shard);
  }
  return ids;
}

std::int32_t OpIndex::find_gradient(std::int32_t stage, std::int32_t microbatch) const {
  const std::int32_t whole = find(OpKind::kBackward, stage, microbatch);
  return whole >= 0 ? whole : find(OpKind::kInputGrad, stage, microbatch);
}

std::int32_t OpIndex::find_same_direction(const Op& op, std::int32_t stage) const {
  if (stage < 0) return -1;
  return makes_input_gradient(op.kind) ? find_gradient(stage, op.microbatch)
                                       : find(OpKind::kForward, stage, op.microbatch);
}

std::int32_t OpIndex::feeder(const Op& op) const {
  if (!in_range(op)) return -1;
  return find_same_direction(op, source_stage(op.kind, op.stage, static_cast<std::int32_t>(stages_)));
}

std::int32_t OpIndex::user(const Op& op) const {
  if (!in_range(op)) return -1;
  return find_same_direction(op, target_stage(op.kind, op.stage, static_cast<std::int32_t>(stages_)));
}

std::int32_t OpIndex::cell_end(std::int32_t id) const {
  const bool pair = op(id).paired_with_next && id + 1 < row_begin(device(id) + 1);
  return id + (pair ? 2 : 1);
}

}  // namespace debubble
