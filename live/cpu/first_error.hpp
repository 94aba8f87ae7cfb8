// FirstError: of the errors that several threads end with, the one that came first. The others often follow from it.
#pragma once

#include <exception>
#include <mutex>
#include <utility>

namespace debubble::live {

class FirstError {
 public:
  // Any thread.
  void keep(std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::move(error);
  }
  // Once all threads have ended. Returns when there was none.
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr error_;
};

}  // namespace debubble::live
