#include "tools/commands/trace.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/files/read_file.hpp"
#include "formats/lint/trace_lint.hpp"
#include "formats/version.hpp"
#include "sim/core/error.hpp"
#include "sim/core/exit_status.hpp"
#include "tools/output/output.hpp"
#include "tools/output/stderr_progress.hpp"
#include "tools/views/trace_lint.hpp"

namespace debubble {

namespace {

constexpr std::string_view kTraceFormats = "text|json";
constexpr std::int64_t kWithDetails = 1000;  // findings of a rule: a wrong writer makes one per event

class TraceCommand : public Command {
 public:
  [[nodiscard]] FlagRows flags() override {
    FlagRows rows{
        {.name = "ACTION",
         .help = "lint: what viewers drop, misplace or draw wrong",
         .target = &action_,
         .required = true},
        {.name = "FILE",
         .help = "Chrome traces, plain or in gzip; -: stdin",
         .target = &files_,
         .count = FlagCount::kAll},
        {.name = "--strict", .help = "also what works only by a viewer's leniency", .target = &strict_},
    };
    add_rows(rows, flag_rows(output_, kTraceFormats));
    rows.push_back(details_row(output_, "1000 findings of each rule, not 10"));
    return rows;
  }

  int run(const Invocation& invocation) override {
    if (action_ != "lint") {
      throw InputError(Diagnostic{"C003", "trace", "nothing called \"" + action_ + "\" is done to a trace",
                                  "write `debubble trace lint FILE`"});
    }
    if (files_.empty()) {
      throw InputError(Diagnostic{"C061", "trace lint", "FILE is missing", "write `debubble trace lint FILE`"});
    }
    Output output(output_, kTraceFormats);
    TraceLintOptions options;
    options.strict = strict_;
    if (output_.details) options.most_per_rule = kWithDetails;
    StderrProgress progress;
    std::vector<TraceLint> lints;
    for (const std::string& file : files_) {
      progress.phase("reading " + file);
      lints.push_back(lint_trace(read_text_file(file, file, kMostRecordingBytes), file, options));
    }
    output.write(output.format() == Format::kJson
                     ? trace_lint_json(lints, {std::string(kVersion), invocation.command_line})
                     : trace_lint_text(lints, output.style()));
    output.commit();
    for (const TraceLint& lint : lints) {
      if (lint.total() > 0) return kExitFinding;
    }
    return kExitOk;
  }

 private:
  std::string action_;
  std::vector<std::string> files_;
  bool strict_ = false;
  OutputFlags output_;
};

}  // namespace

std::unique_ptr<Command> make_trace() { return std::make_unique<TraceCommand>(); }

}  // namespace debubble
