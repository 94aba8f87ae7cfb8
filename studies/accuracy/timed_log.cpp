#include "studies/accuracy/timed_log.hpp"

#include <optional>
#include <string_view>

#include "formats/megatron/scenario_of.hpp"
#include "sim/core/error.hpp"
#include "sim/core/median.hpp"
#include "sim/core/numbers.hpp"
#include "studies/diff/logged_run.hpp"

namespace debubble {
namespace {

[[noreturn]] void refuse_log(const char* code, const std::string& file, const std::string& message) {
  throw InputError(Diagnostic{code, file, message,
                              "give a log with forward-compute, backward-compute and optimizer under time (ms)"});
}

std::string flag_value(const MegatronScenario& scenario, std::string_view flag) {
  for (const auto& [name, value] : scenario.flags) {
    if (name == flag) return value;
  }
  return "";
}

int count_in(const MegatronScenario& scenario, std::string_view flag, int otherwise) {
  return static_cast<int>(count_of(flag_value(scenario, flag)).value_or(otherwise));
}

// Of the last rank; nothing where the line lacks it.
std::optional<Nanoseconds> timer_in(const LoggedInterval& interval, std::string_view name) {
  for (const LoggedTimer& timer : interval.timers) {
    if (timer.of == LoggedTimer::Of::kLastRank && timer.name == name) return timer.time;
  }
  return std::nullopt;
}

TimedLine timed_line(const LoggedInterval& interval, const std::string& file) {
  const auto forward = timer_in(interval, "forward-compute");
  const auto backward = timer_in(interval, "backward-compute");
  const auto optimizer = timer_in(interval, "optimizer");
  const std::string where = "iteration " + std::to_string(interval.last_iteration);
  if (!forward || !backward || !optimizer) refuse_log("P016", file, where + " has no timers of the last rank");
  const Nanoseconds reduction = timer_in(interval, "backward-params-all-reduce").value_or(0);
  const TimedLine line{interval.iteration_time - *optimizer - reduction, *forward, *backward};
  if (line.pipeline <= line.forward + line.backward) {
    refuse_log("P012", file, where + " is shorter than what its timers add up to");
  }
  return line;
}

}  // namespace

TimedLog read_timed_log(const std::string& file) {
  const std::string text = log_text(file, "--records");
  const LoggedRun run = read_logged_run(text, file);
  const MegatronScenario scenario = read_megatron(text, file);
  TimedLog log;
  log.schedule = flag_value(scenario, "schedule");
  log.devices = count_in(scenario, "devices", 0);
  log.microbatches = count_in(scenario, "microbatches", 0);
  log.chunks = count_in(scenario, "chunks", 1);
  if (log.microbatches < 1) refuse_log("P012", file, "its arguments do not say how many microbatches there are");
  for (const LoggedInterval& interval : run.intervals) log.lines.push_back(timed_line(interval, file));
  if (log.lines.size() < 2) refuse_log("P016", file, "it has fewer than two warm lines of iterations");
  return log;
}

StageCost stage_of_others(const TimedLog& log, std::size_t left_out) {
  std::vector<Nanoseconds> forward;
  std::vector<Nanoseconds> backward;
  for (std::size_t k = 0; k < log.lines.size(); ++k) {
    if (k == left_out) continue;
    forward.push_back(log.lines[k].forward);
    backward.push_back(log.lines[k].backward);
  }
  const Nanoseconds ops = Nanoseconds{log.microbatches} * log.chunks;
  StageCost cost;
  cost.forward = lower_median(std::move(forward)) / ops;
  cost.backward = lower_median(std::move(backward)) / ops;
  return cost;
}

}  // namespace debubble
