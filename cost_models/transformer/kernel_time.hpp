// How long one kernel takes: roofline, tiles and waves, measured efficiency where there is a table.
#pragma once

#include <string>
#include <vector>

#include "cost_models/transformer/hardware.hpp"
#include "cost_models/transformer/layer_ops.hpp"

namespace debubble {

// One measured matrix product: the share of the peak it reached.
struct MeasuredShape {
  std::int64_t batch = 1, rows = 0, columns = 0, inner = 0;
  LayerOp::Phase phase = LayerOp::Phase::kForward;
  double efficiency = 0;
};

struct KernelModel {
  Hardware hardware;
  Efficiency efficiency;
  std::vector<MeasuredShape> measured;  // used where a shape fits exactly; else the model
};

// Share of the multiprocessors' time that a product of rows x columns uses when its tiles run in waves: 1 is all of it.
[[nodiscard]] double wave_efficiency(std::int64_t batch, std::int64_t rows, std::int64_t columns,
                                     const Hardware& hardware);

// Of everything but collectives.
[[nodiscard]] Nanoseconds kernel_time(const LayerOp& op, const KernelModel& model);

}  // namespace debubble
