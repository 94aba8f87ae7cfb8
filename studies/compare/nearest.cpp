#include "studies/compare/nearest.hpp"

#include <algorithm>
#include <limits>

#include "formats/exporters/report_json.hpp"
#include "sim/analysis/finding.hpp"
#include "studies/simulate/remedies.hpp"
#include "studies/simulate/room.hpp"

namespace debubble {
namespace {

// What it lacks; nothing where it fits, or fails for another reason.
std::optional<Bytes> lacking_bytes(const Report& report) {
  if (out_of_memory(report)) return -report.memory_fit->spare;
  for (const Finding& finding : report.findings) {
    if (const auto* over = std::get_if<OverMemoryLimit>(&finding)) return over->peak - over->limit;
  }
  return std::nullopt;
}

double time_of_work(const Contender& one) {
  return static_cast<double>(one.report.makespan) / std::max(one.work, 1e-9);
}

}  // namespace

std::optional<std::size_t> nearest_to_fit(const std::vector<Contender>& contenders) {
  constexpr double kTooSlow = 2;
  double fastest = std::numeric_limits<double>::infinity();
  for (const Contender& one : contenders) {
    if (has_result(one.report) && lacking_bytes(one.report)) fastest = std::min(fastest, time_of_work(one));
  }
  std::optional<std::size_t> nearest;
  Bytes least = 0;
  for (std::size_t k = 0; k < contenders.size(); ++k) {
    const Report& report = contenders[k].report;
    const bool failed = std::any_of(report.findings.begin(), report.findings.end(), is_error);
    if (has_result(report) && !failed) return std::nullopt;
    const std::optional<Bytes> lacks = has_result(report) ? lacking_bytes(report) : std::nullopt;
    if (!lacks || time_of_work(contenders[k]) > kTooSlow * fastest || (nearest && *lacks >= least)) continue;
    nearest = k;
    least = *lacks;
  }
  return nearest;
}

void try_remedies(const Scenario& scenario, const Terms& terms, Contender& contender, Progress& progress) {
  if (terms.equal != Equal::kDevices || !out_of_memory(contender.report)) return;
  Scenario own = scenario_for(scenario, contender.name);
  if (contender.entry != nullptr && contender.entry->default_chunks > 1) own.chunks = contender.report.schedule.chunks;
  const Report tried = with_remedies(own, contender.name, simulate(own, contender.name, progress), progress);
  if (!tried.memory_fit) return;
  contender.report.memory_fit->remedies = tried.memory_fit->remedies;
  for (Finding& finding : contender.report.findings) {
    if (auto* found = std::get_if<OutOfMemory>(&finding)) found->remedies_tried = true;
  }
}

}  // namespace debubble
