#include "tools/views/html/run_page.hpp"

#include "formats/exporters/report_csv.hpp"
#include "formats/exporters/report_json.hpp"
#include "formats/version.hpp"
#include "tools/views/assumption_lines.hpp"
#include "tools/views/summary.hpp"

namespace debubble {

Page run_page(const std::string& verb, const Simulated& run, const AdviceContext& context,
              const std::string& command_line) {
  const Report& report = run.result.report;
  ViewStyle style;
  style.all_assumptions = true;
  Page page;
  page.verb = verb;
  page.command_line = command_line;
  page.title = schedule_title(report.schedule);
  page.documents.push_back(
      {"report.json", report_json(report, {std::string(kVersion), command_line}, context.more_microbatches)});
  page.text = headline(report, style) + "\n" + summary(report, style, context) + "\n" +
              assumption_lines(report.assumptions, style);
  if (!has_result(report)) return page;
  page.verdict = run_verdict(report);
  page.documents.push_back({"devices.csv", devices_csv(report)});
  const Advice advice = advise(report, context);
  page.answers.emplace_back("limit", advice.limit);
  page.answers.emplace_back("try", advice.next);
  if (!run.result.timeline.spans.empty() && run.result.timeline.spans.size() <= kMostShownOps) {
    page.runs.push_back({report.schedule.name, &run.result.timeline, &run.job.schedule, &run.job.costs});
  }
  return page;
}

}  // namespace debubble
