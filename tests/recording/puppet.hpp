// A thread that does one thing at a time, when it is told to, while the teller waits: programs that play a recording
// again need a thread for every thread of it, in the order of the recording.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace debubble::testing {

class Puppet {
 public:
  Puppet() : thread_([this] { run(); }) {}
  ~Puppet() {
    tell(nullptr);
    thread_.join();
  }
  Puppet(const Puppet&) = delete;
  Puppet& operator=(const Puppet&) = delete;

  // Returns when the task is done.
  void tell(const std::function<void()>& task) {
    std::unique_lock lock(mutex_);
    task_ = task;
    told_ = true;
    change_.notify_all();
    change_.wait(lock, [&] { return !told_; });
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    for (bool last = false; !last;) {
      change_.wait(lock, [&] { return told_; });
      last = task_ == nullptr;
      if (!last) task_();
      told_ = false;
      change_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable change_;
  std::function<void()> task_;
  bool told_ = false;
  std::thread thread_;
};

}  // namespace debubble::testing
