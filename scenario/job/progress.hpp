// Progress: where long work is announced as it begins, to whoever wants to show it.
#pragma once

#include <string>

namespace debubble {

class Progress {
 public:
  virtual ~Progress() = default;

  // Names the work that begins now, e.g. "simulating 10000000 ops".
  virtual void phase(std::string name) = 0;
};

// For nobody.
class NoProgress final : public Progress {
 public:
  void phase(std::string /*name*/) override {}
};

}  // namespace debubble
