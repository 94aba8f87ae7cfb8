// What is known of a piece of hardware, figure by figure, with who says so.
#pragma once

#include <string>
#include <vector>

#include "cost_models/transformer/hardware.hpp"
#include "sim/core/assumption.hpp"

namespace debubble {

// Every figure it has, and what holds for those that its file lacks: {key "memory bandwidth", amount "3350 GB/s",
// source, subject the hardware's name, meaning "of device memory", citation}.
[[nodiscard]] std::vector<Assumption> hardware_facts(const Hardware& hardware);

// Where its figures are from, and its kernels: "published", "published, with assumptions"; "measured: h100's table",
// "default: the A100's shares, ...".
struct HardwareQuality {
  std::string figures;
  std::string kernels;
};
[[nodiscard]] HardwareQuality hardware_quality(const Hardware& hardware);

}  // namespace debubble
