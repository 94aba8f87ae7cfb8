// Tells on stderr what takes so long, once anything has taken longer than two seconds.
//
//     debubble: simulating 10000000 ops ...        (nothing at all on a quick run)
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "scenario/job/progress.hpp"

namespace debubble {

class StderrProgress final : public Progress {
 public:
  StderrProgress();
  ~StderrProgress() override;
  StderrProgress(const StderrProgress&) = delete;
  StderrProgress& operator=(const StderrProgress&) = delete;

  void phase(std::string name) override;

 private:
  void watch();

  std::mutex mutex_;
  std::condition_variable ended_;
  std::string phase_;
  std::string reported_;
  bool done_ = false;
  std::thread watcher_;
};

// How far a sweep is, on stderr, once it has taken longer than two seconds: then every few seconds, ever more seldom.
//
//     debubble: 12400 of 100000 rows, 31 of them did not run, about 40 s left
class SweepProgress {
 public:
  // `first` rows are there already.
  SweepProgress(std::int64_t first, std::int64_t rows);
  // Rows that are done by now, `first` among them, and how many of this run's did not run.
  void done(std::int64_t rows, std::int64_t failed);

 private:
  std::int64_t first_;
  std::int64_t rows_;
  std::chrono::steady_clock::time_point begin_;
  std::chrono::steady_clock::time_point due_;
};

}  // namespace debubble
