#include "formats/importers/imported_run.hpp"

#include <algorithm>
#include <optional>
#include <tuple>

#include "sim/core/median.hpp"
#include "sim/core/quantities.hpp"
#include "sim/core/words.hpp"

namespace debubble {

std::int64_t trim_overlaps(std::vector<ObservedOp>& ops) {
  std::sort(ops.begin(), ops.end(), [](const ObservedOp& a, const ObservedOp& b) {
    return std::tie(a.device, a.begin, a.end) < std::tie(b.device, b.begin, b.end);
  });
  std::int64_t trimmed = 0;
  for (std::size_t k = 1; k < ops.size(); ++k) {
    ObservedOp& before = ops[k - 1];
    const Nanoseconds overlap = before.end - ops[k].begin;
    if (before.device != ops[k].device || overlap <= 0 || overlap > kRangeRounding) continue;
    before.end = ops[k].begin;
    ++trimmed;
  }
  return trimmed;
}

void drop_warm_up(ImportedRun& run) {
  if (run.iterations.size() < 3) return;
  std::vector<Nanoseconds> lengths;
  for (const ImportedIteration& iteration : run.iterations) {
    std::optional<Nanoseconds> first;
    std::optional<Nanoseconds> last;
    for (const ObservedOp& op : iteration.observation.ops) {
      first = std::min(first.value_or(op.begin), op.begin);
      last = std::max(last.value_or(op.end), op.end);
    }
    lengths.push_back(last.value_or(0) - first.value_or(0));
  }
  const double longest = 1.25 * static_cast<double>(lower_median(lengths));
  std::size_t dropped = 0;
  while (dropped < lengths.size() && static_cast<double>(lengths[dropped]) > longest) ++dropped;
  if (dropped == 0) return;
  std::string list;
  for (std::size_t k = 0; k < dropped; ++k) {
    list += (k == 0 ? "" : ", ") + run.iterations[k].name + " (" + format_duration(lengths[k]) + ")";
  }
  run.notes.push_back(counted(static_cast<std::int64_t>(dropped), "iteration") +
                      " at the start, more than a quarter longer than the median of " +
                      format_duration(lower_median(lengths)) + ", left out as warm-up: " + list);
  run.iterations.erase(run.iterations.begin(), run.iterations.begin() + static_cast<std::ptrdiff_t>(dropped));
}

}  // namespace debubble
