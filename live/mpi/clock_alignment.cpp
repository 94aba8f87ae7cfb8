#include "live/mpi/clock_alignment.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <iterator>
#include <numeric>
#include <utility>

namespace debubble::live {

namespace {

constexpr int kTrips = 64;

ClockReading read_clock(int rank, ControlChannel& channel, const std::function<Nanoseconds()>& now) {
  ClockReading best;
  for (int trip = 0; trip < kTrips; ++trip) {
    const Nanoseconds left = now();
    channel.send(rank, MessageWriter());
    const Nanoseconds there = channel.wait(rank).message.number();
    const Nanoseconds back = now();
    const Nanoseconds error = (back - left + 1) / 2;
    if (trip == 0 || error < best.error) best = {there, left + (back - left) / 2 - there, error};
  }
  return best;
}

Nanoseconds two_largest(std::vector<Nanoseconds> values) {
  std::sort(values.rbegin(), values.rend());
  return std::accumulate(values.begin(), values.begin() + std::min<std::ptrdiff_t>(2, std::ssize(values)),
                         Nanoseconds{0});
}

}  // namespace

std::vector<ClockReading> read_clocks(MessagePassing& passing, ControlChannel& channel,
                                      const std::function<Nanoseconds()>& now) {
  if (passing.rank() != 0) {
    for (int trip = 0; trip < kTrips; ++trip) {
      const ControlChannel::Received received = channel.wait(0);
      channel.send(received.from, MessageWriter().number(now()));
    }
    channel.flush();
    return {};
  }
  std::vector<ClockReading> readings(1);
  for (int rank = 1; rank < passing.size(); ++rank) readings.push_back(read_clock(rank, channel, now));
  return readings;
}

Nanoseconds aligned(Nanoseconds time, const ClockReading& before, const ClockReading& after) {
  const Nanoseconds span = after.at - before.at;
  if (span <= 0) return time + before.offset;
  const double part = static_cast<double>(time - before.at) / static_cast<double>(span);
  return time + before.offset + static_cast<Nanoseconds>(part * static_cast<double>(after.offset - before.offset));
}

ClockAlignment alignment_of(const std::vector<ClockReading>& before, const std::vector<ClockReading>& after) {
  ClockAlignment alignment{"ping-pong", 0, {}};
  std::vector<Nanoseconds> errors;
  for (std::size_t rank = 0; rank < before.size(); ++rank) {
    alignment.offsets.push_back(before[rank].offset);
    errors.push_back(std::max(before[rank].error, after[rank].error));
  }
  alignment.residual = two_largest(std::move(errors));
  return alignment;
}

Nanoseconds leaving_error(const std::vector<ClockReading>& before, const std::vector<ClockReading>& after) {
  std::vector<Nanoseconds> drifts;
  for (std::size_t rank = 0; rank < before.size(); ++rank) {
    drifts.push_back(std::abs(after[rank].offset - before[rank].offset));
  }
  return alignment_of(before, after).residual + two_largest(std::move(drifts));
}

}  // namespace debubble::live
