// Instances: every execution of a layer for one microbatch, with the GPU time of each of its phases.
//
//     layer range in forward     -> a new instance      F
//     autograd nodes of its ops  -> the same one        I W B, and R for recomputed ops
//     explicit phase ranges      -> one instance each
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "profiler/attribution/slot.hpp"
#include "sim/core/units.hpp"

namespace debubble::attribution {

inline constexpr std::int32_t kNoStep = -1;

struct Instance {
  std::uint32_t layer = 0;
  std::int32_t step = kNoStep;  // index in the stream
  Nanoseconds begin = 0;        // of its range, host time
  std::array<Nanoseconds, kPhases> times{};
  std::uint8_t seen = 0;  // phases that ran, whether or not they launched work
  std::uint8_t explicit_phases = 0;

  [[nodiscard]] bool has(Phase phase) const { return (seen & bit_of(phase)) != 0; }
  [[nodiscard]] Nanoseconds time(Phase phase) const { return times[index_of(phase)]; }
  [[nodiscard]] Nanoseconds total() const {
    Nanoseconds sum = 0;
    for (const Nanoseconds time : times) sum += time;
    return sum;
  }
};

class Instances {
 public:
  [[nodiscard]] std::uint32_t add(std::uint32_t layer, std::int32_t step, Nanoseconds begin) {
    all_.push_back({layer, step, begin, {}, 0, 0});
    return static_cast<std::uint32_t>(all_.size() - 1);
  }
  void mark_seen(std::uint32_t instance, Phase phase) { all_[instance].seen |= bit_of(phase); }

  [[nodiscard]] Instance& operator[](std::uint32_t instance) { return all_[instance]; }
  [[nodiscard]] const Instance& operator[](std::uint32_t instance) const { return all_[instance]; }
  [[nodiscard]] const std::vector<Instance>& all() const { return all_; }
  void clear() { all_.clear(); }

 private:
  std::vector<Instance> all_;
};

}  // namespace debubble::attribution
