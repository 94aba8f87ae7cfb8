#include "schedules/transforms/rows.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "sim/core/at.hpp"

namespace debubble {

namespace {

using RowKey = std::tuple<OpKind, std::int32_t, std::int32_t>;

RowKey row_key(const Op& op) {
  return {op.kind == OpKind::kBackward ? OpKind::kInputGrad : op.kind, op.stage, op.microbatch};
}

}  // namespace

bool has_kind(const Schedule& schedule, OpKind kind) {
  return std::any_of(schedule.rows.begin(), schedule.rows.end(), [kind](const auto& row) {
    return std::any_of(row.begin(), row.end(), [kind](const Op& op) { return op.kind == kind; });
  });
}

void repoint_copies(Schedule& schedule, const std::vector<std::vector<Op>>& rows_before) {
  for (std::size_t device = 0; device < schedule.copies.size(); ++device) {
    const std::vector<Op>& row = schedule.rows[device];
    std::map<RowKey, std::int32_t> position;
    for (std::size_t at = 0; at < row.size(); ++at) {
      const std::size_t first = ends_pair(row, at) ? at - 1 : at;
      position.emplace(row_key(row[at]), static_cast<std::int32_t>(first));
    }
    for (Copy& copy : schedule.copies[device]) {
      if (copy.after < 0) continue;
      copy.after = position.at(row_key(rows_before[device][to_index(copy.after)]));
    }
  }
}

}  // namespace debubble
