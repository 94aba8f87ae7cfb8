#include "studies/compare/told_apart.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "formats/exporters/report_json.hpp"
#include "studies/uncertainty/step_range.hpp"

namespace debubble {
namespace {

bool can_be_told(const Contender& contender) {
  const Report& report = contender.report;
  return has_result(report) && report.step_range && report.makespan > 0 && contender.work > 0 &&
         std::none_of(report.findings.begin(), report.findings.end(), is_error);
}

double time_for_work(const Contender& contender) {
  return static_cast<double>(contender.report.makespan) / contender.work;
}

}  // namespace

std::vector<std::optional<BesideFastest>> beside_fastest(const std::vector<Contender>& contenders) {
  std::vector<std::optional<BesideFastest>> beside(contenders.size());
  const Contender* fastest = nullptr;
  for (const Contender& one : contenders) {
    if (!can_be_told(one)) continue;
    const auto place = [](const Contender& run) { return std::pair(run.needs.asynchronous, time_for_work(run)); };
    if (fastest == nullptr || place(one) < place(*fastest)) fastest = &one;
  }
  if (fastest == nullptr) return beside;
  for (std::size_t k = 0; k < contenders.size(); ++k) {
    const Contender& one = contenders[k];
    if (&one == fastest || !can_be_told(one)) continue;
    const std::optional<double> needed = least_difference(one.report, fastest->report);
    if (needed) beside[k] = BesideFastest{time_for_work(one) / time_for_work(*fastest) - 1, *needed};
  }
  return beside;
}

}  // namespace debubble
