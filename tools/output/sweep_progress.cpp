#include "tools/output/sweep_progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string>

namespace debubble {

namespace {

std::string time_left(double seconds) {
  constexpr double kMinute = 60;
  constexpr double kHour = 3600;
  if (seconds < 2 * kMinute) return fmt::format("{:.0f} s", seconds);
  return seconds < 2 * kHour ? fmt::format("{:.0f} min", seconds / kMinute) : fmt::format("{:.1f} h", seconds / kHour);
}

}  // namespace

SweepProgress::SweepProgress(std::int64_t first, std::int64_t rows)
    : first_(first), rows_(rows), begin_(std::chrono::steady_clock::now()), due_(begin_ + std::chrono::seconds(2)) {}

void SweepProgress::done(std::int64_t rows, std::int64_t failed) {
  const auto now = std::chrono::steady_clock::now();
  if (now < due_ || rows == rows_) return;
  const double taken = std::chrono::duration<double>(now - begin_).count();
  const double left =
      taken * static_cast<double>(rows_ - rows) / static_cast<double>(std::max<std::int64_t>(rows - first_, 1));
  const std::string trouble = failed > 0 ? fmt::format(", {} of them did not run", failed) : "";
  std::fputs(fmt::format("debubble: {} of {} rows{}, about {} left\n", rows, rows_, trouble, time_left(left)).c_str(),
             stderr);
  due_ = now + std::max<std::chrono::steady_clock::duration>(std::chrono::seconds(2), (now - begin_) / 10);
}

}  // namespace debubble
