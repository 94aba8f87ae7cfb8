#include "profiler/attribution/tallies.hpp"

#include <algorithm>

#include "profiler/attribution/name_table.hpp"

namespace debubble::attribution {
namespace {

// From the low bits up: kernel 20, rule 4, phase or rest 4, layer 20, then the rest's flag and one that is always set.
constexpr unsigned kRuleShift = 20;
constexpr unsigned kPhaseShift = 24;
constexpr unsigned kLayerShift = 28;
constexpr std::uint64_t kRestFlag = std::uint64_t{1} << 48U;
constexpr std::uint64_t kUsed = std::uint64_t{1} << 49U;
constexpr std::uint64_t kKernelMask = (std::uint64_t{1} << kRuleShift) - 1;
constexpr std::uint64_t kNibble = 15;
constexpr std::uint64_t kLayerMask = (std::uint64_t{1} << 20U) - 1;

std::uint64_t key_of(const Slot& slot, std::uint32_t layer, std::uint32_t kernel) {
  const auto rule = static_cast<std::uint64_t>(slot.rule) << kRuleShift;
  if (!slot.in_layer()) {
    return kUsed | kRestFlag | (static_cast<std::uint64_t>(slot.rest) << kPhaseShift) | rule | kernel;
  }
  return kUsed | (std::uint64_t{layer} << kLayerShift) | (std::uint64_t{index_of(slot.phase)} << kPhaseShift) | rule |
         kernel;
}

Tally tally_of(std::uint64_t key, std::int64_t count, Nanoseconds total) {
  Tally tally;
  tally.in_layer = (key & kRestFlag) == 0;
  tally.layer = static_cast<std::uint32_t>((key >> kLayerShift) & kLayerMask);
  const std::uint64_t nibble = (key >> kPhaseShift) & kNibble;
  if (tally.in_layer) tally.phase = static_cast<Phase>(nibble);
  if (!tally.in_layer) tally.rest = static_cast<Rest>(nibble);
  tally.rule = static_cast<Rule>((key >> kRuleShift) & kNibble);
  tally.kernel = static_cast<std::uint32_t>(key & kKernelMask);
  tally.count = count;
  tally.total = total;
  return tally;
}

std::size_t place(std::uint64_t key, std::size_t size) {
  constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15U;
  return ((key * kGolden) >> 32U) & (size - 1);
}

}  // namespace

Tallies::Tallies() : cells_(1024) {}

Tallies::Cell& Tallies::cell(std::uint64_t key) {
  std::size_t at = place(key, cells_.size());
  while (cells_[at].key != 0 && cells_[at].key != key) at = (at + 1) & (cells_.size() - 1);
  return cells_[at];
}

void Tallies::add(const Slot& slot, std::uint32_t layer, std::uint32_t kernel, Nanoseconds duration) {
  Cell* found = &cell(key_of(slot, layer, kernel));
  if (found->key == 0) {
    if (used_ >= kMostTallies) kernel = kOverflowName;
    if (++used_ * 2 > cells_.size()) grow();
    const std::uint64_t key = key_of(slot, layer, kernel);
    found = &cell(key);
    found->key = key;
  }
  ++found->count;
  found->total += duration;
}

void Tallies::grow() {
  std::vector<Cell> old(cells_.size() * 2);
  old.swap(cells_);
  for (const Cell& from : old) {
    if (from.key != 0) cell(from.key) = from;
  }
}

std::vector<Tally> Tallies::sorted() const {
  std::vector<Cell> used;
  std::copy_if(cells_.begin(), cells_.end(), std::back_inserter(used), [](const Cell& cell) { return cell.key != 0; });
  std::sort(used.begin(), used.end(), [](const Cell& left, const Cell& right) { return left.key < right.key; });
  std::vector<Tally> tallies;
  tallies.reserve(used.size());
  for (const Cell& from : used) tallies.push_back(tally_of(from.key, from.count, from.total));
  return tallies;
}

}  // namespace debubble::attribution
