// OrderBudget: how much a search may do. Counted in nodes (ops tried at a place), the same on every machine and at any
// load; or, where a person asks for it, in time, with which the answer depends on the machine.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace debubble {

class OrderBudget {
 public:
  using Clock = std::chrono::steady_clock;

  explicit OrderBudget(std::int64_t nodes) : left_(nodes) {}
  explicit OrderBudget(std::chrono::nanoseconds time) : left_(INT64_MAX), until_(Clock::now() + time) {}

  // One node more; false where there is none left.
  bool take() {
    if (left_ <= 0) return false;
    --left_;
    ++used_;
    constexpr std::int64_t kLook = 1024;  // nodes between two looks at the clock
    if (until_ && used_ % kLook == 0 && Clock::now() >= *until_) left_ = 0;
    return true;
  }
  // What is no node but takes the time of so many.
  void charge(std::int64_t nodes) {
    left_ = nodes < left_ ? left_ - nodes : 0;
    used_ += nodes;
    if (until_ && Clock::now() >= *until_) left_ = 0;
  }
  [[nodiscard]] bool spent() const { return left_ <= 0; }
  [[nodiscard]] std::int64_t left() const { return left_; }
  [[nodiscard]] std::chrono::nanoseconds time_left() const {
    return until_ ? *until_ - Clock::now() : Clock::duration{};
  }
  [[nodiscard]] bool timed() const { return until_.has_value(); }
  [[nodiscard]] std::int64_t used() const { return used_; }

 private:
  std::int64_t left_;
  std::int64_t used_ = 0;
  std::optional<Clock::time_point> until_;
};

}  // namespace debubble
