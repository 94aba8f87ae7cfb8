// The catalog of numbers in a Report that a person can name: one row each, used by --fail-if.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sim/analysis/report.hpp"

namespace debubble {

enum class MetricUnit : std::uint8_t { kNanoseconds, kBytes, kCount, kRatio, kNumber };

struct Metric {
  std::string_view name;   // without unit: "makespan"
  std::string_view key;    // as in the JSON report: "makespan_ns"
  std::string_view alias;  // "bubble"; mostly empty
  MetricUnit unit = MetricUnit::kRatio;
  // Exactly one of the two is set. Integers are ns, bytes or counts; reals may be unknown in a run.
  std::int64_t (*integer)(const Report&) = nullptr;
  std::optional<double> (*real)(const Report&) = nullptr;
  bool (*known)(const Report&) = nullptr;  // of integers; nullptr: always
};

[[nodiscard]] std::span<const Metric> metric_catalog();

// Whether this run has the number.
[[nodiscard]] bool is_known(const Metric& metric, const Report& report);

// The row that goes by this name, key or alias; nullptr when there is none.
[[nodiscard]] const Metric* find_metric(std::string_view name);

// The known name closest to a misspelt one, or "".
[[nodiscard]] std::string closest_metric(std::string_view name);

// The value in `report`, as people read it: "33.00 ms", "27.3 %".
[[nodiscard]] std::string format_metric(const Metric& metric, const Report& report);

}  // namespace debubble
