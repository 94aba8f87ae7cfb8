#include "studies/runs/open_run.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "formats/exporters/finding_text.hpp"
#include "formats/files/read_file.hpp"
#include "formats/importers/kineto_ranks.hpp"
#include "formats/importers/recovery/nsys_rank.hpp"
#include "formats/run/open_trace.hpp"
#include "formats/run/run_file.hpp"
#include "formats/text/shell.hpp"
#include "scenario/check_scenario.hpp"
#include "sim/core/error.hpp"
#include "studies/runs/imported_record.hpp"
#include "studies/runs/predict.hpp"

namespace debubble {
namespace {

constexpr const char* kWhatItCanBe =
    "a run file (--save-run), a trace (--trace), torch.profiler traces of one run, a recording of another tool "
    "or a scenario (.toml)";

// A scenario has no braces outside of strings and begins with KEY =, [section] or a comment.
bool looks_like_scenario(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || text[begin] == '{') return false;
  if (text[begin] == '#') return true;
  const std::string_view line = text.substr(begin, text.find('\n', begin) - begin);
  return line.front() == '[' ? line.find(']') != std::string_view::npos && line.find(',') == std::string_view::npos
                             : line.find('=') != std::string_view::npos;
}

// Whether an object of this JSON has "tool": "<name>", however it is spaced: other tools write traces anew.
bool names_tool(std::string_view text, std::string_view name) {
  constexpr std::string_view kKey = "\"tool\"";
  constexpr const char* kBlanks = " \t\r\n";
  const std::string wanted = '"' + std::string(name) + '"';
  for (std::size_t at = text.find(kKey); at != std::string_view::npos; at = text.find(kKey, at + 1)) {
    const std::size_t colon = text.find_first_not_of(kBlanks, at + kKey.size());
    if (colon == std::string_view::npos || text[colon] != ':') continue;
    const std::size_t value = text.find_first_not_of(kBlanks, colon + 1);
    if (value != std::string_view::npos && text.substr(value).starts_with(wanted)) return true;
  }
  return false;
}

RunForm form_of(const std::string& text, const std::string& file) {
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    throw InputError(Diagnostic{"P010", file, "the file is empty", std::string("give ") + kWhatItCanBe});
  }
  if (is_sqlite(text)) return RunForm::kForeign;
  if (looks_like_scenario(text)) return RunForm::kScenario;
  // Both kinds of JSON name themselves near the front or carry an array of events.
  const std::string_view head = std::string_view(text).substr(0, 4096);
  if (head.find("debubble.run/") != std::string_view::npos) return RunForm::kRunFile;
  if (names_tool(head, "debubble diff")) {
    throw InputError(
        Diagnostic{"P010", file, "this is a merged trace of two runs", "give the two runs it was made from"});
  }
  if (reader_of(text) != nullptr) return RunForm::kForeign;
  const bool trace = text.find("\"traceEvents\"") != std::string::npos;
  if (!trace && names_tool(head, "debubble")) {
    throw InputError(
        Diagnostic{"P010", file, "this trace ends before its first event", "it is cut off: write it again"});
  }
  if (!trace) {
    const bool profile = head.find("debubble.profile/") != std::string_view::npos;
    throw InputError(Diagnostic{"P010", file, profile ? "this is a profile, not a run" : "not a run",
                                profile ? "name it in a scenario: profile = \"" + file + "\" in a .toml file"
                                        : std::string("give ") + kWhatItCanBe});
  }
  return names_tool(text, "debubble") ? RunForm::kTrace : RunForm::kKineto;
}

// The flags in the file, simulated.
RunRecord simulate_scenario(const std::string& file, const ScenarioFileReader& read, Progress& progress) {
  const Scenario scenario = check_scenario(read(file));
  const std::string name = scenario.schedules.empty() ? "1f1b" : scenario.schedules.front();
  const Simulated run = simulate(scenario, name, progress);
  if (run.result.report.deadlock) {
    std::string message =
        "this scenario has no run to compare: " + finding_text(run.result.report.findings.front(), run.result.report);
    throw InputError(Diagnostic{"D009", file, std::move(message), "`debubble simulate --config` shows where it stops"});
  }
  return record_of(run, "debubble simulate --config " + shell_file(file));
}

std::string text_of(const std::string& file) { return read_text_file(file, "FILE", kMostRecordingBytes); }

// A text of that form. Recordings are large, and each is read once.
std::string text_of(const std::string& file, RunForm form, const std::string& like) {
  std::string text = text_of(file);
  if (form_of(text, file) == form) return text;
  throw InputError(Diagnostic{"D002", file, "this is another kind of file than " + like,
                              "one side is one file, or torch.profiler's traces of all ranks"});
}

std::vector<PipelineTrace> read_traces(const std::vector<std::string>& files, std::string first) {
  std::vector<PipelineTrace> traces;
  std::vector<Diagnostic> problems;
  for (std::size_t k = 0; k < files.size(); ++k) {
    std::string text = k == 0 ? std::move(first) : text_of(files[k], RunForm::kKineto, files.front());
    try {
      traces.push_back(read_pipeline_trace(std::move(text), files[k]));
    } catch (const InputError& error) {
      problems.insert(problems.end(), error.diagnostics().begin(), error.diagnostics().end());
    }
  }
  if (!problems.empty()) throw InputError(std::move(problems));
  return traces;
}

void require_one(const std::vector<std::string>& files, const char* what) {
  if (files.size() == 1) return;
  throw InputError(Diagnostic{"D002", files[1],
                              std::string("the measured side is ") + what +
                                  ", which is one file; only torch.profiler's traces are several, one per rank",
                              "give one file, or the ranks' traces of one run"});
}

RunRecord open_foreign(const std::vector<std::string>& files, std::string first, const RunRecord* schedule_of,
                       const RunReaderOptions& options) {
  std::vector<RunText> texts;
  for (std::size_t k = 0; k < files.size(); ++k) {
    texts.push_back({files[k], k == 0 ? std::move(first) : text_of(files[k], RunForm::kForeign, files.front())});
  }
  const RunReader& reader = *reader_of(texts.front().text);
  for (auto text = std::next(texts.begin()); text != texts.end(); ++text) {
    if (reader_of(text->text) == &reader) continue;
    throw InputError(Diagnostic{"D002", text->file, "this is another kind of file than " + files.front(),
                                "one side is the files of one recording"});
  }
  return record_of_imported(reader.read(std::move(texts), options), names_of(files), schedule_of);
}

}  // namespace

std::string names_of(const std::vector<std::string>& files) {
  if (files.size() == 1) return files.front();
  return files.front() + " and " + std::to_string(files.size() - 1) +
         (files.size() == 2 ? " more file" : " more files");
}

RunForm run_form(const std::string& file) { return form_of(text_of(file), file); }

bool is_one_per_rank(const std::string& file) { return reader_of(text_of(file)) != nullptr; }

RunRecord open_run(const std::vector<std::string>& files, const RunRecord* schedule_of,
                   const ScenarioFileReader& read_scenario, Progress& progress, const RunReaderOptions& options) {
  std::string first = text_of(files.front());
  const RunForm form = form_of(first, files.front());
  const bool several = form == RunForm::kForeign || form == RunForm::kKineto;  // whose others are read below
  for (std::size_t k = 1; k < files.size() && !several; ++k) (void)text_of(files[k], form, files.front());
  progress.phase("reading " + files.front());
  if (!several) require_replica(options.replica, 1);
  switch (form) {
    case RunForm::kRunFile:
      require_one(files, "a run file");
      return read_run_file(files.front());
    case RunForm::kScenario:
      require_one(files, "a scenario");
      return simulate_scenario(files.front(), read_scenario, progress);
    case RunForm::kTrace:
      require_one(files, "a trace of debubble");
      return open_own_trace(read_pipeline_trace(std::move(first), files.front()));
    case RunForm::kForeign:
      return open_foreign(files, std::move(first), schedule_of, options);
    case RunForm::kKineto:
      break;
  }
  return open_kineto_run(read_traces(files, std::move(first)), schedule_of, options.replica);
}

}  // namespace debubble
