// Steps: the second line is freed of the first iteration where it holds it again; lines of another batch, of several
// batches, or with iterations that skipped the optimizer are left out; timers become times per iteration.
//
// Does the second line hold the first iteration again? Not where it is not the next one that is due: a line is lost.
// Yes where the first line's number is no multiple of the interval: only such releases print out of turn. Else the
// lines behind tell: of both readings of the second line the one nearer to their median; where they agree, both are
// right. Without lines behind, the block of arguments tells the release of lines of one iteration each.
#include "formats/megatron/log_iterations.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "sim/core/median.hpp"
#include "sim/core/quantities.hpp"

namespace debubble {
namespace {

// An argument of the first release that was read (0.17), and of none that prints no first line.
constexpr const char* kOfReleasesWithFirst = "perform-rl-step";

// 0: not in the log.
std::int64_t count_in(const MegatronLog& log, const std::string& name) {
  const auto found = std::find(log.words.begin(), log.words.end(), "--" + name);
  if (found == log.words.end() || found + 1 == log.words.end()) return 0;
  return std::max<std::int64_t>(whole_number(*(found + 1)).value_or(0), 0);
}

Nanoseconds per_iteration(double total, std::int64_t iterations) {
  return static_cast<Nanoseconds>(total / static_cast<double>(iterations) + 0.5);
}

class Lines {
 public:
  explicit Lines(const MegatronLog& log) : log_(log), lines_(log.intervals), interval_(count_in(log, "log-interval")) {
    if (interval_ == 0 && lines_.size() > 2) interval_ = lines_[2].last_iteration - lines_[1].last_iteration;
    const bool two = interval_ == 0 && lines_.size() == 2 && !log.forgets;
    if (two && lines_[0].last_iteration == 1 && lines_[1].last_iteration > 2) interval_ = lines_[1].last_iteration;
  }

  MeasuredIterations measured(std::int64_t global_batch) {
    MeasuredIterations result;
    if (lines_.empty()) return result;
    result.only_first = lines_.size() == 1;
    result.taken_out = !result.only_first && repeats();
    const bool alone = result.taken_out || first_is_alone();
    if (alone) result.first = lines_.front().iteration_time;
    if (result.only_first) {
      if (alone) scale_timers(lines_.front(), 1);
      result.intervals = lines_;
      return result;
    }
    if (result.taken_out) {
      const bool timed = !lines_[1].timers.empty();
      take_out_first();
      result.timers_lost = timed && lines_[1].timers.empty();
    }
    batches(global_batch == 0 ? lines_.back().global_batch : global_batch, result);
    leave_out_skipping(result);
    return result;
  }

 private:
  [[nodiscard]] bool out_of_turn() const { return interval_ > 0 && lines_.front().last_iteration % interval_ != 0; }
  // Whether the first line is of one iteration.
  [[nodiscard]] bool first_is_alone() const {
    return out_of_turn() || interval_ == 1 || (interval_ == 0 && lines_.front().last_iteration == 1);
  }

  [[nodiscard]] std::int64_t covered() const { return lines_[1].last_iteration - lines_[0].last_iteration + 1; }
  // The second line without the first iteration, times the iterations that are left.
  [[nodiscard]] double others_of(double first, double second) const {
    return static_cast<double>(covered()) * second - first;
  }

  [[nodiscard]] bool repeats() const {
    const double others =
        others_of(static_cast<double>(lines_[0].iteration_time), static_cast<double>(lines_[1].iteration_time));
    if (log_.forgets || covered() < 2 || others <= 0) return false;
    const std::int64_t first = lines_[0].last_iteration;
    if (interval_ > 0 && lines_[1].last_iteration != (first / interval_ + 1) * interval_) return false;
    if (out_of_turn()) return true;
    const bool older = !log_.names.empty() && !log_.names.contains(kOfReleasesWithFirst);
    if (older || lines_.size() < 3) return !older && interval_ == 1 && !log_.names.empty();
    std::vector<Nanoseconds> later;
    for (std::size_t k = 2; k < lines_.size(); ++k) later.push_back(lines_[k].iteration_time);
    const Nanoseconds usual = lower_median(std::move(later));
    return std::abs(per_iteration(others, covered() - 1) - usual) < std::abs(lines_[1].iteration_time - usual);
  }

  void take_out_first() {
    LoggedInterval& second = lines_[1];
    const LoggedInterval& first = lines_[0];
    const double others =
        others_of(static_cast<double>(first.iteration_time), static_cast<double>(second.iteration_time));
    second.iteration_time = per_iteration(others, covered() - 1);
    second.skipped = std::max<std::int64_t>(second.skipped - first.skipped, 0);
    using Name = std::tuple<std::string_view, LoggedTimer::Of, std::int64_t>;
    std::map<Name, Nanoseconds> of_first;
    for (const LoggedTimer& timer : first.timers) of_first[{timer.name, timer.of, timer.rank}] = timer.time;
    std::erase_if(second.timers, [&](LoggedTimer& timer) {
      const auto same = of_first.find({timer.name, timer.of, timer.rank});
      const bool of_one = timer.of == LoggedTimer::Of::kRank || timer.of == LoggedTimer::Of::kLastRank;
      if (!of_one || same == of_first.end() || same->second > timer.time) return true;  // no rank is least in both
      timer.time -= same->second;
      return false;
    });
    scale_timers(second, covered() - 1);
  }

  // Of sums over --log-interval, those of `iterations`.
  void scale_timers(LoggedInterval& line, std::int64_t iterations) const {
    if (interval_ == 0) line.timers.clear();
    for (LoggedTimer& timer : line.timers) {
      const double total = static_cast<double>(timer.time) * static_cast<double>(interval_);
      timer.time = std::min(per_iteration(total, iterations), kLongestDuration);
    }
  }

  // Samples that went by since the line before, by the line's batch.
  [[nodiscard]] bool of_one_batch(std::size_t k) const {
    const LoggedInterval& line = lines_[k];
    const LoggedInterval& before = lines_[k - 1];
    if (line.consumed == 0 || before.consumed == 0 || line.global_batch == 0) return true;
    const std::int64_t iterations = line.last_iteration - before.last_iteration;
    return line.consumed - before.consumed == iterations * line.global_batch;
  }

  void batches(std::int64_t global_batch, MeasuredIterations& result) {
    for (std::size_t k = 1; k < lines_.size(); ++k) {
      const bool other = global_batch != 0 && lines_[k].global_batch != 0 &&
                         (lines_[k].global_batch != global_batch || !of_one_batch(k));
      if (other) {
        ++result.smaller;
      } else {
        result.intervals.push_back(lines_[k]);
      }
    }
    if (result.intervals.empty()) result.other_batch = lines_.back().global_batch;
  }

  // An iteration whose gradients overflowed has no optimizer. Where all lines have such, they are all there is.
  static void leave_out_skipping(MeasuredIterations& result) {
    const auto skips = [](const LoggedInterval& line) { return line.skipped > 0; };
    if (!std::all_of(result.intervals.begin(), result.intervals.end(), skips)) {
      result.skipping = std::erase_if(result.intervals, skips);
    }
  }

  const MegatronLog& log_;
  std::vector<LoggedInterval> lines_;
  std::int64_t interval_ = 0;  // iterations of a line; 0: not known
};

}  // namespace

MeasuredIterations measured_iterations(const MegatronLog& log, std::int64_t global_batch) {
  return Lines(log).measured(global_batch);
}

Nanoseconds median_iteration_time(const MeasuredIterations& measured) {
  std::vector<Nanoseconds> times;
  for (const LoggedInterval& line : measured.intervals) times.push_back(line.iteration_time);
  return lower_median(std::move(times));
}

}  // namespace debubble
