// The words of run files that their writer and their reader share.
#pragma once

#include <array>
#include <string_view>

#include "sim/core/p2p.hpp"
#include "sim/core/schedule.hpp"
#include "sim/core/stage_costs.hpp"

namespace debubble {

inline constexpr std::string_view kRunFormat = "debubble.run/1";

// In the order of P2p.
inline constexpr std::array<std::string_view, 3> kP2pWords{"overlapped", "blocking", "coupled"};
[[nodiscard]] constexpr std::string_view to_word(P2p p2p) { return kP2pWords[static_cast<std::size_t>(p2p)]; }

// In the order of Asynchrony::Versions and of Copy::Way.
inline constexpr std::array<std::string_view, 4> kVersionWords{"latest", "stashed", "per-batch", "predicted"};
[[nodiscard]] constexpr std::string_view to_word(Asynchrony::Versions versions) {
  return kVersionWords[static_cast<std::size_t>(versions)];
}
inline constexpr std::array<std::string_view, 2> kWayWords{"OUT", "BACK"};
[[nodiscard]] constexpr std::string_view to_word(Copy::Way way) { return kWayWords[static_cast<std::size_t>(way)]; }

// One number of a StageCost and its key.
struct CostField {
  std::string_view key;
  std::int64_t StageCost::*value;
  bool is_time;
  bool optional = false;  // absent where it is 0
  bool rare = false;      // absent where it is 0 from the facts of a trace, too
};
[[nodiscard]] constexpr std::array<CostField, 17> cost_fields() {
  return {{{"forward_ns", &StageCost::forward, true},
           {"backward_ns", &StageCost::backward, true},
           {"input_grad_ns", &StageCost::input_grad, true},
           {"weight_grad_ns", &StageCost::weight_grad, true},
           {"activation_bytes", &StageCost::activation, false},
           {"weight_grad_held_bytes", &StageCost::weight_grad_held, false},
           {"output_bytes", &StageCost::output, false},
           {"weights_bytes", &StageCost::weights, false},
           {"gradients_bytes", &StageCost::gradients, false},
           {"optimizer_bytes", &StageCost::optimizer, false},
           {"workspace_bytes", &StageCost::workspace, false},
           {"recompute_ns", &StageCost::recompute, true, true},
           {"checkpoint_bytes", &StageCost::checkpoint, false, true},
           {"copy_ns", &StageCost::copy, true, true},
           {"forward_collective_ns", &StageCost::forward_collective, true, true, true},
           {"backward_collective_ns", &StageCost::backward_collective, true, true, true},
           {"comm_buffers_bytes", &StageCost::comm_buffers, false, true, true}}};
}

}  // namespace debubble
