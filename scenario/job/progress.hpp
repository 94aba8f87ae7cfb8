// Progress: tells on stderr what takes so long, once anything has taken longer than two seconds.
//
//     debubble: simulating 10000000 ops ...        (nothing at all on a quick run)
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace debubble {

class Progress {
 public:
  // `speaks` is false where somebody else tells the same: the other ranks of a run.
  explicit Progress(bool speaks = true);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Names the work that begins now, e.g. "simulating 10000000 ops".
  void phase(std::string name);

 private:
  void watch();

  std::mutex mutex_;
  std::condition_variable ended_;
  std::string phase_;
  std::string reported_;
  bool done_ = false;
  bool speaks_ = true;
  std::thread watcher_;
};

}  // namespace debubble
