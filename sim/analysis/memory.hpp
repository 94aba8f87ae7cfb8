// One walk over a device's memory events, in the order that defines its peak. Internal to sim/analysis.
//
// Spans are taken in running order. What has arrived by a span's begin counts before the span allocates; what arrives
// before its end counts before it releases. Within one instant, then: earlier spans' ends, what copies release, what
// arrives or copies take, the next begin.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "sim/analysis/report.hpp"
#include "sim/core/at.hpp"
#include "sim/core/piece_share.hpp"
#include "sim/core/schedule.hpp"
#include "sim/core/stage_costs.hpp"
#include "sim/core/timeline.hpp"

namespace debubble {

// Called after every change with the time, all categories, and what changed it: the span at work (or about to use what
// arrived), or the copy.
using MemoryObserver = std::function<void(Nanoseconds at, const BytesByCategory& bytes, const Gate& cause)>;

// What is allocated and freed as one: every change of a level is that of one of these.
struct HeldThing {
  enum class What : std::uint8_t {
    kActivation,
    kCheckpoint,
    kWeightGradInputs,
    kReceived,
    kWorkspace,
    kVocabulary,
    kKept
  };
  What what = What::kActivation;
  std::int32_t stage = 0;  // kReceived: -1
  std::int32_t piece = 0;  // kReceived: the span that uses it

  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the compared 0 for a pointer
  friend auto operator<=>(const HeldThing&, const HeldThing&) = default;
};

// Called with every change, in order, before the level that it leads to is observed.
using ChangeObserver = std::function<void(Nanoseconds at, const HeldThing& thing, Bytes change, const Gate& cause)>;

class MemoryWalk {
 public:
  MemoryWalk(const Timeline& timeline, const Schedule& schedule, const StageCosts& costs);

  // What the device holds before anything runs.
  [[nodiscard]] const BytesByCategory& resident(int device) const { return resident_[to_index(device)]; }

  void run(int device, const MemoryObserver& observe) const;
  // The same walk, change by change.
  void run_changes(int device, const ChangeObserver& observe) const;

  // The most that the device's copies have in the host's memory at once.
  [[nodiscard]] Bytes peak_host(int device) const;

 private:
  struct Change {
    MemoryCategory category = MemoryCategory::kActivations;
    HeldThing thing;
    Bytes bytes = 0;
  };
  // A change that does not follow the compute lane.
  struct Event {
    Nanoseconds at = 0;
    Bytes change = 0;
    MemoryCategory category = MemoryCategory::kReceived;
    Gate cause;
    HeldThing thing;
  };

  void find_recomputed();
  void add_residents();
  void add_arrivals();
  void add_copies();
  // Calls visit(Change) for each change that the op's begin or end makes.
  template <typename Visit>
  void begin(const Op& op, const Visit& visit) const;
  template <typename Visit>
  void end(const Op& op, const Visit& visit) const;
  // Calls visit(Change) for each change of a cell's members at its end, in order.
  template <typename Visit>
  void end_members(const Op& op, const Op* partner, const Visit& visit) const;
  // changed(at, cause, Change) for each change, settled(at, cause) where they have led to a level.
  template <typename Changed, typename Settled>
  void walk(int device, const Changed& changed, const Settled& settled) const;
  [[nodiscard]] Bytes part(Bytes value, const Op& op) const {
    return shares_.part(value, shares_.class_of(op.microbatch));
  }
  [[nodiscard]] const StageCost& cost_of(const Op& op) const { return costs_.stages[to_index(op.stage)]; }
  [[nodiscard]] bool is_recomputed(const Op& op) const;

  const Timeline& timeline_;
  const Schedule& schedule_;
  const StageCosts& costs_;
  std::vector<BytesByCategory> resident_;  // by device
  PieceShares shares_;
  std::vector<bool> recomputed_;            // by (stage, piece); empty: none is
  std::vector<std::vector<Event>> events_;  // by device, in order
  std::vector<std::vector<Event>> hosts_;   // by device whose activations the host keeps, in order
  std::vector<Bytes> received_;             // by span: bytes of its inputs from other devices
};

[[nodiscard]] Bytes total(const BytesByCategory& bytes);

}  // namespace debubble
