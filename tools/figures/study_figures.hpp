// Figures of many runs: bars of their steps and peaks, and step time against memory with the Pareto front.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/core/units.hpp"
#include "tools/figures/drawing.hpp"

namespace debubble::figure {

struct ComparedBar {
  std::string label;
  Nanoseconds step = 0;
  double bubble_ratio = 0;  // of the step
  Bytes peak = 0;           // of the device that takes most
};

struct FigureFrame {
  std::string title = {};
  std::string description = {};
  std::optional<Bytes> limit = {};  // of a device's memory
  Length width = 0;
  bool mono = false;
};

//     zb-h1  |#####..| 27.00 ms   |####| 4.00 MiB
//     1f1b   |#####....| 33.00 ms |####| 4.00 MiB
// In the order given; at least one run.
[[nodiscard]] Drawing bars_figure(const std::vector<ComparedBar>& runs, const FigureFrame& frame);

struct FrontPoint {
  std::string label;
  Nanoseconds step = 0;
  Bytes peak = 0;
};

// Points of the front have letters, which a list below explains; of a long front, a dozen. Points that another one
// beats in one respect and equals in the other are not on it. At least one point.
[[nodiscard]] Drawing front_figure(const std::vector<FrontPoint>& points, const FigureFrame& frame);

// The numbers of those that no other beats in both step and peak, the fastest first; of equal ones the first.
[[nodiscard]] std::vector<std::size_t> on_front(const std::vector<FrontPoint>& points);

}  // namespace debubble::figure
