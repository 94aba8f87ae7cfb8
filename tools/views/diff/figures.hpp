// A figure of both runs in JSON and CSV.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <string_view>

#include "formats/json/json.hpp"
#include "sim/analysis/comparison.hpp"

namespace debubble {

[[nodiscard]] inline Json diff_number(Nanoseconds value) { return value; }
[[nodiscard]] inline Json diff_number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

// {"predicted": ..., "measured": ..., "gap": ..., "p10": ..., "p90": ...}
template <typename T>
[[nodiscard]] Json figure_json(const Figure<T>& figure) {
  return {{"predicted", diff_number(figure.predicted)},
          {"measured", diff_number(figure.measured)},
          {"gap", diff_number(figure.gap())},
          {"p10", diff_number(figure.low)},
          {"p90", diff_number(figure.high)}};
}

[[nodiscard]] inline std::string csv_number(Nanoseconds value) { return fmt::format("{}", value); }
[[nodiscard]] inline std::string csv_number(double value) {
  return std::isfinite(value) ? fmt::format("{}", value) : "";
}

inline constexpr std::string_view kFigureColumns = "quantity,device,unit,predicted,measured,gap,p10,p90\n";

template <typename T>
[[nodiscard]] std::string csv_row(std::string_view quantity, const std::string& device, std::string_view unit,
                                  const Figure<T>& figure) {
  return fmt::format("{},{},{},{},{},{},{},{}\n", quantity, device, unit, csv_number(figure.predicted),
                     csv_number(figure.measured), csv_number(figure.gap()), csv_number(figure.low),
                     csv_number(figure.high));
}

}  // namespace debubble
