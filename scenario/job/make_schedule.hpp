// The schedule of a scenario: built by the catalog or read from a file, and transformed.
#pragma once

#include <string>
#include <string_view>

#include "scenario/request/scenario.hpp"
#include "sim/core/schedule.hpp"

namespace debubble {

// `name` is a catalog name or a file (formats/schedule/schedule_file.hpp). Throws InputError when the scenario is
// illegal for the schedule.
[[nodiscard]] Schedule make_schedule(const Scenario& scenario, const std::string& name);

// Whether a schedule's name is that of a file: it ends in .csv or .json, or these and .gz, or holds a slash; or that of
// a program's own, which is taken for one.
[[nodiscard]] bool is_table_file(const std::string& name);

// "mine()": made by a function of the program that uses this library.
inline constexpr std::string_view kOwnScheduleEnding = "()";

// Where a scenario leaves them open.
inline constexpr int kDefaultDevices = 4;
inline constexpr int kDefaultMicrobatches = 8;

}  // namespace debubble
