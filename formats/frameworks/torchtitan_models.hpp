// torchtitan's model registry: what `model.name` and `model.flavor` mean.
#pragma once

#include <string>
#include <vector>

#include "schedules/common/contract.hpp"

namespace debubble {

struct TorchtitanFlavour {
  const char* name;     // "llama3"
  const char* flavour;  // "8B"
  const char* sizes;    // for --model llama --model-size
};

// Of torchtitan/models/*/__init__.py, as of December 2025.
[[nodiscard]] const std::vector<TorchtitanFlavour>& torchtitan_flavours();

// The row of the catalog that PyTorch's schedule class is, "Interleaved1F1B"; nullptr: there is none.
[[nodiscard]] const ScheduleEntry* schedule_of_torchtitan(const std::string& class_name);

}  // namespace debubble
