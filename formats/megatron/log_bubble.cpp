#include "formats/megatron/log_bubble.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "sim/core/median.hpp"

namespace debubble {
namespace {

constexpr std::string_view kPipeline = "forward-backward";
constexpr std::string_view kForward = "forward-compute";
constexpr std::string_view kBackward = "backward-compute";

// "forward-send-backward-recv" waits for both; "forward-recv", "forward-send-forward-recv" for activations alone.
bool is_transfer(std::string_view name) { return name.ends_with("-recv") || name.ends_with("-send"); }

void add_time(const LoggedTimer& timer, RankTimes& times) {
  const std::string_view name = timer.name;
  if (name == kPipeline) times.pipeline = timer.time;
  if (name == kForward) times.forward = timer.time;
  if (name == kBackward) times.backward = timer.time;
  if (!is_transfer(name)) return;
  const bool forward = name.find("forward-") != std::string_view::npos;
  const bool backward = name.find("backward-") != std::string_view::npos;
  (forward && backward ? times.both_transfers
   : forward           ? times.forward_transfers
                       : times.backward_transfers) += timer.time;
}

// The timer over all ranks; nothing where it was not logged so.
std::optional<Nanoseconds> over_ranks(const LoggedInterval& line, std::string_view name, LoggedTimer::Of of) {
  for (const LoggedTimer& timer : line.timers) {
    if (timer.of == of && timer.name == name) return timer.time;
  }
  return std::nullopt;
}

// The sum over the ranks of a timer: one rank has the least, one the most. Where the least is not known, no rank less
// than nothing.
struct SumBounds {
  double least = 0;
  double most = 0;
};

std::optional<SumBounds> sum_over_ranks(const LoggedInterval& line, std::string_view name, double ranks) {
  const auto most = over_ranks(line, name, LoggedTimer::Of::kMostRank);
  if (!most) return std::nullopt;
  const auto high = static_cast<double>(*most);
  const auto low = over_ranks(line, name, LoggedTimer::Of::kLeastRank);
  if (!low) return SumBounds{high, ranks * high};
  return SumBounds{(ranks - 1) * static_cast<double>(*low) + high, static_cast<double>(*low) + (ranks - 1) * high};
}

BubbleBounds bubble_within(double busy_least, double busy_most, double all) {
  return {std::max(1 - busy_most / all, 0.0), 1 - busy_least / all};
}

std::optional<BubbleBounds> bubble_of_ranks(const std::map<std::int64_t, RankTimes>& times) {
  double busy = 0;
  Nanoseconds longest = 0;
  for (const auto& [rank, one] : times) {
    if (!one.pipeline || !one.forward || !one.backward) return std::nullopt;
    busy += static_cast<double>(*one.forward + *one.backward);
    longest = std::max(longest, *one.pipeline);
  }
  if (longest == 0) return std::nullopt;
  const double bubble = 1 - busy / (static_cast<double>(times.size()) * static_cast<double>(longest));
  return BubbleBounds{bubble, bubble};
}

}  // namespace

std::map<std::int64_t, RankTimes> rank_times(const LoggedInterval& line) {
  std::map<std::int64_t, RankTimes> times;
  for (const LoggedTimer& timer : line.timers) {
    if (timer.of == LoggedTimer::Of::kRank) add_time(timer, times[timer.rank]);
  }
  return times;
}

std::optional<BubbleBounds> logged_bubble(const LoggedInterval& line, std::int64_t ranks) {
  const std::map<std::int64_t, RankTimes> times = rank_times(line);
  if (!times.empty()) {
    const bool all = static_cast<std::int64_t>(times.size()) == ranks;
    return all ? bubble_of_ranks(times) : std::nullopt;
  }
  const auto count = static_cast<double>(ranks);
  const auto longest = over_ranks(line, kPipeline, LoggedTimer::Of::kMostRank);
  const auto forward = sum_over_ranks(line, kForward, count);
  const auto backward = sum_over_ranks(line, kBackward, count);
  if (!longest || *longest == 0 || !forward || !backward || ranks < 1) return std::nullopt;
  return bubble_within(forward->least + backward->least, forward->most + backward->most,
                       count * static_cast<double>(*longest));
}

std::optional<BubbleBounds> median_bubble(const std::vector<LoggedInterval>& lines, std::int64_t ranks) {
  std::vector<double> least;
  std::vector<double> most;
  for (const LoggedInterval& line : lines) {
    const std::optional<BubbleBounds> bounds = logged_bubble(line, ranks);
    if (!bounds) continue;
    least.push_back(bounds->least);
    most.push_back(bounds->most);
  }
  if (least.empty()) return std::nullopt;
  return BubbleBounds{tenths_percentile(std::move(least), 5), tenths_percentile(std::move(most), 5)};
}

}  // namespace debubble
