// Correlations: brings together what one API call left in three kinds of records, in whatever order they come.
//
//     LinkRecord  c=41 -> range 101     \.
//     LaunchRecord c=41 thread 7         >  one entry, c=41  ->  the ledger, once for every kernel of that call
//     KernelRecord c=41                 /
//
// A kernel waits until both others are there, so that the result does not depend on the order. Entries live in a window
// over the growing correlation numbers; work that waits longer than that is entered as it is: by the time of its
// launch, or unlinked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "profiler/attribution/fused_nodes.hpp"
#include "profiler/attribution/ledger.hpp"
#include "profiler/attribution/slot.hpp"

namespace debubble::attribution {

class Correlations {
 public:
  static constexpr std::size_t kMostEntries = std::size_t{1} << 20;
  static constexpr std::size_t kMostWaiting = std::size_t{1} << 20;

  // The limits are smaller in tests; a power of two of entries.
  explicit Correlations(Ledger& ledger, std::size_t most_entries = kMostEntries,
                        std::size_t most_waiting = kMostWaiting);

  void link(std::uint32_t correlation, const Slot& slot);
  // `by_time` is the slot of the innermost range on the launching thread at that time.
  void launch(std::uint32_t correlation, Nanoseconds begin, const Slot& by_time);
  [[nodiscard]] bool linked(std::uint32_t correlation) const {
    const Entry& entry = entries_[correlation & (entries_.size() - 1)];
    return entry.correlation == correlation && (entry.state & kLinked) != 0;
  }
  void work(std::uint32_t correlation, const Work& work);
  // Enters everything that still waits, in order of correlation, and forgets the entries.
  void flush();

  [[nodiscard]] std::int64_t placed_by_time() const { return placed_by_time_; }
  // Kernels launched before the first launch that was seen: the recording begins in the middle of work.
  [[nodiscard]] std::int64_t before_launches() const { return before_launches_; }
  [[nodiscard]] Nanoseconds before_launches_time() const { return before_launches_time_; }
  // Fused nodes whose products could not be told apart.
  [[nodiscard]] std::int64_t whole_nodes() const { return fused_.whole(); }
  [[nodiscard]] std::size_t bytes() const;  // held, for the test of bounded memory

 private:
  struct Entry {
    std::uint32_t correlation = 0;
    std::uint32_t waiting = 0;  // 1 + index into waiting_; 0: none
    Slot slot;
    Nanoseconds launched = 0;
    std::uint32_t state = 0;  // kUsed | kLinked | kLaunched
  };
  struct Waiting {
    Work work;
    std::uint32_t next = 0;
  };
  static constexpr std::uint32_t kUsed = 1;
  static constexpr std::uint32_t kLinked = 2;
  static constexpr std::uint32_t kLaunched = 4;

  [[nodiscard]] Entry& entry_of(std::uint32_t correlation) {
    Entry& entry = entries_[correlation & (entries_.size() - 1)];
    return entry.correlation == correlation && entry.state != 0 ? entry : make_room(correlation);
  }
  Entry& make_room(std::uint32_t correlation);
  void grow();
  void wait(Entry& entry, const Work& work);
  void settle(const Entry& entry, const Work& work);
  void settle_waiting(Entry& entry);

  Ledger& ledger_;
  FusedNodes fused_{ledger_};
  std::vector<Entry> entries_;
  std::vector<Waiting> waiting_;
  std::uint32_t free_ = 0;  // 1 + index of the first free one
  std::size_t most_entries_;
  std::size_t most_waiting_;
  std::int64_t placed_by_time_ = 0;
  std::uint32_t first_launched_ = 0;  // the least correlation of a launch; 0: none yet
  std::int64_t before_launches_ = 0;
  Nanoseconds before_launches_time_ = 0;
};

}  // namespace debubble::attribution
