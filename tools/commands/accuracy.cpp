#include "tools/commands/accuracy.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "formats/files/read_file.hpp"
#include "sim/core/error.hpp"
#include "sim/core/exit_status.hpp"
#include "sim/core/suggest.hpp"
#include "studies/check/suite.hpp"
#include "tools/output/output.hpp"
#include "tools/output/stderr_progress.hpp"
#include "tools/views/accuracy/accuracy_views.hpp"

namespace debubble {
namespace {

constexpr std::string_view kAccuracyFormats = "text|json|markdown";

void require_source(const ResultsFile& results, const std::string& name) {
  if (name.empty()) return;
  std::vector<std::string> names;
  for (const ResultSource& source : results.sources) names.push_back(source.name);
  if (std::find(names.begin(), names.end(), name) != names.end()) return;
  std::string all;
  for (const std::string& one : names) all += (all.empty() ? "" : ", ") + one;
  const std::string guess = closest_name(name, names);
  throw InputError(Diagnostic{"C003", "--source", "there is no source \"" + name + "\"",
                              guess.empty() ? "the file has: " + all : "did you mean " + guess + "?"});
}

class Accuracy : public Command {
 public:
  [[nodiscard]] FlagRows flags() override {
    FlagRows rows{
        {.name = "--records",
         .type = "FILE",
         .help = "results to predict",
         .default_text = "traces/published's",
         .preset = "traces/published/results.json",
         .target = &records_},
        {.name = "--calibration",
         .type = "FILE",
         .help = "constants",
         .default_text = "calibration.json next to them",
         .target = &calibration_},
        {.name = "--source", .type = "NAME", .help = "only records of this source", .target = &source_},
        {.name = "--fit", .help = "fit the constants anew and write them to their file", .target = &fit_},
    };
    add_rows(rows, flag_rows(output_, kAccuracyFormats));
    return rows;
  }

  int run(const Invocation& invocation) override {
    Output output(output_, kAccuracyFormats);
    const ResultsFile results = read_results(read_file(records_, "--records"), records_);
    require_source(results, source_);
    const std::string file = calibration_.empty() ? beside(records_, "calibration.json") : calibration_;
    Calibrations calibrations;
    if (!fit_ || std::filesystem::exists(file)) {
      calibrations = read_calibrations(read_file(file, "--calibration"), file);
    }
    StderrProgress progress;
    if (fit_) {
      progress.phase("fitting " + (source_.empty() ? "all sources" : source_));
      for (const auto& [source, constants] : fit_constants(results, source_)) calibrations[source] = constants;
      OutputFile fitted(file);
      fitted.write(calibrations_json(calibrations));
      fitted.commit();
    }
    progress.phase("predicting " + (source_.empty() ? "all records" : "the records of " + source_));
    const std::vector<JudgedSource> judged = judge_results(results, calibrations, source_);
    output.write(text_of(judged, results, invocation, output));
    output.commit();
    return kExitOk;
  }

 private:
  static std::string text_of(const std::vector<JudgedSource>& judged, const ResultsFile& results,
                             const Invocation& invocation, const Output& output) {
    switch (output.format()) {
      case Format::kJson:
        return accuracy_json(judged, results, invocation.command_line);
      case Format::kMarkdown:
        return accuracy_markdown(judged, results);
      case Format::kText:
      case Format::kCsv:  // not offered
        break;
    }
    return accuracy_text(judged, results, output.style());
  }

  std::string records_ = "traces/published/results.json";
  std::string calibration_;
  std::string source_;
  bool fit_ = false;
  OutputFlags output_;
};

}  // namespace

std::unique_ptr<Command> make_accuracy() { return std::make_unique<Accuracy>(); }

}  // namespace debubble
