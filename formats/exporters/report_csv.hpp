// Reports as CSV (RFC 4180, but LF line ends as everywhere in debubble): `--format csv`.
//
//     device,busy_ns,idle_ns,bubble_ratio,idle_fill_ns,...        simulate: one row per device
//     schedule,devices,...,makespan_ns,...,status                 compare: one row per run
//
// The first row names the columns, units included, by the words of the JSON: read them by name, for columns are added
// before the last. Idle times by cause of a run are of all its devices together. What is not known is an empty field.
// Numbers never depend on the locale; reals have the digits that bring back the same double.
#pragma once

#include <span>
#include <string>

#include "sim/analysis/report.hpp"

namespace debubble {

// One row per device; the header alone for a run without result.
[[nodiscard]] std::string devices_csv(const Report& report);

// One row per run. `status` is "ok", "deadlock", or the first error finding's message.
[[nodiscard]] std::string runs_csv(std::span<const Report> reports);

}  // namespace debubble
