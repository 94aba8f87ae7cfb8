// A fresh run for a suite's scenario: the same schedule and costs as predicted, on one of the live backends.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/core/run_record.hpp"
#include "tools/progress.hpp"
#include "tools/run.hpp"
#include "tools/scenario.hpp"

namespace CLI {
class App;
}

namespace debubble {

// The members of "live", named like the flags of `debubble live`.
struct FreshRunFlags {
  std::string backend = "cpu";
  std::string clock;
  std::optional<int> repetitions;
  std::optional<int> warm_up;
  std::vector<std::string> faults;
};
void add_fresh_run_flags(CLI::App& verb, FreshRunFlags& flags);

}  // namespace debubble
