// PyTorch's compute-only schedule table (CSV): one row per device, one cell per action.
//
//     0F0,0F1,,,0B0,0B1          <stage><F|B|I|W><microbatch>, empty = idle (cosmetic), LF, no header
//     ,1F0,1B0,1F1,1B1,          (aFi;bBj)OVERLAP_F_B = an overlapped pair
//
// Schedules with several replicas use the same grammar: stage numbers are the model's in every replica, microbatches
// are numbered over all replicas, and the device whose row lists an op is where it runs.
#pragma once

#include <string>
#include <string_view>

#include "sim/core/schedule.hpp"

namespace debubble {

// The table without idle cells, LF line ends.
[[nodiscard]] std::string write_compute_table(const Schedule& schedule);

// Reads a table, strictly: every cell matches the grammar in full, every (stage, microbatch) runs forward once and
// backward completely once (B, or I and W), numbers leave no gaps, each microbatch stays on its replica's devices,
// and the rows cannot deadlock. CRLF line ends and blanks around a cell are accepted, as PyTorch's writer makes them.
// Every problem is reported with row and column (1-based), all at once. `name` is the file's name for messages.
[[nodiscard]] Schedule read_compute_table(std::string_view text, const std::string& name);

}  // namespace debubble
