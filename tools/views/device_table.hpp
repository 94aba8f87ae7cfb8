// Device table: where the time of each device went, and the most it held.
//
//                                               peak  activ-
//     device    busy    idle    fill   drain  memory  ations
//     d0       24.00    9.00    6.00    3.00    4.00    4.00
//     ...
//     share   72.7 %  27.3 %  13.6 %  13.6 %
//     times in ms, memory in MiB, activations in device shares
//
// Columns of causes that no device has are left out; columns that do not fit the width follow in a second table. Of
// more than 16 devices the first and last four are shown. The last row is the share of all devices' time.
#pragma once

#include <string>

#include "sim/analysis/report.hpp"
#include "tools/views/style.hpp"

namespace debubble {

// `report` must have a result.
[[nodiscard]] std::string device_table(const Report& report, const ViewStyle& style);

}  // namespace debubble
