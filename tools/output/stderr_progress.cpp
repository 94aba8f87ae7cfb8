#include "tools/output/stderr_progress.hpp"

#include <chrono>
#include <utility>

#include "tools/output/stderr_line.hpp"

namespace debubble {

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

}  // namespace debubble
