// Counts how deep something is nested while it is alive.
#pragma once

namespace debubble::shell {

class Counted {
 public:
  explicit Counted(int& counter) : counter_(counter) { ++counter_; }
  ~Counted() { --counter_; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  Counted(Counted&&) = delete;
  Counted& operator=(Counted&&) = delete;

 private:
  int& counter_;
};

}  // namespace debubble::shell
