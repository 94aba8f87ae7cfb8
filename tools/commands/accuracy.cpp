#include "tools/commands/command.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formats/files/read_file.hpp"
#include "scenario/request/flag_row.hpp"
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
#include "tools/views/html/html_file.hpp"
#include "tools/views/html/study_pages.hpp"

namespace debubble {
namespace {

constexpr std::string_view kAccuracyFormats = "text|json";

[[noreturn]] void refuse_unknown(const char* flag, const char* what, const std::string& name,
                                 const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& one : names) all += (all.empty() ? "" : ", ") + one;
  const std::string guess = closest_name(name, names);
  throw InputError(Diagnostic{"C003", flag, "there is no " + std::string(what) + " \"" + name + "\"",
                              guess.empty() ? "there are: " + all : "did you mean " + guess + "?"});
}

// "a,b" as a list without repetitions; of no text one empty name, which means all.
std::vector<std::string> sources_of(const std::string& text, const ResultsFile& results) {
  if (text.empty()) return {""};
  std::vector<std::string> all;
  for (const ResultSource& source : results.sources) all.push_back(source.name);
  std::vector<std::string> names;
  for (const std::string& name : split(text)) {
    if (std::find(all.begin(), all.end(), name) == all.end()) refuse_unknown("--source", "source", name, all);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

ModelEffects effects_for(const std::string& without) {
  if (without.empty()) return {};
  const std::optional<ModelEffects> effects = effects_without(without);
  if (!effects) refuse_unknown("--without", "part of the model", without, effect_names());
  return *effects;
}

// Those that debubble brings, where none lie beside the records: over all sources, whichever are shown.
RangeConstants ranges_beside(const std::string& neighbour) {
  const std::string file = beside(neighbour, "ranges.json");
  return std::filesystem::exists(file) ? read_ranges(read_file(file, file), file) : installed_ranges();
}

class Accuracy : public Command {
 public:
  [[nodiscard]] FlagRows flags() override {
    const FlagGroup row;
    FlagRows rows{
        row("--records", "FILE", "what to predict", &records_, Default{"those in traces/"}),
        row("--without", "PART", "predict with this part of the model switched off", &without_, effect_names),
        row("--source", "NAME,NAME", "only records of these sources", &source_, FlagForm::kCommas),
    };
    add_rows(rows, flag_rows(output_, kAccuracyFormats));
    rows.push_back(html_row(html_));
    return rows;
  }

  int run(const Invocation& invocation) override {
    HtmlFile html(html_);
    Output output(output_, kAccuracyFormats);
    StderrProgress progress;
    judge_published(invocation, output, html, progress);
    html.commit();
    output.commit();
    return kExitOk;
  }

 private:
  void judge_published(const Invocation& invocation, Output& output, HtmlFile& html, StderrProgress& progress) {
    if (records_.empty()) records_ = "traces/published/results.json";
    const ResultsFile results = read_results(read_file(records_, "--records"), records_);
    const std::vector<std::string> sources = sources_of(source_, results);
    const std::string& line = invocation.command_line;
    const ModelEffects effects = effects_for(without_);
    progress.phase("predicting " + (source_.empty() ? "all records" : "the records of " + source_));
    std::vector<JudgedSource> judged;
    std::vector<RangedRecord> ranged;
    for (const std::string& one : sources) {
      for (JudgedSource& source : judge_results(results, one, effects)) {
        judged.push_back(std::move(source));
      }
      if (!without_.empty()) continue;  // ranges are of the whole model
      for (RangedRecord& record : ranged_records(results, one)) ranged.push_back(std::move(record));
    }
    const JudgedRanges ranges = judge_ranges(ranged, ranges_beside(records_));
    output.write(output.format() == Format::kJson
                     ? accuracy_json(judged, results, ranges, line)
                     : accuracy_text(judged, results, output.style()) + ranges_text(ranges, output.style()));
    if (!html.wanted()) return;
    html.write(accuracy_page(accuracy_json(judged, results, ranges, line),
                             accuracy_text(judged, results, ViewStyle{}) + ranges_text(ranges, ViewStyle{}), line));
  }

  std::string records_;
  std::string without_;
  std::string source_;
  OutputFlags output_;
  std::string html_;
};

}  // namespace

std::unique_ptr<Command> make_accuracy() { return std::make_unique<Accuracy>(); }

}  // namespace debubble
