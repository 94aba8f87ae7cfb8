// How far a sweep is, on stderr, once it has taken longer than two seconds: then every few seconds, ever more seldom.
//
//     debubble: 12400 of 100000 rows, 31 of them did not run, about 40 s left
#pragma once

#include <chrono>
#include <cstdint>

namespace debubble {

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
