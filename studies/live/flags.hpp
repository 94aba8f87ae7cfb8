// The flags that only `debubble live` has, as typed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scenario/request/flag.hpp"
#include "studies/measure/sizes.hpp"

namespace debubble {

struct LiveFlags {
  std::string backend = "cpu";
  std::string clock;  // empty: by the number of cores
  std::string costs;
  std::optional<int> repetitions;
  std::optional<int> warm_up;
  std::optional<int> watchdog;  // seconds
  std::vector<std::string> faults;
  // GPUs.
  std::string model;
  SizeFlags sizes;
  std::string launch;
  std::string gpus;
  std::optional<int> gpu;
  // PyTorch.
  std::string stages_from;
  std::string precision;
};

[[nodiscard]] FlagRows flag_rows(LiveFlags& flags);

}  // namespace debubble
