#include "studies/simulate/wait_history.hpp"

namespace debubble {

namespace {

ChainParts way_parts(const Way& way, Nanoseconds end) {
  ChainParts parts{};
  parts[to_index(ChainPart::kLatency)] = way.latency;
  parts[to_index(ChainPart::kBandwidth)] = way.bandwidth;
  parts[to_index(ChainPart::kCompute)] = end - way.latency - way.bandwidth;
  return parts;
}

void take_transfer(const TransferTime& transfer, Nanoseconds arrival, OpenGap& gap) {
  gap.take(ChainPart::kLatency, arrival - transfer.latency);
  gap.take(ChainPart::kBandwidth, arrival - transfer.total());
}

}  // namespace

void WaitHistory::add(const Cell& cell) {
  const std::int64_t number = first_ + static_cast<std::int64_t>(cells_.size());
  Known known{cell, number, 0};
  if (cell.parent >= 0 && knows(cell.parent)) {
    const Known& parent = at(cell.parent);
    known.depth = parent.depth + 1;
    known.far = cell.parent;
    if (knows(parent.far) && knows(at(parent.far).far)) {
      const Known& far = at(parent.far);
      if (parent.depth - far.depth == far.depth - at(far.far).depth) known.far = far.far;
    }
  }
  cells_.push_back(known);
}

std::int64_t WaitHistory::first_within(std::int64_t cell, Nanoseconds from) const {
  const auto within = [&](std::int64_t other) { return other >= 0 && knows(other) && at(other).cell.end >= from; };
  for (;;) {
    const Known& known = at(cell);
    if (known.far != cell && within(known.far)) {
      cell = known.far;
    } else if (within(known.cell.parent)) {
      cell = known.cell.parent;
    } else {
      return cell;
    }
  }
}

ChainParts WaitHistory::explain(std::int64_t maker, const TransferTime& transfer, Nanoseconds from,
                                Nanoseconds at_time) const {
  OpenGap gap(from, at_time);
  take_transfer(transfer, at_time, gap);
  if (!gap.open()) return gap.parts();
  const std::int64_t first = first_within(maker, from);
  const Cell& last = at(first).cell;
  gap.leap(way_parts(at(maker).cell.way, at(maker).cell.end), way_parts(last.way, last.end), last.end);
  gap.take(ChainPart::kCompute, last.begin);
  if (last.received) take_transfer(last.transfer, last.begin, gap);
  return gap.parts();
}

ChainParts WaitHistory::from_start(const Way& maker, const TransferTime& transfer, Nanoseconds at) {
  return way_parts(maker.after(transfer), at);
}

void WaitHistory::forget_before(Nanoseconds time) {
  while (!cells_.empty() && cells_.front().cell.end < time) {
    cells_.pop_front();
    ++first_;
  }
}

}  // namespace debubble
