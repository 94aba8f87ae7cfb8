// Tallies: how often each kernel ran and for how long, by layer or category of the rest, phase and rule.
//
// A flat open-addressing table: it is touched once per kernel. Entries number layers x phases x kernel names, whatever
// the length of the recording.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "profiler/attribution/slot.hpp"
#include "sim/core/units.hpp"

namespace debubble::attribution {

// From here on new kernels of a layer are counted together.
inline constexpr std::size_t kMostTallies = std::size_t{1} << 20;

struct Tally {
  bool in_layer = false;
  std::uint32_t layer = 0;  // number of the layer
  Phase phase = Phase::kForward;
  Rule rule = Rule::kRest;
  Rest rest = Rest::kUnlinked;
  std::uint32_t kernel = 0;  // number of its name
  std::int64_t count = 0;
  Nanoseconds total = 0;
};

class Tallies {
 public:
  Tallies();
  // `layer` counts only for a slot in a layer.
  void add(const Slot& slot, std::uint32_t layer, std::uint32_t kernel, Nanoseconds duration);
  // In order of layer, phase, rule and number of the kernel's name, the rest last.
  [[nodiscard]] std::vector<Tally> sorted() const;

 private:
  struct Cell {
    std::uint64_t key = 0;  // 0: empty
    std::int64_t count = 0;
    Nanoseconds total = 0;
  };
  [[nodiscard]] Cell& cell(std::uint64_t key);
  void grow();

  std::vector<Cell> cells_;
  std::size_t used_ = 0;
};

}  // namespace debubble::attribution
