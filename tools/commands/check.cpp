#include "tools/commands/command.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "formats/files/output_file.hpp"
#include "formats/version.hpp"
#include "live/backends.hpp"
#include "scenario/request/flag_row.hpp"
#include "sim/core/error.hpp"
#include "studies/check/suite_gate.hpp"
#include "tools/flags/given_files.hpp"
#include "tools/output/output.hpp"
#include "tools/output/stderr_progress.hpp"
#include "tools/views/check/cases.hpp"
#include "tools/views/check/check_json.hpp"
#include "tools/views/check/github.hpp"
#include "tools/views/check/markdown.hpp"
#include "tools/views/check/text_view.hpp"
#include "tools/views/diagnostics.hpp"
#include "tools/views/html/html_file.hpp"
#include "tools/views/html/study_pages.hpp"

namespace debubble {

namespace {

constexpr std::string_view kCheckFormats = "text|json";

std::string check_environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody changes the environment
  return value == nullptr ? "" : value;
}

// Results in addition to the main one: JUnit and Markdown, written whole or not at all.
struct ExtraFile {
  ExtraFile(const std::string& path, std::string (*make_text)(const CheckResult&)) : make(make_text) {
    if (!path.empty()) file.emplace(path);
  }
  void write(const CheckResult& result) {
    if (file) file->write(make(result));
  }
  void commit() {
    if (file) file->commit();
  }
  std::string (*make)(const CheckResult&);
  std::optional<OutputFile> file;
};

class Check : public Command {
 public:
  [[nodiscard]] FlagRows flags() override {
    const FlagGroup row;
    const FlagGroup output("Output");
    FlagRows rows{
        row("SUITE", "suites to check, JSON; see docs/ci.md", &suites_, FlagCount::kAll, FlagMark::kRequired),
        row("--accept", "write the predictions to the baseline; run it first", &accept_),
    };
    add_rows(rows, flag_rows(output_, kCheckFormats));
    add_rows(rows, {
                       output("--junit", "FILE.xml", "also write JUnit XML, for GitLab and others", &junit_),
                       output("--markdown", "FILE.md", "also write a summary in Markdown", &markdown_),
                       html_row(html_),
                       output("--github", "annotations, and the job's step summary", &github_),
                   });
    return rows;
  }

  int run(const Invocation& invocation) override {
    require_different_files(std::array<std::pair<std::string, std::string>, 3>{
        {{"--output", output_.output}, {"--junit", junit_}, {"--markdown", markdown_}}});
    Output output(output_, kCheckFormats);
    ExtraFile junit(junit_, [](const CheckResult& result) { return junit_xml(result); });
    ExtraFile markdown(markdown_, [](const CheckResult& result) { return check_markdown(result); });
    HtmlFile html(html_);
    const CheckResult result = look();
    if (!is_first()) return status_of(result);
    show(result, invocation, output);
    junit.write(result);
    markdown.write(result);
    if (html.wanted()) html.write(check_page(result, invocation.command_line));
    junit.commit();
    markdown.commit();
    html.commit();
    output.commit();
    tell(result);
    return status_of(result);
  }

 private:
  // Of the processes that mpirun started, one speaks and writes.
  static bool is_first() { return live::mpi_rank_of_environment().value_or(0) == 0; }

  CheckResult look() {
    StderrProgress progress;
    std::vector<SuiteGate> gates;
    for (const std::string& suite : suites_) gates.emplace_back(suite, accept_, progress);
    if (accept_) {
      if (is_first()) accept(gates);
    } else {
      for (SuiteGate& gate : gates) gate.measure();
    }
    CheckResult result;
    result.accept = accept_;
    for (const SuiteGate& gate : gates) result.suites.push_back(gate.result());
    for (SuiteResult& suite : result.suites) {
      if (suite.errors.empty()) continue;
      const std::vector<std::string> given{"check", suite.file};
      suite.errors = told_by_kind(InputError(suite.errors), flags(), given).diagnostics();
    }
    return result;
  }

  // All baselines or none.
  static void accept(std::vector<SuiteGate>& gates) {
    std::map<std::string, std::string> suite_of;  // by baseline
    for (const SuiteGate& gate : gates) {
      if (!gate.acceptable()) return;
      const std::string baseline = std::filesystem::weakly_canonical(gate.baseline()).string();
      const auto [other, is_new] = suite_of.emplace(baseline, gate.result().file);
      if (!is_new) {
        throw InputError(Diagnostic{"C066", gate.result().file,
                                    "its baseline is that of " + other->second + " too: " + gate.baseline(),
                                    "give each suite its own \"baseline\""});
      }
    }
    std::vector<OutputFile> files;
    for (const SuiteGate& gate : gates) files.push_back(gate.write_baseline());
    for (OutputFile& file : files) file.commit();
    for (SuiteGate& gate : gates) gate.mark_accepted();
  }

  static void show(const CheckResult& result, const Invocation& invocation, Output& output) {
    if (output.format() == Format::kJson) {
      output.write(check_json(result, {std::string(kVersion), invocation.command_line}));
    } else {
      output.write(check_text(result, output.style()));
    }
  }

  // On stderr, which GitHub reads for annotations as it does stdout.
  void tell(const CheckResult& result) const {
    for (const SuiteResult& suite : result.suites) {
      std::fputs(diagnostics_view(suite.errors, stderr_style()).c_str(), stderr);
    }
    if (!github_) return;
    std::fputs(github_annotations(result, check_environment("GITHUB_WORKSPACE")).c_str(), stderr);
    const std::string summary = check_environment("GITHUB_STEP_SUMMARY");
    if (!summary.empty()) append_step_summary(summary, check_markdown(result));
  }

  std::vector<std::string> suites_;
  bool accept_ = false;
  bool github_ = false;
  OutputFlags output_;
  std::string junit_;
  std::string markdown_;
  std::string html_;
};

}  // namespace

std::unique_ptr<Command> make_check() { return std::make_unique<Check>(); }

}  // namespace debubble
