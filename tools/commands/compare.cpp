#include "tools/commands/command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <vector>

#include "formats/exporters/finding_text.hpp"
#include "formats/exporters/memory_fit_text.hpp"
#include "formats/exporters/report_csv.hpp"
#include "formats/exporters/report_json.hpp"
#include "scenario/request/catalog_names.hpp"
#include "sim/core/error.hpp"
#include "sim/core/exit_status.hpp"
#include "sim/core/quantities.hpp"
#include "studies/compare/contender.hpp"
#include "studies/compare/told_apart.hpp"
#include "studies/simulate/room.hpp"
#include "tools/commands/compare_answer.hpp"
#include "tools/commands/compare_checks.hpp"
#include "tools/figures/figure_file.hpp"
#include "tools/output/fail_if.hpp"
#include "tools/output/output.hpp"
#include "tools/output/stderr_line.hpp"
#include "tools/output/stderr_progress.hpp"
#include "tools/views/compare_assumptions.hpp"
#include "tools/views/compare_rows.hpp"
#include "tools/views/compare_table.hpp"
#include "tools/views/html/html_file.hpp"
#include "tools/views/html/page.hpp"

namespace debubble {

namespace {

constexpr std::string_view kCompareFormats = "text|json|csv";

// A page holds runs op by op up to this, and of all together, the first of them, no more than that.
constexpr std::size_t kMostPageOps = 100'000;
constexpr std::size_t kMostPageOpsTogether = 500'000;

class Compare : public Command {
 public:
  [[nodiscard]] FlagRows flags() override {
    FlagRows rows = asked_rows(asked_);
    add_rows(rows, flag_rows(output_, kCompareFormats));
    add_rows(rows, terms_rows(asked_));
    rows.push_back(assumptions_row(output_));
    rows.push_back(details_row(output_, "all rows, notes, reasons, and framework support"));
    rows.push_back(html_row(html_));
    add_rows(rows, flag_rows(figure_, "bars (default), or front: step against memory"));
    rows.push_back(fail_if_row(fail_if_, "exit 1 if it holds for any schedule: 'bubble>25%'"));
    return rows;
  }

  int run(const Invocation& invocation) override {
    if (!fail_if_.empty()) (void)FailIf::parse(fail_if_);  // before any work
    check_compare_figure(figure_.show);
    if (!asked_.configs.empty()) return run_configs(invocation);
    const CompareRequest request = check_compare(asked_, most_kept_ops());
    if (!figure_.file.empty() && request.terms.equal != Equal::kDevices) refuse_figure_of_unequal_work();
    HtmlFile html(html_);
    figure::FigureFile drawn(figure_);
    Output output(output_, kCompareFormats);
    StderrProgress progress;
    const CompareAnswer answer = answer_compare(request, progress);
    return finish(answer, invocation, {html, output, drawn});
  }

 private:
  // Whole configurations: each file, with the flags of the command line in place of its own.
  int run_configs(const Invocation& invocation) {
    check_compared_configs(asked_);
    if (!figure_.file.empty()) refuse_figure_of_unequal_work();
    HtmlFile html(html_);
    figure::FigureFile drawn(figure_);
    Output output(output_, kCompareFormats);
    StderrProgress progress;
    const CompareAnswer answer = answer_configs(asked_, most_kept_ops(), progress);
    return finish(answer, invocation, {html, output, drawn});
  }

  [[nodiscard]] std::size_t most_kept_ops() const { return html_.empty() ? 0 : kMostPageOps; }

  struct Results {
    HtmlFile& html;
    Output& output;
    figure::FigureFile& figure;
  };

  int finish(const CompareAnswer& answer, const Invocation& invocation, const Results& results) {
    std::optional<FailIf> fail_if;
    if (!fail_if_.empty()) fail_if = FailIf::parse(fail_if_);
    const auto& [contenders, nearest, terms] = answer;
    int status = nearest ? kExitFinding : kExitOk;
    for (const Contender& contender : contenders) {
      if (contender.report.deadlock && !terms.all) status = kExitFinding;  // of "all that fit", this one does not
      if (out_of_memory(contender.report) && !terms.all) status = kExitFinding;
      if (fail_if && has_result(contender.report) && judge(*fail_if, contender.report)) status = kExitFinding;
    }
    show(answer, invocation, results.output);
    if (results.html.wanted()) {
      results.html.write(page_of(answer, comparison_of(answer), invocation));
    }
    const bool drawable = std::any_of(contenders.begin(), contenders.end(),
                                      [](const Contender& contender) { return has_result(contender.report); });
    if (results.figure.wanted() && drawable) {
      results.figure.write(compare_figure(contenders, figure_.show,
                                          {.title = compare_title(asked_, answer),
                                           .description = "Made by: " + invocation.command_line,
                                           .limit = terms.memory_limit,
                                           .width = results.figure.width(),
                                           .mono = figure_.mono}));
    }
    results.html.commit();
    results.figure.commit();
    results.output.commit();
    return status;
  }

  static bool judge(const FailIf& fail_if, const Report& report) {
    const FailIf::Verdict verdict = fail_if.evaluate(report);
    for (const std::string& reason : verdict.because) {
      stderr_line("debubble: --fail-if: " + report.schedule.name + ": " + reason);
    }
    return verdict.fired;
  }

  [[nodiscard]] ComparedSchedules comparison_of(const CompareAnswer& answer) const {
    const auto& [contenders, nearest, terms] = answer;
    ComparedSchedules comparison;
    comparison.title = compare_title(asked_, answer);
    if (terms.memory_limit) comparison.within = "within " + format_size(*terms.memory_limit);
    std::vector<Report> reports;
    const std::vector<std::optional<BesideFastest>> beside = beside_fastest(contenders);
    for (std::size_t k = 0; k < contenders.size(); ++k) {
      comparison.runs.push_back(compared(contenders[k], terms));
      comparison.runs.back().beside = beside[k];
      comparison.runs.back().pinned = nearest == k;
      reports.push_back(comparison.runs.back().report);
    }
    comparison.only = only_one(answer);
    comparison.assumptions = compared_assumptions(reports);
    if (nearest) tell_nearest(reports[*nearest], comparison);
    return comparison;
  }

  // Of one schedule alone nothing is compared: what names it says how to have more.
  [[nodiscard]] std::string only_one(const CompareAnswer& answer) const {
    if (answer.contenders.size() != 1 || !asked_.configs.empty() || !has_result(answer.contenders.front().report))
      return "";
    const std::string name = schedule_label(answer.contenders.front().report.schedule);
    if (!asked_.runs_in.empty())
      return name + ", the only one of these that " + parse_framework(asked_.runs_in, "--runs-in") + " runs";
    return answer.terms.all ? "" : name + ", the only one named; --schedules all compares every schedule";
  }

  static void tell_nearest(const Report& report, ComparedSchedules& comparison) {
    comparison.nearest = schedule_label(report.schedule);
    if (!out_of_memory(report)) {
      comparison.nearest += ", which " + finding_text(*first_error(report), report);
      return;
    }
    const MemoryFit& fit = *report.memory_fit;
    comparison.nearest +=
        fmt::format(", which lacks {} of {} on d{}", format_size(-fit.spare), format_size(fit.reserved), fit.device);
    const bool tried = std::any_of(report.findings.begin(), report.findings.end(), [](const Finding& finding) {
      const auto* found = std::get_if<OutOfMemory>(&finding);
      return found != nullptr && found->remedies_tried;
    });
    for (const std::string& remedy : fit.remedies) {
      comparison.answers.emplace_back(comparison.answers.empty() ? "fits" : "", "with " + remedy);
    }
    if (tried && fit.remedies.empty()) comparison.answers.emplace_back("fits", remedies_words({}));
  }

  // In a long list the marks say what a schedule needs; of a few, words do.
  static ComparedRun compared(const Contender& contender, const Terms& terms) {
    ComparedRun run{contender.report, "", contender.terms, contender.needs, contender.work, !terms.all, {}, {}, false};
    if (!contender.config.empty()) {
      run.per_gpu = true;
      run.report.schedule.name.insert(0, contender.config.substr(contender.config.rfind('/') + 1) + ": ");
    }
    if (contender.entry != nullptr) run.note = contender.entry->needs;
    return run;
  }

  void show(const CompareAnswer& answer, const Invocation& invocation, Output& output) const {
    switch (output.format()) {
      case Format::kJson:
        output.write(compare_json(answer, invocation.command_line));
        break;
      case Format::kCsv:
        output.write(runs_csv(reports_of(answer)));
        break;
      case Format::kMarkdown:  // not offered
      case Format::kText:
        output.write(compare_table(comparison_of(answer), output.style()));
        break;
    }
  }

  static Page page_of(const CompareAnswer& answer, const ComparedSchedules& comparison, const Invocation& invocation) {
    const std::vector<Contender>& contenders = answer.contenders;
    Page page;
    page.verb = "compare";
    page.command_line = invocation.command_line;
    page.title = comparison.title;
    page.answers = compare_answers(comparison);
    ViewStyle style;
    style.details = style.all_assumptions = true;
    page.text = compare_table(comparison, style);
    page.documents.push_back({"report.json", compare_json(answer, invocation.command_line)});
    page.documents.push_back({"runs.csv", runs_csv(reports_of(answer))});
    std::size_t ops = 0;
    for (std::size_t k = 0; k < contenders.size(); ++k) {
      const std::optional<Simulated>& run = contenders[k].run;
      if (!run || !has_result(contenders[k].report)) continue;
      ops += run->result.timeline.spans.size();
      if (ops > kMostPageOpsTogether) break;
      page.runs.push_back(
          {comparison.runs[k].report.schedule.name, &run->result.timeline, &run->job.schedule, &run->job.costs, k});
    }
    return page;
  }

  static std::vector<Report> reports_of(const CompareAnswer& answer) {
    std::vector<Report> reports;
    for (const Contender& contender : answer.contenders) reports.push_back(contender.report);
    return reports;
  }

  CompareFlags asked_;
  OutputFlags output_;
  std::string html_;
  figure::FigureFlags figure_;
  std::string fail_if_;
};

}  // namespace

std::unique_ptr<Command> make_compare() { return std::make_unique<Compare>(); }

}  // namespace debubble
