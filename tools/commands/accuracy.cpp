#include "tools/commands/accuracy.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "formats/files/read_file.hpp"
#include "sim/core/error.hpp"
#include "sim/core/exit_status.hpp"
#include "sim/core/split.hpp"
#include "sim/core/suggest.hpp"
#include "studies/accuracy/ranges.hpp"
#include "studies/check/suite.hpp"
#include "studies/uncertainty/range_constants.hpp"
#include "tools/output/output.hpp"
#include "tools/output/stderr_progress.hpp"
#include "tools/views/accuracy/accuracy_views.hpp"
#include "tools/views/accuracy/bubbles_views.hpp"
#include "tools/views/accuracy/effects_views.hpp"
#include "tools/views/accuracy/plans_views.hpp"
#include "tools/views/accuracy/ranges_views.hpp"
#include "tools/views/html/html_file.hpp"
#include "tools/views/html/study_pages.hpp"

namespace debubble {
namespace {

constexpr std::string_view kAccuracyFormats = "text|json|markdown";
constexpr double kPlansGap = 0.01;  // as of `debubble plan`

void require_source(const ResultsFile& results, const std::string& name) {
  std::vector<std::string> names;
  for (const ResultSource& source : results.sources) names.push_back(source.name);
  if (std::find(names.begin(), names.end(), name) != names.end()) return;
  std::string all;
  for (const std::string& one : names) all += (all.empty() ? "" : ", ") + one;
  const std::string guess = closest_name(name, names);
  throw InputError(Diagnostic{"C003", "--source", "there is no source \"" + name + "\"",
                              guess.empty() ? "the file has: " + all : "did you mean " + guess + "?"});
}

// "a,b" as a list without repetitions; of no text one empty name, which means all.
std::vector<std::string> sources_of(const std::string& text, const ResultsFile& results) {
  if (text.empty()) return {""};
  std::vector<std::string> names;
  for (const std::string& name : split(text)) {
    require_source(results, name);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

class Accuracy : public Command {
 public:
  [[nodiscard]] FlagRows flags() override {
    FlagRows rows{
        {.name = "--records",
         .type = "FILE",
         .help = "what to predict",
         .default_text = "those in traces/",
         .target = &records_},
        {.name = "--bubbles", .help = "bubbles of measured runs, not published results", .target = &bubbles_},
        {.name = "--plans", .help = "plans for the records' jobs, against their layouts", .target = &plans_},
        {.name = "--effects", .help = "errors with each part of the model switched off", .target = &effects_},
        {.name = "--calibration",
         .type = "FILE",
         .help = "constants",
         .default_text = "calibration.json next to them",
         .target = &calibration_},
        {.name = "--source",
         .type = "NAME,NAME",
         .help = "only records of these sources",
         .target = &source_,
         .form = FlagForm::kCommas},
        {.name = "--fit", .help = "fit the constants over all sources, and write them", .target = &fit_},
    };
    add_rows(rows, flag_rows(output_, kAccuracyFormats));
    rows.push_back(html_row(html_));
    return rows;
  }

  int run(const Invocation& invocation) override {
    HtmlFile html(html_);
    Output output(output_, kAccuracyFormats);
    if (html.wanted() && (bubbles_ || plans_ || effects_)) {
      throw InputError(Diagnostic{"C087", "--html", "only published results have a page",
                                  "leave it out, or leave --bubbles, --plans and --effects out"});
    }
    if (effects_ && (bubbles_ || plans_ || fit_ || !calibration_.empty())) {
      throw InputError(Diagnostic{"C087", "--effects", "predicts published results anew, without any constant",
                                  "leave --bubbles, --plans, --fit and --calibration out"});
    }
    if (bubbles_ && plans_) {
      throw InputError(Diagnostic{"C087", "--plans", "measured runs are not planned anew", "leave one of the two out"});
    }
    if (plans_ && (fit_ || !calibration_.empty())) {
      throw InputError(Diagnostic{"C087", fit_ ? "--fit" : "--calibration", "plans are made without any constant",
                                  "leave one of the two out"});
    }
    return bubbles_ ? judge_measured(invocation, output) : judge_published(invocation, output, html);
  }

 private:
  int judge_measured(const Invocation& invocation, Output& output) {
    if (fit_ || !calibration_.empty() || !source_.empty()) {
      throw InputError(Diagnostic{"C087",
                                  fit_              ? "--fit"
                                  : source_.empty() ? "--calibration"
                                                    : "--source",
                                  "means nothing for --bubbles: nothing is fitted, and all runs are shown",
                                  "leave one of the two out"});
    }
    if (records_.empty()) records_ = "traces/measured/runs.json";
    const MeasuredList list = read_measured_list(read_file(records_, "--records"), records_);
    StderrProgress progress;
    const std::vector<JudgedRun> runs = judge_bubbles(list, progress);
    switch (output.format()) {
      case Format::kJson:
        output.write(bubbles_json(runs, list, invocation.command_line));
        break;
      case Format::kMarkdown:
        output.write(bubbles_markdown(runs, list));
        break;
      case Format::kText:
      case Format::kCsv:  // not offered
        output.write(bubbles_text(runs, list, output.style()));
        break;
    }
    output.commit();
    return kExitOk;
  }

  int judge_published(const Invocation& invocation, Output& output, HtmlFile& html) {
    if (records_.empty()) records_ = "traces/published/results.json";
    const ResultsFile results = read_results(read_file(records_, "--records"), records_);
    const std::vector<std::string> sources = sources_of(source_, results);
    StderrProgress progress;
    if (plans_) return plan_sources(results, sources, invocation, output, progress);
    if (effects_) return switch_off(results, sources, invocation, output, progress);
    const Calibrations calibrations = constants_for(results, progress);
    progress.phase("predicting " + (source_.empty() ? "all records" : "the records of " + source_));
    std::vector<JudgedSource> judged;
    std::vector<RangedRecord> ranged;
    for (const std::string& one : sources) {
      for (JudgedSource& source : judge_results(results, calibrations, one)) judged.push_back(std::move(source));
      for (RangedRecord& record : ranged_records(results, one)) ranged.push_back(std::move(record));
    }
    const JudgedRanges ranges = judge_ranges(ranged, ranges_for(results));
    output.write(text_of(judged, results, calibrations, ranges, invocation, output));
    if (html.wanted()) {
      html.write(accuracy_page(accuracy_json(judged, results, ranges, invocation.command_line),
                               accuracy_text(judged, results, ViewStyle{}) + ranges_text(ranges, ViewStyle{}),
                               invocation.command_line));
    }
    html.commit();
    output.commit();
    return kExitOk;
  }

  int plan_sources(const ResultsFile& results, const std::vector<std::string>& sources, const Invocation& invocation,
                   Output& output, StderrProgress& progress) {
    std::vector<PlannedSource> planned;
    for (const std::string& one : sources) {
      for (PlannedSource& source : plan_published(results, one, kPlansGap, progress)) {
        planned.push_back(std::move(source));
      }
    }
    output.write(plans_of(planned, invocation, output));
    output.commit();
    return kExitOk;
  }

  static int switch_off(const ResultsFile& results, const std::vector<std::string>& sources,
                        const Invocation& invocation, Output& output, StderrProgress& progress) {
    progress.phase("predicting all records without each effect");
    const JudgedEffects judged = judge_effects(results, sources);
    switch (output.format()) {
      case Format::kJson:
        output.write(effects_json(judged, invocation.command_line));
        break;
      case Format::kMarkdown:
        output.write(effects_markdown(judged));
        break;
      case Format::kText:
      case Format::kCsv:  // not offered
        output.write(effects_text(judged, output.style()));
        break;
    }
    output.commit();
    return kExitOk;
  }

  // With --fit what the file said before does not matter.
  Calibrations constants_for(const ResultsFile& results, StderrProgress& progress) {
    const std::string file = calibration_.empty() ? beside(records_, "calibration.json") : calibration_;
    if (!fit_) return read_calibrations(read_file(file, "--calibration"), file);
    progress.phase("fitting all sources");
    Calibrations calibrations = fit_constants(results);
    OutputFile fitted(file);
    fitted.write(calibrations_json(calibrations));
    fitted.commit();
    return calibrations;
  }

  // Those that debubble brings, where none lie beside the constants and none are fitted: over all sources, whichever
  // are shown.
  [[nodiscard]] RangeConstants ranges_for(const ResultsFile& results) const {
    const std::string file = beside(calibration_.empty() ? records_ : calibration_, "ranges.json");
    if (!fit_) return std::filesystem::exists(file) ? read_ranges(read_file(file, file), file) : installed_ranges();
    const std::vector<RangedRecord> records = ranged_records(results, "");
    if (records.empty()) return installed_ranges();
    const RangeConstants constants = fit_ranges(records);
    OutputFile fitted(file);
    fitted.write(ranges_json(constants));
    fitted.commit();
    return constants;
  }

  static std::string plans_of(const std::vector<PlannedSource>& planned, const Invocation& invocation,
                              const Output& output) {
    switch (output.format()) {
      case Format::kJson:
        return plans_json(planned, invocation.command_line);
      case Format::kMarkdown:
        return plans_markdown(planned);
      case Format::kText:
      case Format::kCsv:  // not offered
        break;
    }
    return plans_text(planned, output.style());
  }

  static std::string text_of(const std::vector<JudgedSource>& judged, const ResultsFile& results,
                             const Calibrations& calibrations, const JudgedRanges& ranges, const Invocation& invocation,
                             const Output& output) {
    switch (output.format()) {
      case Format::kJson:
        return accuracy_json(judged, results, ranges, invocation.command_line);
      case Format::kMarkdown:
        return accuracy_markdown(judged, results, calibrations, ranges);
      case Format::kText:
      case Format::kCsv:  // not offered
        break;
    }
    return accuracy_text(judged, results, output.style()) + ranges_text(ranges, output.style());
  }

  std::string records_;
  bool bubbles_ = false;
  bool plans_ = false;
  bool effects_ = false;
  std::string calibration_;
  std::string source_;
  bool fit_ = false;
  OutputFlags output_;
  std::string html_;
};

}  // namespace

std::unique_ptr<Command> make_accuracy() { return std::make_unique<Accuracy>(); }

}  // namespace debubble
