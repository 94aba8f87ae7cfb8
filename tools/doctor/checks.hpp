// What debubble could use on this machine, one check per thing, each with what to do where it is missing.
#pragma once

#include <string>
#include <vector>

namespace debubble {

struct MachineCheck {
  std::string what;    // "CUPTI"
  std::string status;  // "ok", "missing", or "note" for what is neither
  std::string detail;  // the fact, or what to do about it
  friend bool operator==(const MachineCheck&, const MachineCheck&) = default;
};

// In a fixed order. Touches the GPU as far as counting devices; never throws for what is missing.
[[nodiscard]] std::vector<MachineCheck> check_machine();

// What `python3` of PATH says about PyTorch and our hooks. Starts it, and gives up after some seconds.
[[nodiscard]] std::vector<MachineCheck> check_python();

}  // namespace debubble
