// What the categories and names of Kineto's events mean.
#pragma once

#include <cstdint>
#include <string_view>

#include "profiler/records/record.hpp"

namespace debubble {

enum class KinetoCategory : std::uint8_t {
  kNone,
  kOp,
  kAnnotation,
  kPython,
  kLaunch,
  kKernel,
  kCopy,
  kSet,
  kOverhead,
  kArrow,
  kMemory,
  kIgnored,
};

// Without regard to case; "Operator", "Kernel", "Memcpy", "Memset" and "Runtime" are those of 2021. kNone: unknown.
[[nodiscard]] KinetoCategory category_of(std::string_view text);

// A copy as our own recorder names it: "copy device to host" for "Memcpy DtoH (Device -> Pinned)"; other names stay.
struct KinetoCopy {
  std::string_view name;
  GpuWork work = GpuWork::kCopy;
};
[[nodiscard]] KinetoCopy copy_named(std::string_view name);

[[nodiscard]] OverheadKind overhead_named(std::string_view name);

}  // namespace debubble
