// Progress: who wants to know what takes so long is told here which work begins.
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
