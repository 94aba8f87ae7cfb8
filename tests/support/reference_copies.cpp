#include "tests/support/reference_copies.hpp"

#include <algorithm>
#include <stdexcept>

namespace debubble::reference {
namespace {

bool contains(const Cell& cell, OpKind kind, int stage, int piece) {
  return std::any_of(cell.members.begin(), cell.members.end(),
                     [&](const Op& op) { return op.kind == kind && op.stage == stage && op.microbatch == piece; });
}

// What the copy waits for beside the one before it. False when that has not happened yet.
bool copy_may_start(const Copy& copy, std::size_t device, const Schedule& schedule, const Outcome& outcome,
                    Nanoseconds& when) {
  when = 0;
  if (copy.way == Copy::Way::kBack && copy.after < 0) return true;
  for (const Cell& cell : outcome.cells[device]) {
    const bool made_it = contains(cell, OpKind::kForward, copy.stage, copy.microbatch);
    if (copy.way == Copy::Way::kOut && made_it) {
      when = cell.end;
      return cell.end >= 0;
    }
    if (copy.way == Copy::Way::kOut) continue;
    const Op& awaited = schedule.rows[device].at(static_cast<std::size_t>(copy.after));
    if (!contains(cell, awaited.kind, awaited.stage, awaited.microbatch)) continue;
    when = cell.begin;
    return cell.end >= 0;
  }
  throw std::logic_error("a copy of something that never runs");
}

}  // namespace

bool run_copies(const Schedule& schedule, Outcome& outcome) {
  bool progress = false;
  for (std::size_t d = 0; d < outcome.copies.size(); ++d) {
    Nanoseconds free = 0;
    for (CopyRun& run : outcome.copies[d]) {
      Nanoseconds when = 0;
      if (run.end < 0) {
        if (!copy_may_start(run.copy, d, schedule, outcome, when)) break;
        run.begin = std::max(free, when);
        run.end = run.begin + run.duration;
        progress = true;
      }
      free = run.end;
    }
  }
  return progress;
}

bool copies_are_back(Cell& cell, std::size_t device, const Outcome& outcome) {
  if (outcome.copies.empty()) return true;
  for (const CopyRun& run : outcome.copies[device]) {
    if (run.copy.way == Copy::Way::kOut) continue;
    for (const OpKind kind : {OpKind::kRecompute, OpKind::kBackward, OpKind::kInputGrad}) {
      if (!contains(cell, kind, run.copy.stage, run.copy.microbatch)) continue;
      if (run.end < 0) return false;
      cell.ready = std::max(cell.ready, run.end);
    }
  }
  return true;
}

}  // namespace debubble::reference
