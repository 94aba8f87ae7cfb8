#include "formats/importers/imported_run.hpp"

#include <algorithm>
#include <tuple>

namespace debubble {

std::int64_t trim_overlaps(std::vector<ObservedOp>& ops, double share) {
  std::sort(ops.begin(), ops.end(), [](const ObservedOp& a, const ObservedOp& b) {
    return std::tie(a.device, a.begin, a.end) < std::tie(b.device, b.begin, b.end);
  });
  std::int64_t trimmed = 0;
  for (std::size_t k = 1; k < ops.size(); ++k) {
    ObservedOp& before = ops[k - 1];
    const Nanoseconds overlap = before.end - ops[k].begin;
    const Nanoseconds shorter = std::min(before.end - before.begin, ops[k].end - ops[k].begin);
    const Nanoseconds most = std::max(kRangeRounding, static_cast<Nanoseconds>(share * static_cast<double>(shorter)));
    if (before.device != ops[k].device || overlap <= 0 || overlap > most) continue;
    before.end = ops[k].begin;
    ++trimmed;
  }
  return trimmed;
}

}  // namespace debubble
