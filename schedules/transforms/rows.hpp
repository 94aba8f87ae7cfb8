// What several transforms do to rows: look at their cells, and carry the copy lane over to new rows.
#pragma once

#include <cstddef>
#include <vector>

#include "sim/core/schedule.hpp"

namespace debubble {

// Whether the op at `at` is the second of a pair.
[[nodiscard]] inline bool ends_pair(const std::vector<Op>& row, std::size_t at) {
  return at > 0 && row[at - 1].paired_with_next;
}

[[nodiscard]] bool has_kind(const Schedule& schedule, OpKind kind);

// Points the copies of `schedule`, made for the rows it had, at the same ops of the rows it has now; a B that became
// an I is the same op.
void repoint_copies(Schedule& schedule, const std::vector<std::vector<Op>>& rows_before);

}  // namespace debubble
