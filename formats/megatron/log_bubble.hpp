// The bubble of a run by Megatron-LM's own timers (--timing-log-level 2): what a rank's forward-backward holds beside
// its forwards and backwards is waiting, and so is what the longest forward-backward leaves of the others.
//
// Of all ranks (--timing-log-option all) the bubble is exact; of the least and the most rank (minmax, max) it has
// bounds. Held to megatron-core 0.19.2's own schedules and timers on a virtual clock
// (tests/diff/log_bubble.transcript).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "formats/megatron/log.hpp"

namespace debubble {

// What a rank spent in an iteration; nothing where a timer is not there.
struct RankTimes {
  std::optional<Nanoseconds> pipeline;  // forward-backward: forwards, backwards and transfers
  std::optional<Nanoseconds> forward;
  std::optional<Nanoseconds> backward;
  Nanoseconds forward_transfers = 0;   // sends and receives of activations, and waits in them
  Nanoseconds backward_transfers = 0;  // of gradients
  Nanoseconds both_transfers = 0;      // of both at once
};

// By rank, where each rank was logged; empty else.
[[nodiscard]] std::map<std::int64_t, RankTimes> rank_times(const LoggedInterval& line);

// Shares of all ranks' time in the pipeline.
struct BubbleBounds {
  double least = 0;
  double most = 0;  // as large as `least` where all ranks were logged
};

// Of a job of so many ranks. Nothing where the line lacks a timer, or a rank.
[[nodiscard]] std::optional<BubbleBounds> logged_bubble(const LoggedInterval& line, std::int64_t ranks);

// Its medians over the lines that have one.
[[nodiscard]] std::optional<BubbleBounds> median_bubble(const std::vector<LoggedInterval>& lines, std::int64_t ranks);

}  // namespace debubble
