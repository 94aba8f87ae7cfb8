// RecurringMemory: AllocatedMemory for runs of millions of ops, whose steady state asks the same of the allocator again
// and again: a few microbatches later, the same things in the same order. Internal to sim/analysis.
//
//     changes   ... [F5 B3 F6 B4] F7 B5 F8 B6 F9 ...      period 4, 2 pieces later
//                   ^snapshot     ^the same state, but for pieces: from here on changes are only compared
//
// An allocator whose state comes back, when what it is asked comes back, takes nothing new from the device. At the
// first change that is another one, it is brought to where it would be, and goes on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/analysis/allocated_memory.hpp"

namespace debubble {

class RecurringMemory final : public MemoryReplay {
 public:
  RecurringMemory(const StageCosts& costs, Bytes capacity, bool expandable) : memory_(costs, capacity, expandable) {}

  bool change(const HeldThing& thing, Bytes bytes) override;
  bool take_resident(Bytes bytes) override { return memory_.take_resident(bytes); }
  // While changes recur, that of the begin of a period; no more was reserved in a later one than in the first.
  [[nodiscard]] Bytes reserved() const override { return memory_.reserved(); }

 private:
  struct Made {
    HeldThing thing;
    Bytes bytes = 0;
  };

  [[nodiscard]] Made expected() const;
  void stop_following();
  void learn(const HeldThing& thing, Bytes bytes);
  void take_snapshot();

  AllocatedMemory memory_;
  std::vector<Made> made_;              // since the snapshot
  std::vector<std::int64_t> snapshot_;  // the state then
  Made last_;                           // the change before it
  Bytes allocated_ = 0;                 // then
  std::size_t patience_ = 64;           // changes until the next snapshot
  bool has_snapshot_ = false;
  bool follows_ = false;
  std::int32_t shift_ = 0;   // pieces in a period
  std::int32_t rounds_ = 0;  // periods that were only compared
  std::size_t place_ = 0;    // changes of the period under way
};

}  // namespace debubble
