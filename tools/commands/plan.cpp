#include "tools/commands/plan.hpp"

#include <optional>

#include "formats/version.hpp"
#include "scenario/check_scenario.hpp"
#include "sim/core/error.hpp"
#include "sim/core/exit_status.hpp"
#include "studies/plan/plan.hpp"
#include "tools/flags/config_file.hpp"
#include "tools/output/output.hpp"
#include "tools/output/stderr_progress.hpp"
#include "tools/views/plan/plan_view.hpp"

namespace debubble {
namespace {

constexpr std::string_view kPlanFormats = "text|json|csv";
constexpr int kUsualTop = 5;

class PlanCommand : public Command {
 public:
  [[nodiscard]] FlagRows flags() override {
    FlagRows rows = flag_rows(flags_);
    rows.push_back({.name = "--top",
                    .group = "Plan",
                    .type = "N",
                    .help = "runs to print",
                    .default_text = std::string_view("5"),
                    .target = &top_});
    add_rows(rows, flag_rows(scenario_, ScenarioVerb::kSeveralSchedules));
    add_rows(rows, flag_rows(output_, kPlanFormats));
    return rows;
  }

  int run(const Invocation& invocation) override {
    const int top = top_.value_or(kUsualTop);
    if (top < 1) {
      throw InputError(Diagnostic{"C012", "--top", "at least one run is printed", "write it like --top 10"});
    }
    flags_.read_scenario = read_scenario_file;
    Output output(output_, kPlanFormats);
    StderrProgress progress;
    const Plan plan = make_plan(scenario_, flags_, progress);
    const auto count = static_cast<std::size_t>(top);
    switch (output.format()) {
      case Format::kJson:
        output.write(plan_json(plan, count, {std::string(kVersion), invocation.command_line}));
        break;
      case Format::kCsv:
        output.write(plan_csv(plan, count));
        break;
      case Format::kMarkdown:  // not offered
      case Format::kText:
        output.write(plan_view(plan, count, output.style()));
        break;
    }
    output.commit();
    return plan.search.runs.empty() ? kExitFinding : kExitOk;
  }

 private:
  PlanFlags flags_;
  ScenarioFlags scenario_;
  OutputFlags output_;
  std::optional<int> top_;
};

}  // namespace

std::unique_ptr<Command> make_plan_command() { return std::make_unique<PlanCommand>(); }

}  // namespace debubble
