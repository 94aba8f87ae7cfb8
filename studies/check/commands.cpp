#include "studies/check/commands.hpp"

#include "formats/text/shell.hpp"
#include "scenario/check_scenario.hpp"

namespace debubble {
namespace {

// Every shared flag of a scenario, "--schedule zb-h1 -p 4 --times f=1,b=2".
std::string all_flags(const ScenarioFlags& flags) {
  FlagLine line;
  if (!flags.schedules.empty()) line.add("--schedule", flags.schedules.back());
  line.add_number("-p", flags.devices);
  line.add_number("-m", flags.microbatches);
  line.add_number("-v", flags.chunks);
  line.add_part(repeated_flags(flags));
  line.add("--partition", flags.partition);
  return line.text();
}

std::string with_space(const std::string& a, const std::string& b) { return b.empty() ? a : a + " " + b; }

}  // namespace

std::vector<std::string> commands_for_recorded(const SuiteScenario& scenario) {
  std::string run;
  for (const std::string& file : scenario.measured) run += (run.empty() ? "" : " ") + shell_file(file);
  if (scenario.replica > 0) run += " --replica " + std::to_string(scenario.replica);
  if (!scenario.flags) return {"debubble diff " + run};
  return {with_space("debubble simulate", all_flags(*scenario.flags)) + " --save-run predicted.run.json",
          "debubble diff predicted.run.json " + run};
}

std::vector<std::string> commands_for_fresh(const SuiteScenario& scenario, int devices, bool ends) {
  std::string command = scenario.live->backend == "mpi" ? "mpirun -n " + std::to_string(devices) + " " : "";
  command = with_space(command + "debubble live", all_flags(*scenario.flags));
  for (const std::string& argument : scenario.live_arguments) command += " " + shell_quoted(argument);
  if (!ends) return {command};
  return {command + " --save-run measured.run.json", "debubble diff measured.run.json"};
}

}  // namespace debubble
