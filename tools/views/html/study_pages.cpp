#include "tools/views/html/study_pages.hpp"

#include <fmt/format.h>

#include "formats/exporters/report_json.hpp"
#include "formats/version.hpp"
#include "sim/core/quantities.hpp"
#include "sim/core/words.hpp"
#include "tools/views/check/check_json.hpp"
#include "tools/views/check/text_view.hpp"
#include "tools/views/plan/plan_view.hpp"

namespace debubble {
namespace {

// The first line of a text report, without what is below it.
std::string first_line_of(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

Page plan_page(const Plan& plan, std::size_t top, const std::string& command_line) {
  const ToolFacts tool{std::string(kVersion), command_line};
  Page page;
  page.verb = "plan";
  page.command_line = command_line;
  page.text = plan_view(plan, ViewStyle{});
  page.title = first_line_of(page.text);
  page.documents.push_back({"report.json", plan_json(plan, top, tool)});
  if (plan.search.runs.empty()) return page;
  page.answers.emplace_back("certainty", certainty_words(plan));
  page.documents.push_back({"runs.json", plan_json(plan, plan.search.runs.size(), tool)});
  if (plan.cells) page.documents.push_back({"cells.json", plan_cells_json(*plan.cells)});
  page.documents.push_back({"runs.csv", plan_csv(plan, plan.search.runs.size())});
  if (!plan.best) return page;
  const Simulated& best = *plan.best;
  const std::size_t spans = best.result.timeline.spans.size();
  if (spans > 0 && spans <= kMostDrawnOps) {
    page.runs.push_back({"the best", &best.result.timeline, &best.job.schedule, &best.job.costs});
  }
  return page;
}

Page check_page(const CheckResult& result, const std::string& command_line) {
  Page page;
  page.verb = "check";
  page.command_line = command_line;
  page.title = "debubble check: " + counted(static_cast<std::int64_t>(result.suites.size()), "suite");
  page.text = check_text(result, ViewStyle{});
  page.documents.push_back({"report.json", check_json(result, {std::string(kVersion), command_line})});
  return page;
}

Page accuracy_page(const std::string& json, const std::string& text, const std::string& command_line) {
  Page page;
  page.verb = "accuracy";
  page.command_line = command_line;
  page.title = "predictions next to published figures";
  page.text = text;
  page.documents.push_back({"report.json", json});
  return page;
}

}  // namespace debubble
