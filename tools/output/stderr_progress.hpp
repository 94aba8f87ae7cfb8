// Tells on stderr what takes so long, once anything has taken longer than two seconds.
//
//     debubble: simulating 10000000 ops ...        (nothing at all on a quick run)
#pragma once

#include <condition_variable>
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

}  // namespace debubble
