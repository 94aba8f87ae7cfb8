#include "sim/analysis/stream.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "sim/core/at.hpp"

namespace debubble {

namespace {

// Which microbatches belong to the steady part, by microbatch.
std::vector<bool> steady_part(const Schedule& schedule) {
  std::vector<bool> steady(static_cast<std::size_t>(schedule.total_pieces()), true);
  for (const auto& row : schedule.rows) {
    const auto is_forward = [](const Op& op) { return op.kind == OpKind::kForward; };
    const auto op_makes_input_gradient = [](const Op& op) { return makes_input_gradient(op.kind); };
    const auto first_backward = std::find_if(row.begin(), row.end(), op_makes_input_gradient) - row.begin();
    const auto behind_forwards = std::find_if(row.rbegin(), row.rend(), is_forward).base() - row.begin();
    for (std::ptrdiff_t k = 0; k < static_cast<std::ptrdiff_t>(row.size()); ++k) {
      const Op& op = at(row, k);
      const bool ramp = (is_forward(op) && k < first_backward) || (op_makes_input_gradient(op) && k >= behind_forwards);
      if (ramp) at(steady, op.microbatch) = false;
    }
  }
  return steady;
}

// When each microbatch of the steady part leaves, in order of microbatch.
std::vector<Nanoseconds> departures(const Timeline& timeline, const Schedule& schedule) {
  const std::vector<bool> steady = steady_part(schedule);
  std::vector<Nanoseconds> leaves(steady.size(), -1);
  const auto look = [&](const Op& op, Nanoseconds end) {
    if (op.stage == 0 && makes_input_gradient(op.kind)) at(leaves, op.microbatch) = end;
  };
  for (const Span& span : timeline.spans) {
    look(span.op, span.end);
    if (const Op* partner = timeline.partner(span)) look(*partner, span.end);
  }
  std::vector<Nanoseconds> result;
  for (std::size_t i = 0; i < steady.size(); ++i) {
    if (steady[i] && leaves[i] >= 0) result.push_back(leaves[i]);
  }
  return result;
}

// Whether `step` microbatches always take the same time, seen at least twice.
bool repeats(const std::vector<Nanoseconds>& leaves, std::size_t step) {
  const Nanoseconds time = leaves[step] - leaves[0];
  for (std::size_t i = 1; i + step < leaves.size(); ++i) {
    if (leaves[i + step] - leaves[i] != time) return false;
  }
  return true;
}

}  // namespace

std::optional<StreamPeriod> stream_period(const Timeline& timeline, const Schedule& schedule) {
  std::vector<Nanoseconds> leaves = departures(timeline, schedule);
  leaves.erase(leaves.begin(), leaves.begin() + static_cast<std::ptrdiff_t>(leaves.size() / 2));
  if (leaves.size() < 2) return std::nullopt;
  std::size_t step = 1;
  while (2 * step < leaves.size() && !repeats(leaves, step)) ++step;
  if (2 * step >= leaves.size()) step = leaves.size() - 1;
  const Nanoseconds time = leaves[step] - leaves[0];
  if (time <= 0) return std::nullopt;
  return StreamPeriod{time, static_cast<int>(step)};
}

}  // namespace debubble
