// Checks of schedules that we did not make: complete, on the right devices, and free of deadlock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/schedule.hpp"
#include "sim/rows/deadlock.hpp"

namespace debubble {

// One thing wrong with a schedule. `device` and `position` point at the op in its row. Of a missing op the device is
// the one it belongs to, where that is known, and the position -1; both are -1 when the fault is in no row.
struct ScheduleProblem {
  std::string code;  // "T004": the codes of docs/errors.md
  std::int32_t device = -1;
  std::int32_t position = -1;
  // The other op that the message names, where there is one: the first of two, the later one that is needed, ...
  std::int32_t other_device = -1;
  std::int32_t other_position = -1;
  std::string message;
  std::string help;
};

// Nobody reads more, and a hostile table could have one for each of its millions of cells.
inline constexpr std::size_t kMostScheduleProblems = 10'000;

// Everything wrong with the rows, of more than kMostScheduleProblems the first that were found: numbers out of range,
// ops twice, backward both whole and split, F or backward missing, ops on another device than their stage's, a device
// that needs its own later op. Faults of the whole come first, then those of the rows in order, then missing ops. Safe
// for rows that hold anything; linear in the number of ops, and takes no memory for numbers that are merely large.
[[nodiscard]] std::vector<ScheduleProblem> find_problems(const Schedule& schedule);

// The cycle of waiting devices that a complete schedule runs into, if any, when transfers never hold a lane; it begins
// with the lowest device in it. An input that no row makes counts as there (find_problems reports it). Linear.
//
//     rows[0]  0F0 0B0 ...       0B0 waits for 1B0 on device 1,
//     rows[1]  1F1 1F0 1B0 ...   which waits at 1F1 for 0F1, which device 0 has after 0B0
[[nodiscard]] std::optional<Deadlock> find_deadlock(const Schedule& schedule);

}  // namespace debubble
