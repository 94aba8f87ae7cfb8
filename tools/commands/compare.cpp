#include "tools/commands/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <vector>

#include "formats/exporters/finding_text.hpp"
#include "formats/exporters/memory_fit_text.hpp"
#include "formats/exporters/report_csv.hpp"
#include "formats/exporters/report_json.hpp"
#include "formats/text/quantities.hpp"
#include "formats/version.hpp"
#include "scenario/check_scenario.hpp"
#include "scenario/job/make_schedule.hpp"
#include "scenario/request/catalog_names.hpp"
#include "schedules/catalog.hpp"
#include "schedules/frameworks.hpp"
#include "sim/core/error.hpp"
#include "sim/core/exit_status.hpp"
#include "studies/compare/contender.hpp"
#include "studies/compare/nearest.hpp"
#include "studies/compare/told_apart.hpp"
#include "studies/simulate/memory_verdict.hpp"
#include "tools/commands/compare_checks.hpp"
#include "tools/figures/figure_file.hpp"
#include "tools/flags/config_file.hpp"
#include "tools/flags/flag_text.hpp"
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
    FlagRows rows = flag_rows(scenario_, ScenarioVerb::kSeveralSchedules);
    rows.push_back({.name = "FILE",
                    .type = "FILE.toml",
                    .help = "scenario files, compared as they are",
                    .target = &configs_,
                    .count = FlagCount::kAll});
    add_rows(rows, flag_rows(output_, kCompareFormats));
    add_rows(rows, {
                       {.name = "--equal",
                        .group = "Run",
                        .type = "WHAT",
                        .words = kEqualWords,
                        .help = "equal devices (default), stages or memory",
                        .preset = "devices",
                        .target = &equal_},
                       {.name = "--runs-in",
                        .group = "Run",
                        .words = kFrameworkWords,
                        .help = "only schedules this framework runs today",
                        .target = &runs_in_},
                       {.name = "--memory-limit",
                        .group = "Run",
                        .unit = FlagUnit::kSize,
                        .help = "memory per device: 76GiB; bare: device shares",
                        .target = &memory_limit_},
                   });
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
    if (!configs_.empty()) return run_configs(invocation);
    const Scenario scenario = check_scenario(scenario_);
    Terms terms = terms_of(scenario);
    const std::vector<std::string> names =
        contender_names(scenario, runs_in_.empty() ? "" : parse_framework(runs_in_, "--runs-in"), terms.all);
    check_compared_params(scenario, names);
    if (!figure_.file.empty() && terms.equal != Equal::kDevices) refuse_figure_of_unequal_work();
    HtmlFile html(html_);
    figure::FigureFile drawn(figure_);
    Output output(output_, kCompareFormats);
    StderrProgress progress;
    if (terms.equal == Equal::kMemory && !terms.memory_limit) terms.memory_limit = memory_of_1f1b(scenario, progress);
    std::vector<Contender> contenders;
    for (const std::string& name : names) contenders.push_back(run_contender(scenario, name, terms, progress));
    require_some_result(contenders);
    if (terms.equal == Equal::kDevices) require_equal_work(contenders);
    if (terms.all || terms.memory_limit) rank(contenders);
    settle_size(contenders, terms);
    const std::optional<std::size_t> nearest = nearest_to_fit(contenders);
    if (nearest) try_remedies(scenario, terms, contenders[*nearest], progress);
    return finish(contenders, nearest, terms, invocation, {html, output, drawn});
  }

 private:
  // Whole configurations: each file, with the flags of the command line in place of its own.
  int run_configs(const Invocation& invocation) {
    if (parse_equal(equal_) != Equal::kDevices) {
      fail("C001", "--equal", "scenario files are compared as they are, per GPU and second", "leave --equal out");
    }
    if (!figure_.file.empty()) refuse_figure_of_unequal_work();
    HtmlFile html(html_);
    figure::FigureFile drawn(figure_);
    Output output(output_, kCompareFormats);
    StderrProgress progress;
    std::vector<Contender> contenders;
    Terms terms;
    for (const std::string& file : configs_) {
      if (find_schedule(file) != nullptr && !std::filesystem::exists(file)) {
        fail("C061", "debubble compare", "\"" + file + "\" is a schedule, not a scenario file",
             "write --schedules " + file);
      }
      try {
        terms = add_contenders_of(file, contenders, progress);
      } catch (const InputError& error) {
        throw placed_in_file(error, file, scenario_);
      }
    }
    require_some_result(contenders);
    rank(contenders);
    return finish(contenders, std::nullopt, terms, invocation, {html, output, drawn});
  }

  struct Results {
    HtmlFile& html;
    Output& output;
    figure::FigureFile& figure;
  };

  Terms add_contenders_of(const std::string& file, std::vector<Contender>& contenders, Progress& progress) {
    const Scenario scenario = check_scenario(overridden(read_scenario_file(file), scenario_));
    Terms terms = terms_of(scenario);
    std::vector<std::string> names = scenario.schedules;
    if (names.empty()) names.emplace_back("1f1b");
    for (const std::string& name : names) {
      contenders.push_back(run_contender(scenario, name, terms, progress));
      contenders.back().config = file;
      contenders.back().work = contenders.back().samples;
    }
    return terms;
  }

  int finish(std::vector<Contender>& contenders, std::optional<std::size_t> nearest, const Terms& terms,
             const Invocation& invocation, const Results& results) {
    std::optional<FailIf> fail_if;
    if (!fail_if_.empty()) fail_if = FailIf::parse(fail_if_);
    mark_best_in(contenders);
    int status = nearest ? kExitFinding : kExitOk;
    for (const Contender& contender : contenders) {
      if (contender.report.deadlock && !terms.all) status = kExitFinding;  // of "all that fit", this one does not
      if (out_of_memory(contender.report) && !terms.all) status = kExitFinding;
      if (fail_if && has_result(contender.report) && judge(*fail_if, contender.report)) status = kExitFinding;
    }
    show(contenders, nearest, terms, invocation, results.output);
    if (results.html.wanted()) {
      results.html.write(page_of(contenders, comparison_of(contenders, nearest, terms), invocation));
    }
    const bool drawable = std::any_of(contenders.begin(), contenders.end(),
                                      [](const Contender& contender) { return has_result(contender.report); });
    if (results.figure.wanted() && drawable) {
      results.figure.write(compare_figure(contenders, figure_.show,
                                          {.title = title_of(terms),
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

  [[nodiscard]] Terms terms_of(const Scenario& scenario) const {
    Terms terms;
    terms.equal = parse_equal(equal_);
    terms.devices = scenario.devices.value_or(kDefaultDevices);
    terms.microbatches = scenario.microbatches.value_or(kDefaultMicrobatches);
    if (!html_.empty()) terms.most_kept_ops = kMostPageOps;
    if (!memory_limit_.empty()) terms.memory_limit = parse_memory_limit(memory_limit_, scenario.profile.has_value());
    return terms;
  }

  // The size of the job as it was run: a table brings its own.
  static void settle_size(const std::vector<Contender>& contenders, Terms& terms) {
    if (terms.equal != Equal::kDevices) return;
    const auto first = std::find_if(contenders.begin(), contenders.end(),
                                    [](const Contender& contender) { return has_result(contender.report); });
    if (first == contenders.end()) return;
    terms.devices = first->report.schedule.devices;
    terms.microbatches = first->report.schedule.microbatches;
  }

  // Where nothing runs, the first refusal says why.
  static void require_some_result(const std::vector<Contender>& contenders) {
    const InputError* refusal = nullptr;
    for (const Contender& contender : contenders) {
      if (has_result(contender.report) || contender.report.deadlock) return;
      if (refusal == nullptr && contender.refusal) refusal = &*contender.refusal;
    }
    if (refusal != nullptr) throw InputError(*refusal);
  }

  static bool judge(const FailIf& fail_if, const Report& report) {
    const FailIf::Verdict verdict = fail_if.evaluate(report);
    for (const std::string& reason : verdict.because) {
      stderr_line("debubble: --fail-if: " + report.schedule.name + ": " + reason);
    }
    return verdict.fired;
  }

  [[nodiscard]] ComparedSchedules comparison_of(const std::vector<Contender>& contenders,
                                                std::optional<std::size_t> nearest, const Terms& terms) const {
    ComparedSchedules comparison;
    comparison.title = configs_.empty() ? title_of(terms)
                                        : "compare " + std::to_string(contenders.size()) +
                                              " configurations, by samples per GPU and second";
    if (terms.memory_limit) comparison.within = "within " + format_size(*terms.memory_limit);
    std::vector<Report> reports;
    const std::vector<std::optional<BesideFastest>> beside = beside_fastest(contenders);
    for (std::size_t k = 0; k < contenders.size(); ++k) {
      comparison.runs.push_back(compared(contenders[k], terms));
      comparison.runs.back().beside = beside[k];
      comparison.runs.back().pinned = nearest == k;
      reports.push_back(comparison.runs.back().report);
    }
    comparison.assumptions = compared_assumptions(reports);
    if (nearest) tell_nearest(reports[*nearest], comparison);
    return comparison;
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

  [[nodiscard]] std::string title_of(const Terms& terms) const {
    const std::string limit = terms.memory_limit ? ", at most " + format_size(*terms.memory_limit) + " on each" : "";
    const std::string p = std::to_string(terms.devices);
    const std::string m = std::to_string(terms.microbatches) + " microbatches";
    switch (terms.equal) {
      case Equal::kStages:
        return "compare with " + p + " stages, " + m + limit + "; the devices differ";
      case Equal::kMemory:
        return "compare on " + p + " devices, the work of " + m + ", cut to fit " + format_size(*terms.memory_limit) +
               (memory_limit_.empty() ? " (the peak of 1f1b)" : "");
      case Equal::kDevices:
        break;
    }
    return "compare on " + p + " devices: " + m + limit;
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

  void show(const std::vector<Contender>& contenders, std::optional<std::size_t> nearest, const Terms& terms,
            const Invocation& invocation, Output& output) const {
    const CompareData data = data_of(contenders);
    switch (output.format()) {
      case Format::kJson:
        output.write(data.json(contenders, invocation));
        break;
      case Format::kCsv:
        output.write(runs_csv(data.reports));
        break;
      case Format::kMarkdown:  // not offered
      case Format::kText:
        output.write(compare_table(comparison_of(contenders, nearest, terms), output.style()));
        break;
    }
  }

  static Page page_of(const std::vector<Contender>& contenders, const ComparedSchedules& comparison,
                      const Invocation& invocation) {
    Page page;
    page.verb = "compare";
    page.command_line = invocation.command_line;
    page.title = comparison.title;
    page.answers = compare_answers(comparison);
    ViewStyle style;
    style.details = style.all_assumptions = true;
    page.text = compare_table(comparison, style);
    const CompareData data = data_of(contenders);
    page.documents.push_back({"report.json", data.json(contenders, invocation)});
    page.documents.push_back({"runs.csv", runs_csv(data.reports)});
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

  struct CompareData {
    std::vector<Report> reports;
    std::vector<ScheduleNeeds> needs;
    std::vector<std::string> configs;

    [[nodiscard]] std::string json(const std::vector<Contender>& contenders, const Invocation& invocation) const {
      return reports_json(reports, needs, {std::string(kVersion), invocation.command_line}, beside_fastest(contenders),
                          configs);
    }
  };

  static CompareData data_of(const std::vector<Contender>& contenders) {
    CompareData data;
    for (const Contender& contender : contenders) {
      if (!contender.config.empty()) data.configs.push_back(contender.config);
      data.reports.push_back(contender.report);
      data.needs.push_back(contender.needs);
    }
    return data;
  }

  ScenarioFlags scenario_;
  OutputFlags output_;
  std::string html_;
  figure::FigureFlags figure_;
  std::string fail_if_;
  std::string equal_ = "devices";
  std::string memory_limit_;
  std::string runs_in_;
  std::vector<std::string> configs_;
};

}  // namespace

std::unique_ptr<Command> make_compare() { return std::make_unique<Compare>(); }

}  // namespace debubble
