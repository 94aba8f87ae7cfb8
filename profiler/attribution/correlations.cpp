#include "profiler/attribution/correlations.hpp"

#include <algorithm>

namespace debubble::attribution {
namespace {

constexpr std::size_t kFirstEntries = std::size_t{1} << 12;
// Host and GPU clocks are matched by interpolation: a kernel may seem to begin a little before its launch.
constexpr Nanoseconds kClockTolerance = kNanosecondsPerMillisecond;

// Whether a launch was before all ranges, where its link says only that it was outside of any.
bool before_all_ranges(const Slot& by_time, const Slot& linked) {
  return !by_time.in_layer() && by_time.rest == Rest::kBeforeRanges && !linked.in_layer() &&
         linked.rest == Rest::kOutsideRanges;
}

}  // namespace

Correlations::Correlations(Ledger& ledger, std::size_t most_entries, std::size_t most_waiting)
    : ledger_(ledger),
      entries_(std::min(kFirstEntries, most_entries)),
      most_entries_(most_entries),
      most_waiting_(most_waiting) {}

// Takes the place of an older call. Its work, if any still waits, is entered as far as it is known.
Correlations::Entry& Correlations::make_room(std::uint32_t correlation) {
  Entry* entry = &entries_[correlation & (entries_.size() - 1)];
  while (entry->state != 0 && entry->correlation != correlation && entries_.size() < most_entries_) {
    grow();
    entry = &entries_[correlation & (entries_.size() - 1)];
  }
  settle_waiting(*entry);
  *entry = {};
  entry->correlation = correlation;
  entry->state = kUsed;
  return *entry;
}

void Correlations::grow() {
  std::vector<Entry> old(entries_.size() * 2);
  old.swap(entries_);
  for (const Entry& from : old) {
    if (from.state != 0) entries_[from.correlation & (entries_.size() - 1)] = from;
  }
}

void Correlations::link(std::uint32_t correlation, const Slot& slot) {
  Entry& entry = entry_of(correlation);
  const bool launched = (entry.state & kLaunched) != 0;
  const Slot place = launched && before_all_ranges(entry.slot, slot) ? entry.slot : slot;
  // What waited until now was of the link before.
  if ((entry.state & kLinked) != 0 && !(entry.slot == place)) settle_waiting(entry);
  entry.slot = place;
  entry.state |= kLinked;
  if (entry.waiting != 0 && launched) settle_waiting(entry);
}

void Correlations::launch(std::uint32_t correlation, Nanoseconds begin, const Slot& by_time) {
  Entry& entry = entry_of(correlation);
  if ((entry.state & kLaunched) != 0) return;  // a driver call inside a runtime call of the same number
  if (correlation != 0 && (first_launched_ == 0 || correlation < first_launched_)) first_launched_ = correlation;
  entry.launched = begin;
  entry.state |= kLaunched;
  // Without a link yet the slot by time is only noted: a link that comes later replaces it, since it is exact.
  if ((entry.state & kLinked) == 0 || before_all_ranges(by_time, entry.slot)) entry.slot = by_time;
  if ((entry.state & kLinked) != 0 && entry.waiting != 0) settle_waiting(entry);
}

void Correlations::work(std::uint32_t correlation, const Work& work) {
  constexpr std::uint32_t kComplete = kUsed | kLinked | kLaunched;
  Entry& entry = entry_of(correlation);
  if (entry.state == kComplete) {
    settle(entry, work);
  } else if (correlation == 0 && (entry.state & kLaunched) == 0) {
    // No number, no launch: each has a link of its own, just before it, or none.
    settle(entry, work);
    entry.state = kUsed;
  } else {
    wait(entry, work);
  }
}

void Correlations::wait(Entry& entry, const Work& work) {
  std::uint32_t index = free_;
  if (index != 0) {
    free_ = waiting_[index - 1].next;
  } else if (waiting_.size() < most_waiting_) {
    waiting_.emplace_back();
    index = static_cast<std::uint32_t>(waiting_.size());
  } else {
    ledger_.lose("kernels that could not wait for their link");
    settle(entry, work);
    return;
  }
  waiting_[index - 1] = {work, entry.waiting};
  entry.waiting = index;
}

void Correlations::settle(const Entry& entry, const Work& work) {
  const bool launched = (entry.state & kLaunched) != 0;
  Nanoseconds ahead = 0;
  if (launched && (__builtin_sub_overflow(entry.launched, work.begin, &ahead) || ahead > kClockTolerance) &&
      entry.launched > work.begin) {
    ledger_.lose("kernels before their launch");
    return;
  }
  const bool linked = (entry.state & kLinked) != 0;
  if (!linked && launched && entry.slot.in_layer()) ++placed_by_time_;
  if (!linked && !launched && entry.correlation != 0 && entry.correlation < first_launched_) {
    ++before_launches_;
    before_launches_time_ += work.end - work.begin;
  }
  const Slot slot = linked || launched ? entry.slot : rest_slot(Rest::kUnlinked);
  if (slot.node != 0) return fused_.add(entry.correlation, slot, work);
  ledger_.enter(slot, work);
}

void Correlations::settle_waiting(Entry& entry) {
  while (entry.waiting != 0) {
    Waiting& first = waiting_[entry.waiting - 1];
    settle(entry, first.work);
    const std::uint32_t next = first.next;
    first.next = free_;
    free_ = entry.waiting;
    entry.waiting = next;
  }
}

void Correlations::flush() {
  for (Entry& entry : entries_) {
    settle_waiting(entry);
    entry = {};
  }
  waiting_.clear();
  free_ = 0;
  fused_.flush();
}

std::size_t Correlations::bytes() const {
  return entries_.capacity() * sizeof(Entry) + waiting_.capacity() * sizeof(Waiting);
}

}  // namespace debubble::attribution
