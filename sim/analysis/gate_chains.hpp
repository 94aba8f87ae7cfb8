// What a wait was spent on, by walking back along what it waited for; long walks by leaps. Internal to sim/analysis and
// to what reports on a run without its spans.
//
//     device 3   ......................F0      the gap before F0, back along its gates: a hop, F0 on device 2, a hop,
//     device 2   ..............F0              F0 on device 1, ...: as many things as there are devices in front, so
//     device 1   ......F0                      the gaps of p devices would take p x p / 2 steps
//
// Gates form a tree. Each 32nd thing on the way from its root is a checkpoint with the sums up to there and two links
// back, to the checkpoint before and to one farther off, the lengths of which make any distance log(n) leaps. Whatever
// is not passed from its very end to its very begin (a launch gap before it, an overlap) is no checkpoint's parent, so
// leaps add up to what single steps would have. Made only when a walk gets long.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "sim/core/at.hpp"
#include "sim/core/timeline.hpp"

namespace debubble {

enum class ChainPart : std::uint8_t {
  kCompute,    // as long as its stage's costs say
  kStraggler,  // compute beyond that, and waits for another replica
  kLatency,
  kBandwidth,
  kContention,
  kMemoryLimit,
  kBarrier,         // of a split output layer
  kStepCollective,  // of the training step
  kLaunchGap,
};
inline constexpr std::size_t kChainParts = 9;
using ChainParts = std::array<Nanoseconds, kChainParts>;

// The part of a wait that is left to explain: [from, at).
class OpenGap {
 public:
  OpenGap(Nanoseconds from, Nanoseconds at) : from_(from), at_(at) {}

  [[nodiscard]] bool open() const { return at_ > from_; }
  [[nodiscard]] Nanoseconds from() const { return from_; }
  [[nodiscard]] Nanoseconds at() const { return at_; }
  [[nodiscard]] const ChainParts& parts() const { return parts_; }

  // Moves `at` back to `begin`, or to where the gap begins: that time is of this part.
  void take(ChainPart part, Nanoseconds begin) {
    const Nanoseconds until = begin > from_ ? begin : from_;
    if (until >= at_) return;
    parts_[to_index(part)] += at_ - until;
    at_ = until;
  }
  void leap(const ChainParts& sums, const ChainParts& less, Nanoseconds at) {
    for (std::size_t k = 0; k < kChainParts; ++k) parts_[k] += sums[k] - less[k];
    at_ = at;
  }

 private:
  Nanoseconds from_;
  Nanoseconds at_;
  ChainParts parts_{};
};

// Run has: pass(gate, OpenGap&), which takes what the thing took and returns its gate; gate_of(gate); after(gate), the
// time at which whoever has passed it whole arrives; number(gate), dense, below things().
template <typename Run>
class GateChains {
 public:
  explicit GateChains(const Run& run) : run_(run) {}

  // Of [from, at), just before something with that gate.
  [[nodiscard]] ChainParts explain(Gate gate, Nanoseconds from, Nanoseconds at) {
    OpenGap gap(from, at);
    for (int things = 0; gap.open(); ++things) {
      if (gate.kind == Gate::Kind::kStart) {
        gap.take(ChainPart::kLaunchGap, from);
        break;
      }
      if (things == kStride) mark(gate);
      const Gate passed = gate;
      gate = run_.pass(gate, gap);
      if (things >= kStride && gap.open()) leap(passed, gap, gate);
    }
    return gap.parts();
  }

 private:
  static constexpr std::int32_t kStride = 32;
  static constexpr std::int32_t kUnmarked = 0;
  static constexpr std::int32_t kNone = -1;

  struct Checkpoint {
    Gate gate;              // where the walk goes on
    Nanoseconds after = 0;  // and when
    ChainParts parts{};     // of the walk from here on, up to where parents end
    std::int32_t parent = kNone;
    std::int32_t far = 0;  // a parent's parent's ... parent; itself where it has none
    std::int32_t depth = 0;
  };

  // Marks: how many gates it is from the root, modulo the stride; of a checkpoint, less than 0, its number.
  static std::int32_t mark_of(std::size_t checkpoint) { return -1 - static_cast<std::int32_t>(checkpoint); }
  static std::size_t checkpoint_of(std::int32_t mark) { return static_cast<std::size_t>(-1 - mark); }

  void mark(Gate gate) {
    if (marks_.empty()) marks_.assign(run_.things(), kUnmarked);
    std::vector<Gate> way;
    std::int32_t place = 0;
    for (; gate.kind != Gate::Kind::kStart; gate = run_.gate_of(gate)) {
      const std::int32_t known = marks_[run_.number(gate)];
      if (known != kUnmarked) {
        place = known < 0 ? 0 : known;
        break;
      }
      way.push_back(gate);
    }
    for (; !way.empty(); way.pop_back()) {
      place = (place + 1) % kStride;
      marks_[run_.number(way.back())] = place != 0 ? place : mark_of(add_checkpoint(way.back()));
    }
  }

  std::size_t add_checkpoint(const Gate& gate) {
    Checkpoint made;
    made.gate = run_.gate_of(gate);
    made.after = run_.after(gate);
    OpenGap gap(std::numeric_limits<Nanoseconds>::min(), made.after);
    for (Gate next = made.gate; next.kind != Gate::Kind::kStart;) {
      const std::int32_t known = marks_[run_.number(next)];
      next = run_.pass(next, gap);
      if (known >= 0) continue;
      const auto parent = static_cast<std::int32_t>(checkpoint_of(known));
      if (at(checkpoints_, parent).after == gap.at()) connect(parent, gap, made);
      break;
    }
    const std::size_t number = checkpoints_.size();
    if (made.parent == kNone) made.far = static_cast<std::int32_t>(number);
    checkpoints_.push_back(made);
    return number;
  }

  void connect(std::int32_t parent, const OpenGap& gap, Checkpoint& made) const {
    const Checkpoint& near = at(checkpoints_, parent);
    const Checkpoint& far = at(checkpoints_, near.far);
    made.parent = parent;
    made.depth = near.depth + 1;
    const bool same_again = near.depth - far.depth == far.depth - at(checkpoints_, far.far).depth;
    made.far = same_again ? far.far : parent;
    for (std::size_t k = 0; k < kChainParts; ++k) made.parts[k] = near.parts[k] + gap.parts()[k];
  }

  // From a checkpoint that has just been passed to the last one within the gap.
  void leap(const Gate& passed, OpenGap& gap, Gate& gate) const {
    const std::int32_t known = marks_[run_.number(passed)];
    if (known >= 0) return;
    const Checkpoint& from = checkpoints_[checkpoint_of(known)];
    if (from.after != gap.at()) return;
    const Checkpoint* last = &from;
    while (last->parent != kNone) {
      const Checkpoint& far = at(checkpoints_, last->far);
      const Checkpoint& near = at(checkpoints_, last->parent);
      if (&far != last && far.after >= gap.from()) {
        last = &far;
      } else if (near.after >= gap.from()) {
        last = &near;
      } else {
        break;
      }
    }
    gap.leap(from.parts, last->parts, last->after);
    gate = last->gate;
  }

  const Run& run_;
  std::vector<std::int32_t> marks_;  // by the thing's number
  std::vector<Checkpoint> checkpoints_;
};

}  // namespace debubble
