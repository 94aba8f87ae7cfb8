// The words of run files that their writer and their reader share.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "sim/core/at.hpp"
#include "sim/core/p2p.hpp"
#include "sim/core/schedule.hpp"
#include "sim/core/stage_costs.hpp"

namespace debubble {

inline constexpr std::string_view kRunFormat = "debubble.run/1";

// In the order of P2p.
inline constexpr std::array<std::string_view, 6> kP2pWords{"overlapped", "blocking",   "coupled",
                                                           "late",       "rendezvous", "joined"};
[[nodiscard]] constexpr std::string_view to_word(P2p p2p) { return at(kP2pWords, p2p); }

// In the order of Asynchrony::Versions and of Copy::Way.
inline constexpr std::array<std::string_view, 4> kVersionWords{"latest", "stashed", "per-batch", "predicted"};
[[nodiscard]] constexpr std::string_view to_word(Asynchrony::Versions versions) { return at(kVersionWords, versions); }
inline constexpr std::array<std::string_view, 2> kWayWords{"OUT", "BACK"};
[[nodiscard]] constexpr std::string_view to_word(Copy::Way way) { return at(kWayWords, way); }

// One number of a StageCost and its key.
struct CostField {
  enum class Unit { kTime, kSize, kCount };

  std::string_view key;
  std::int64_t StageCost::*number;  // of times and sizes
  Unit unit;
  bool optional = false;                     // absent where it is 0
  bool rare = false;                         // absent where it is 0 from the facts of a trace, too
  std::int32_t StageCost::*count = nullptr;  // of counts

  [[nodiscard]] constexpr std::int64_t of(const StageCost& cost) const {
    return unit == Unit::kCount ? cost.*count : cost.*number;
  }
  // Whether it is what an op takes, and every file has it.
  [[nodiscard]] constexpr bool op_time() const { return unit == Unit::kTime && !optional; }
  // A count must fit 32 bits.
  constexpr void set(StageCost& cost, std::int64_t value) const {
    if (unit == Unit::kCount) {
      cost.*count = static_cast<std::int32_t>(value);
    } else {
      cost.*number = value;
    }
  }
};
// Of tensors: far beyond what a stage holds for a microbatch, and few enough to be allocated one by one.
inline constexpr std::int64_t kMostCounted = 1'000'000;
[[nodiscard]] constexpr std::array<CostField, 18> cost_fields() {
  using enum CostField::Unit;
  return {{{"forward_ns", &StageCost::forward, kTime},
           {"backward_ns", &StageCost::backward, kTime},
           {"input_grad_ns", &StageCost::input_grad, kTime},
           {"weight_grad_ns", &StageCost::weight_grad, kTime},
           {"activation_bytes", &StageCost::activation, kSize},
           {"weight_grad_held_bytes", &StageCost::weight_grad_held, kSize},
           {"output_bytes", &StageCost::output, kSize},
           {"weights_bytes", &StageCost::weights, kSize},
           {"gradients_bytes", &StageCost::gradients, kSize},
           {"optimizer_bytes", &StageCost::optimizer, kSize},
           {"workspace_bytes", &StageCost::workspace, kSize},
           {"recompute_ns", &StageCost::recompute, kTime, true},
           {"checkpoint_bytes", &StageCost::checkpoint, kSize, true},
           {"copy_ns", &StageCost::copy, kTime, true},
           {"forward_collective_ns", &StageCost::forward_collective, kTime, true, true},
           {"backward_collective_ns", &StageCost::backward_collective, kTime, true, true},
           {"comm_buffers_bytes", &StageCost::comm_buffers, kSize, true, true},
           {"activation_tensors", nullptr, kCount, true, true, &StageCost::activation_tensors}}};
}

// The key of what a stage's ops take while so many devices work, among the facts of a trace; "at_work" lists how many.
[[nodiscard]] inline std::string at_work_key(std::size_t stage, std::int64_t devices) {
  return "op times of stage " + std::to_string(stage) + ", devices at work: " + std::to_string(devices);
}

}  // namespace debubble
