// Measured shapes: what a table says about a kernel, and about one that is not quite in it.
#pragma once

#include <functional>
#include <optional>

#include "cost_models/transformer/kernel_time.hpp"

namespace debubble {

// The share of the peak that a shape of the table reached, if it is the op's; else, where a similar one was measured,
// that one's share corrected by what the model says of both: their waves, mostly. Nothing where the nearest shape is
// further away than a factor of four over all sizes together.
// `modelled` is the model's share of a shape.
[[nodiscard]] std::optional<double> measured_share(const LayerOp& op, const std::vector<MeasuredShape>& measured,
                                                   const std::function<double(const LayerOp&)>& modelled);

}  // namespace debubble
