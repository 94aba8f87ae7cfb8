#include "tools/views/html/run_page.hpp"

#include <fmt/format.h>

#include "formats/exporters/report_csv.hpp"
#include "formats/exporters/report_json.hpp"
#include "formats/version.hpp"
#include "sim/core/quantities.hpp"
#include "tools/views/assumption_lines.hpp"
#include "tools/views/diff/diff_json.hpp"
#include "tools/views/diff/diff_view.hpp"
#include "tools/views/diff/words.hpp"
#include "tools/views/summary.hpp"
#include "tools/views/whatif/whatif_json.hpp"
#include "tools/views/whatif/whatif_view.hpp"

namespace debubble {
namespace {

Page page_of_verb(const std::string& verb, const std::string& title, const std::string& command_line) {
  Page page;
  page.verb = verb;
  page.title = title;
  page.command_line = command_line;
  return page;
}

void add_run(Page& page, const PageRun& run) {
  const std::size_t spans = run.timeline->spans.size();
  if (spans > 0 && spans <= kMostDrawnOps) page.runs.push_back(run);
}

ViewStyle all_of_it() {
  ViewStyle style;
  style.all_assumptions = true;
  style.details = true;
  return style;
}

}  // namespace

Page run_page(const std::string& verb, const Simulated& run, const AdviceContext& context,
              const std::string& command_line) {
  const Report& report = run.result.report;
  Page page = page_of_verb(verb, schedule_title(report.schedule), command_line);
  page.documents.push_back(
      {"report.json", report_json(report, {std::string(kVersion), command_line}, context.more_microbatches)});
  page.text = headline(report, all_of_it()) + "\n" + summary(report, all_of_it(), context) + "\n" +
              assumption_lines(report.assumptions, all_of_it());
  if (!has_result(report) || report.makespan == 0) return page;
  page.verdict = run_verdict(report);
  page.documents.push_back({"devices.csv", devices_csv(report)});
  const Advice advice = advise(report, context);
  page.answers.emplace_back("limit", advice.limit);
  page.answers.emplace_back("try", advice.next);
  add_run(page, {report.schedule.name, &run.result.timeline, &run.job.schedule, &run.job.costs});
  return page;
}

Page whatif_page(const WhatIfResult& result, const WhatIfRuns& runs, const std::string& command_line) {
  Page page = page_of_verb("whatif", "what if: " + schedule_title(result.base.schedule), command_line);
  page.documents.push_back({"report.json", whatif_json(result, {std::string(kVersion), command_line})});
  page.text = whatif_view(result, all_of_it());
  if (!has_result(result.base)) return page;
  page.documents.push_back({"whatif.csv", whatif_csv(result)});
  if (!result.changes.empty() && has_result(result.changed)) {
    const Nanoseconds base = result.base.makespan;
    const double by = base == 0 ? 0 : static_cast<double>(result.changed.makespan) / static_cast<double>(base) - 1;
    page.verdict = fmt::format("{} per step in place of {} ({})", format_duration(result.changed.makespan),
                               format_duration(base), percent_change(by));
  }
  for (const std::string& change : result.changes) page.answers.emplace_back("changed", change);
  for (const std::string& reason : result.no_effect) page.answers.emplace_back("no effect", reason);
  if (!result.note.empty()) page.answers.emplace_back("note", result.note);
  const auto add = [&page](const std::optional<Simulated>& run, const char* label) {
    if (run) add_run(page, {label, &run->result.timeline, &run->job.schedule, &run->job.costs});
  };
  add(runs.base, "base");
  add(runs.changed, "changed");
  return page;
}

Page diff_page(const Diff& diff, const std::string& command_line) {
  const Figure<Nanoseconds>& step = diff.comparison.makespan;
  Page page =
      page_of_verb("diff", schedule_title(diff.measured_report().schedule) + ": predicted and measured", command_line);
  page.verdict = fmt::format("measured {}, predicted {}: {}", format_duration(step.measured),
                             format_duration(step.predicted), format_gap(step.gap()));
  const std::string relative = format_relative_gap(step.gap(), step.predicted);
  if (!relative.empty()) page.verdict += " (" + relative + ")";
  const std::string from = diff.predicted_name.empty() ? "" : diff.predicted_name + ": ";
  page.answers.emplace_back("predicted", from + basis_words(diff));
  page.answers.emplace_back("measured", diff.measured_name);
  const std::optional<Divergence>& first = diff.comparison.first_divergence;
  page.answers.emplace_back("first difference", first ? divergence_words(*first)
                                                      : "none beyond " + format_duration(diff.comparison.tolerance));
  if (const std::string exact = diff.exactness(); !exact.empty()) page.answers.emplace_back("note", exact);
  for (const LinkDurations& link : diff.slow_links()) {
    page.answers.emplace_back("slow link", slow_link_words(link, diff.measured.iterations.size()));
  }
  page.documents.push_back({"report.json", diff_json(diff, {std::string(kVersion), command_line})});
  page.documents.push_back({"diff.csv", diff_csv(diff)});
  page.text = diff_view(diff, all_of_it(), {}, "");
  add_run(page, {"predicted", &diff.predicted_timeline(), &diff.predicted.schedule, &diff.predicted.costs});
  add_run(page, {"measured", &diff.measured_timeline(), &diff.measured.schedule, &diff.measured.costs});
  return page;
}

}  // namespace debubble
