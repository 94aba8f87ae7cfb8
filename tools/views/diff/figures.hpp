// A figure of both runs in JSON and CSV.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <string_view>

#include "formats/json/json.hpp"
#include "sim/analysis/comparison.hpp"
#include "studies/diff/diff.hpp"

namespace debubble {

[[nodiscard]] inline Json diff_number(Nanoseconds value) { return value; }
[[nodiscard]] inline Json diff_number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

// Of which sides a figure is known.
struct KnownSides {
  bool predicted = true;
  bool measured = true;
};

[[nodiscard]] inline KnownSides memory_known(const Diff& diff) {
  return {diff.knows_memory(&Figure<Bytes>::predicted), diff.knows_memory(&Figure<Bytes>::measured)};
}

// {"predicted": ..., "measured": ..., "gap": ..., "p10": ..., "p90": ...}; null: not known
template <typename T>
[[nodiscard]] Json figure_json(const Figure<T>& figure, KnownSides known = {}) {
  const auto number = [](T value, bool is_known) { return is_known ? diff_number(value) : Json(nullptr); };
  return {{"predicted", number(figure.predicted, known.predicted)},
          {"measured", number(figure.measured, known.measured)},
          {"gap", number(figure.gap(), known.predicted && known.measured)},
          {"p10", number(figure.low, known.measured)},
          {"p90", number(figure.high, known.measured)}};
}

[[nodiscard]] inline std::string csv_number(Nanoseconds value) { return fmt::format("{}", value); }
[[nodiscard]] inline std::string csv_number(double value) {
  return std::isfinite(value) ? fmt::format("{}", value) : "";
}

inline constexpr std::string_view kFigureColumns = "quantity,device,unit,predicted,measured,gap,p10,p90\n";

template <typename T>
[[nodiscard]] std::string csv_row(std::string_view quantity, const std::string& device, std::string_view unit,
                                  const Figure<T>& figure, KnownSides known = {}) {
  const auto number = [](T value, bool is_known) { return is_known ? csv_number(value) : std::string(); };
  return fmt::format("{},{},{},{},{},{},{},{}\n", quantity, device, unit, number(figure.predicted, known.predicted),
                     number(figure.measured, known.measured), number(figure.gap(), known.predicted && known.measured),
                     number(figure.low, known.measured), number(figure.high, known.measured));
}

}  // namespace debubble
