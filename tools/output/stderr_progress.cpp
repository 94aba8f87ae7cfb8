#include "tools/output/stderr_progress.hpp"
#include "tools/output/stderr_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <utility>

#include "tools/output/stderr_line.hpp"

namespace debubble {
namespace {

std::string time_left(double seconds) {
  constexpr double kMinute = 60;
  constexpr double kHour = 3600;
  if (seconds < 2 * kMinute) return fmt::format("{:.0f} s", seconds);
  return seconds < 2 * kHour ? fmt::format("{:.0f} min", seconds / kMinute) : fmt::format("{:.1f} h", seconds / kHour);
}

}  // namespace

StderrProgress::StderrProgress() : watcher_([this] { watch(); }) {}

StderrProgress::~StderrProgress() {
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  ended_.notify_one();
  watcher_.join();
}

void StderrProgress::phase(std::string name) {
  const std::lock_guard lock(mutex_);
  phase_ = std::move(name);
}

void StderrProgress::watch() {
  using namespace std::chrono_literals;
  std::unique_lock lock(mutex_);
  for (auto patience = 2000ms; !ended_.wait_for(lock, patience, [this] { return done_; }); patience = 1000ms) {
    if (phase_ == reported_) continue;
    reported_ = phase_;
    stderr_line("debubble: " + phase_ + " ...");
  }
}

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
