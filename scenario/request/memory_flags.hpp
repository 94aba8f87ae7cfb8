// Flags about the memory; part of every verb that takes a scenario.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scenario/request/flag.hpp"
#include "sim/analysis/memory_fit.hpp"
#include "sim/core/units.hpp"

namespace debubble {

// As typed.
struct MemoryFlags {
  std::string memory;
  std::string outside;
  std::string allocator;
  std::string reserve;
};

[[nodiscard]] FlagRows flag_rows(MemoryFlags& flags);

// The flags, checked.
struct MemoryScenario {
  enum class From {
    kModel,     // where a transformer is modelled: what its hardware has; else nothing is judged
    kHardware,  // --memory auto
    kGiven,
    kNothing  // --memory off
  };
  From from = From::kModel;
  std::vector<Bytes> sizes;      // kGiven: of every device, or of each
  std::optional<Bytes> outside;  // of each device, not the allocator's
  AllocatorKind allocator = AllocatorKind::kCaching;
  double reserve = 0;  // taken beyond what the replayed allocator takes, as a share of that
};

// Throws InputError with everything that is wrong with them.
[[nodiscard]] MemoryScenario check_memory(const MemoryFlags& flags);

}  // namespace debubble
