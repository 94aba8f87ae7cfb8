// OpIndex: where each op of a schedule is and what it needs, for schedules that may hold anything.
//
// An op's id is its number when the rows are read one after another. Numbers out of range are kept out of the index;
// of an op that appears twice the first is the one found. Memory is linear in the number of ops, whatever their
// numbers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/core/schedule.hpp"

#include "sim/core/at.hpp"

namespace debubble {

class OpIndex {
 public:
  // Ids of at most three ops; `count` says how many.
  struct Inputs {
    std::array<std::int32_t, 3> ids{};
    int count = 0;

    void add(std::int32_t id) {
      if (id >= 0) at(ids, count++) = id;
    }
    [[nodiscard]] const std::int32_t* begin() const { return ids.data(); }
    [[nodiscard]] const std::int32_t* end() const { return ids.data() + count; }
  };

  struct Duplicate {
    std::int32_t id = -1;
    std::int32_t first = -1;
  };

  // Throws std::length_error for more than 2^31 - 1 ops. The schedule must outlive the index.
  explicit OpIndex(const Schedule& schedule);

  [[nodiscard]] const Schedule& schedule() const { return *schedule_; }
  [[nodiscard]] std::int32_t size() const { return row_begin_.back(); }
  [[nodiscard]] std::int32_t rows() const { return static_cast<std::int32_t>(row_begin_.size()) - 1; }
  [[nodiscard]] std::int32_t row_begin(std::int32_t device) const { return row_begin_[index(device)]; }
  [[nodiscard]] std::int32_t device(std::int32_t id) const { return device_[index(id)]; }
  [[nodiscard]] std::int32_t position(std::int32_t id) const { return id - row_begin_[index(device(id))]; }
  [[nodiscard]] const Op& op(std::int32_t id) const { return schedule_->rows[index(device(id))][index(position(id))]; }
  [[nodiscard]] const std::vector<Duplicate>& duplicates() const { return duplicates_; }

  [[nodiscard]] bool in_range(const Op& op) const { return in_range(op.kind, op.stage, op.microbatch); }
  // True when a table of all (stage, microbatch) is no larger than what the number of ops justifies.
  [[nodiscard]] bool dense() const { return dense_; }

  // -1 when no row holds it.
  [[nodiscard]] std::int32_t find(OpKind kind, std::int32_t stage, std::int32_t microbatch) const;
  // B or I, whichever a row holds.
  [[nodiscard]] std::int32_t find_gradient(std::int32_t stage, std::int32_t microbatch) const;
  // The inputs that some row makes, by the start rule (sim/core/op.hpp).
  [[nodiscard]] Inputs inputs(const Op& op) const;
  // Whose ends the op waits for together: T for the S of every shard; B or I of the last stage for every S, or every T,
  // as the schedule says. Empty for all others.
  [[nodiscard]] std::vector<std::int32_t> gathered(const Op& op) const;
  // The kind whose ends `gathered` holds, where the op has to wait for all of them.
  [[nodiscard]] std::optional<OpKind> gathers(const Op& op) const;
  // Of these, the one that another stage makes; -1 when there is none (first F, last B or I, any W, R or T).
  [[nodiscard]] std::int32_t feeder(const Op& op) const;
  // The op of a neighbouring stage that uses this one's output; -1 when there is none (last F, first B or I, any W, R,
  // S or T).
  [[nodiscard]] std::int32_t user(const Op& op) const;
  // The id after the last op of the cell that begins at `id`: one op or a pair.
  [[nodiscard]] std::int32_t cell_end(std::int32_t id) const;

 private:
  [[nodiscard]] static std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }
  [[nodiscard]] bool in_range(OpKind kind, std::int64_t stage, std::int64_t microbatch) const {
    const std::int64_t limit = is_vocabulary(kind) ? rows() : stages_;
    return stage >= 0 && stage < limit && microbatch >= 0 && microbatch < pieces_;
  }
  [[nodiscard]] std::size_t bucket(std::int32_t stage, std::int32_t microbatch) const;
  void add(std::int32_t id);
  // F of that stage, or, where `op` makes a gradient, its B or I.
  [[nodiscard]] std::int32_t find_same_direction(const Op& op, std::int32_t stage) const;

  const Schedule* schedule_;
  std::int64_t stages_;
  std::int64_t pieces_;
  std::int64_t width_;  // stages, or devices where that is more and rows hold shards of the vocabulary
  bool dense_ = false;
  std::vector<std::int32_t> row_begin_;  // one more entry than rows
  std::vector<std::int32_t> device_;     // by id
  std::vector<std::int32_t> first_;      // by bucket: the chain's first op
  std::vector<std::int32_t> next_;       // by id: the chain's next op
  std::vector<Duplicate> duplicates_;
};

}  // namespace debubble
