#include "tools/commands/simulate_answer.hpp"

#include "formats/exporters/report_json.hpp"
#include "formats/version.hpp"
#include "studies/simulate/remedies.hpp"
#include "studies/simulate/room.hpp"
#include "studies/uncertainty/step_range.hpp"

namespace debubble {

std::string simulated_name(const Scenario& scenario) {
  return scenario.schedules.empty() ? "1f1b" : scenario.schedules.front();
}

Simulated answer_simulate(const Scenario& scenario, const std::string& name, Progress& progress) {
  Simulated run = simulate(scenario, name, progress);
  if (out_of_memory(run.result.report)) run.result.report = with_remedies(scenario, name, run, progress);
  if (has_result(run.result.report)) add_step_range(scenario, run.result.report);
  return run;
}

MoreMicrobatches more_for(const Scenario& scenario, const std::string& name, const Simulated& run) {
  return has_result(run.result.report) ? more_microbatches(scenario, name, run.job) : MoreMicrobatches{};
}

std::string simulate_json(const Simulated& run, const MoreMicrobatches& more, const std::string& command_line) {
  return report_json(run.result.report, {std::string(kVersion), command_line}, more);
}

}  // namespace debubble
