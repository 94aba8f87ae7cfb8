#include "tools/commands/export.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "sim/core/error.hpp"
#include "tools/commands/trace.hpp"
#include "tools/exit_status.hpp"
#include "tools/exporters/report_json.hpp"
#include "tools/output.hpp"
#include "tools/run.hpp"
#include "tools/scenario.hpp"
#include "tools/views/diagnostics.hpp"

namespace debubble {

namespace {

class Export : public Command {
 public:
  void add_flags(CLI::App& verb) override {
    verb.add_option("--to", to_, "pytorch-csv (the order) or chrome-trace (the run)")->required()->type_name("FORMAT");
    verb.add_option("-o,--output", output_, "where to; .gz compresses (default: -, stdout)")->type_name("FILE");
    add_scenario_flags(verb, scenario_, false);
  }

  int run(const Invocation& invocation) override {
    if (to_ != "pytorch-csv" && to_ != "chrome-trace") {
      throw InputError(Diagnostic{"C063", "--to", "\"" + to_ + "\" is not a format debubble can export to",
                                  "known formats: pytorch-csv, chrome-trace"});
    }
    const Scenario scenario = check_scenario(scenario_);
    const std::string name = scenario.schedules.empty() ? "1f1b" : scenario.schedules.front();
    OutputFile file(output_);
    if (to_ == "pytorch-csv") {
      write_table(make_schedule(scenario, name), file);
      file.commit();
      return kExitOk;
    }
    Progress progress;
    const Run run = run_schedule(scenario, name, progress);
    if (!has_result(run.report)) {
      std::fputs(findings_view(run.report.findings, stderr_style()).c_str(), stderr);
      return kExitFinding;
    }
    write_trace(run, invocation.command_line, nullptr, file);
    file.commit();
    return kExitOk;
  }

 private:
  ScenarioFlags scenario_;
  std::string to_;
  std::string output_ = "-";
};

}  // namespace

std::unique_ptr<Command> make_export() { return std::make_unique<Export>(); }

}  // namespace debubble
