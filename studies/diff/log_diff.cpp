#include "studies/diff/log_diff.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <stdexcept>
#include <utility>

#include "cost_models/transformer/hardware.hpp"
#include "formats/exporters/finding_text.hpp"
#include "formats/megatron/scenario_of.hpp"
#include "scenario/check_scenario.hpp"
#include "sim/core/error.hpp"
#include "sim/core/median.hpp"
#include "studies/diff/log_parts.hpp"
#include "studies/diff/logged_run.hpp"
#include "studies/simulate/simulate.hpp"

namespace debubble {
namespace {

constexpr double kNanosecondsPerSecond = 1e9;

// What matters to times or memory, and what is taken where a log (of an older release) does not say it.
constexpr std::array<std::pair<const char*, const char*>, 12> kArgumentsThatMatter{
    {{"micro-batch-size", "1"},
     {"global-batch-size", "debubble's default number of microbatches"},
     {"tensor-model-parallel-size", "1"},
     {"world-size", "one replica of the pipeline"},
     {"num-layers-per-virtual-pipeline-stage", "one chunk on each rank"},
     {"sequence-parallel", "off"},
     {"use-distributed-optimizer", "off"},
     {"hidden-dropout", "0.1, Megatron's default"},
     {"attention-dropout", "0.1, Megatron's default"},
     {"transformer-impl", "local: attention's scores are in memory"},
     {"overlap-p2p-comm", "transfers overlap with compute"},
     {"swiglu", "off: a GELU MLP"}}};

std::vector<AssumedArgument> assumed_arguments(const MegatronLog& log) {
  std::vector<AssumedArgument> assumed;
  for (const auto& [name, taken] : kArgumentsThatMatter) {
    if (!log.names.contains(name)) assumed.push_back({"--" + std::string(name), taken});
  }
  if (!log.names.contains("recompute-granularity") && !log.names.contains("checkpoint-activations")) {
    assumed.push_back({"--recompute-granularity", "nothing is recomputed"});
  }
  return assumed;
}

std::string hardware_of(const LogDiffRequest& request, const MegatronLog& log) {
  if (!request.hardware.empty()) return request.hardware;
  const Hardware* named = log.device.empty() ? nullptr : hardware_of_device(log.device);
  if (named != nullptr) return named->name;
  throw InputError(Diagnostic{
      "C004", "--log",
      log.device.empty() ? "the log does not say on which GPUs the job ran"
                         : "the log says that the job ran on \"" + log.device + "\", whose figures are not known",
      "name them, or the nearest: --hardware a100-80; `debubble list hardware` has them all"});
}

// Timers of transfers wait for the GPU before and after each: nothing overlaps while they measure.
bool times_transfers(const MegatronLog& log) {
  return std::any_of(log.intervals.begin(), log.intervals.end(), [](const LoggedInterval& line) {
    return std::any_of(line.timers.begin(), line.timers.end(),
                       [](const LoggedTimer& timer) { return timer.name == "forward-send-forward-recv"; });
  });
}

Scenario scenario_of_log(const std::string& text, const LogDiffRequest& request, const MegatronLog& log,
                         const std::string& hardware, std::vector<std::string>& notes) {
  const MegatronScenario translated = read_megatron(text, request.log);
  notes.insert(notes.end(), translated.findings.begin(), translated.findings.end());
  std::vector<std::string> arguments{"--hardware=" + hardware, "--step=on"};
  for (const auto& [name, value] : translated.flags) {
    arguments.push_back("--" + name + (value == "true" ? "" : "=" + value));
  }
  const auto says = [&](const char* name) {
    return std::any_of(translated.flags.begin(), translated.flags.end(),
                       [&](const auto& flag) { return flag.first == name; });
  };
  if (times_transfers(log) && says("chunks") && !says("p2p")) {
    arguments.emplace_back("--p2p=coupled");
    notes.emplace_back(
        "transfers were timed (--timing-log-level 2), which ends their overlap with compute: the prediction is without "
        "it, too; the same run is faster where nothing measures it");
  }
  ScenarioFlags flags;
  try {
    set_flags(flag_rows(flags), arguments);
  } catch (const std::invalid_argument&) {
    throw InputError(Diagnostic{"P012", request.log, "the arguments give a number that is too large for a scenario",
                                "check the sizes, ranks and batches in the block of arguments"});
  }
  return check_scenario(flags);
}

// Nobody typed the flags that the log's arguments became: the log is in front of the place where one is wrong.
[[noreturn]] void throw_for_log(const InputError& error, const std::string& log) {
  std::vector<Diagnostic> problems = error.diagnostics();
  for (Diagnostic& problem : problems) {
    if (problem.place.starts_with("--") && problem.place != "--hardware" && problem.place != "--log") {
      problem.place = log + ", as " + problem.place;
    }
  }
  throw InputError(std::move(problems));
}

Simulated predict_job(const Scenario& scenario, const std::string& name, Progress& progress) {
  Simulated run = simulate(scenario, scenario.schedules.empty() ? "1f1b" : scenario.schedules.front(), progress);
  if (!run.result.report.deadlock) return run;
  throw InputError(Diagnostic{
      "D009", name,
      "its schedule cannot be simulated: " + finding_text(run.result.report.findings.front(), run.result.report),
      "debubble simulate shows where"});
}

void check_same_pipeline(const Report& predicted, const LoggedRun& run, const LogDiffRequest& request) {
  if (predicted.schedule.devices == run.pipeline) return;
  throw InputError(
      Diagnostic{"D010", request.scenario,
                 "it has " + std::to_string(predicted.schedule.devices) + " pipeline ranks, and the job of " +
                     request.log + " had " + std::to_string(run.pipeline),
                 "predict the job that was measured: debubble import --from megatron writes its scenario"});
}

template <typename T>
Figure<T> figure_over(T predicted, const std::vector<T>& values) {
  return make_figure(predicted, tenths_percentile(values, 5), values);
}

struct OpTimes {
  Nanoseconds forward = 0;
  Nanoseconds backward = 0;
};

// How long each device runs forwards and backwards in an iteration.
std::vector<OpTimes> op_times(const Simulated& run) {
  std::vector<OpTimes> times(static_cast<std::size_t>(run.job.schedule.devices));
  for (const Span& span : run.result.timeline.spans) {
    OpTimes& device = times.at(static_cast<std::size_t>(span.device));
    (span.op.kind == OpKind::kForward ? device.forward : device.backward) += span.end - span.begin;
  }
  return times;
}

class Comparer {
 public:
  Comparer(const LoggedRun& run, const Simulated& predicted, LogDiff& diff)
      : run_(run), predicted_(predicted), report_(predicted.result.report), ops_(op_times(predicted)), diff_(diff) {}

  void compare() {
    diff_.first = run_.measured.first;
    diff_.lines = run_.measured.intervals.size();
    diff_.left_out = run_.log.intervals.size() - diff_.lines;
    if (!run_.measured.intervals.empty()) {
      diff_.last_iteration = run_.measured.intervals.back().last_iteration;
      add_step();
      add_timers("forward-compute", &OpTimes::forward);
      add_timers("backward-compute", &OpTimes::backward);
      add_idle();
      add_bubbles(run_, predicted_, diff_);
    }
    add_memory();
  }

 private:
  void add_step() {
    std::vector<Nanoseconds> times;
    for (const LoggedInterval& interval : run_.measured.intervals) times.push_back(interval.iteration_time);
    diff_.step = figure_over(report_.makespan, times);
    if (run_.global_batch == 0 || !report_.samples_per_second) return;
    std::vector<double> samples;
    for (const Nanoseconds time : times) {
      samples.push_back(static_cast<double>(run_.global_batch) * kNanosecondsPerSecond / static_cast<double>(time));
    }
    diff_.samples_per_second = figure_over(*report_.samples_per_second, samples);
    if (run_.sequence == 0 || !report_.tokens_per_second) return;
    for (double& one : samples) one *= static_cast<double>(run_.sequence);
    diff_.tokens_per_second = figure_over(*report_.tokens_per_second, samples);
  }

  // The device that a timer is of; -1 for those over all ranks.
  [[nodiscard]] int device_of(const LoggedTimer& timer) const {
    if (timer.of == LoggedTimer::Of::kLastRank) return static_cast<int>(run_.pipeline) - 1;
    return timer.of == LoggedTimer::Of::kRank ? run_.device_of(timer.rank) : -1;
  }

  // Of several ranks of a device the one that took longest.
  [[nodiscard]] std::vector<Nanoseconds> times_of(const std::string& name, int device, LoggedTimer::Of all) const {
    std::vector<Nanoseconds> times;
    for (const LoggedInterval& interval : run_.measured.intervals) {
      Nanoseconds most = -1;
      for (const LoggedTimer& timer : interval.timers) {
        if (timer.name != name) continue;
        const bool meant = device < 0 ? timer.of == all : device_of(timer) == device;
        if (meant) most = std::max(most, timer.time);
      }
      times.push_back(most);
    }
    return times;  // -1: the line lacks the timer
  }

  void add_timers(const std::string& name, Nanoseconds OpTimes::*time) {
    const auto less = [time](const OpTimes& a, const OpTimes& b) { return a.*time < b.*time; };
    const auto [least, most] = std::minmax_element(ops_.begin(), ops_.end(), less);
    add_timer({name, TimerFigure::Of::kLeastRank, -1, {}}, (*least).*time, LoggedTimer::Of::kLeastRank);
    add_timer({name, TimerFigure::Of::kMostRank, -1, {}}, (*most).*time, LoggedTimer::Of::kMostRank);
    for (std::size_t d = 0; d < ops_.size(); ++d) {
      add_timer({name, TimerFigure::Of::kDevice, static_cast<int>(d), {}}, ops_[d].*time, LoggedTimer::Of::kRank);
    }
  }

  void add_timer(TimerFigure figure, Nanoseconds predicted, LoggedTimer::Of of) {
    std::vector<Nanoseconds> times = times_of(figure.name, figure.device, of);
    std::erase(times, -1);
    if (times.empty()) return;
    figure.time = figure_over(predicted, times);
    diff_.timers.push_back(std::move(figure));
  }

  void add_idle() {
    for (std::size_t d = 0; d < ops_.size(); ++d) {
      const auto device = static_cast<int>(d);
      const std::vector<Nanoseconds> forward = times_of("forward-compute", device, LoggedTimer::Of::kRank);
      const std::vector<Nanoseconds> backward = times_of("backward-compute", device, LoggedTimer::Of::kRank);
      std::vector<double> shares;
      for (std::size_t k = 0; k < forward.size(); ++k) {
        if (forward[k] < 0 || backward[k] < 0) continue;
        shares.push_back(idle_share(forward[k] + backward[k], run_.measured.intervals[k].iteration_time));
      }
      if (shares.empty()) continue;
      diff_.idle.push_back(
          {device, figure_over(idle_share(ops_[d].forward + ops_[d].backward, report_.makespan), shares)});
    }
  }

  static double idle_share(Nanoseconds busy, Nanoseconds step) {
    return 1 - static_cast<double>(busy) / static_cast<double>(step);
  }

  void add_memory() {
    for (const DeviceReport& device : report_.devices) {
      diff_.memory.push_back({device.device, 0, device.peak_memory, 0});
    }
    std::set<std::int64_t> ranks;
    for (const LoggedMemory& memory : run_.log.memory) {
      if (memory.saved) continue;
      StageMemoryFigure& stage = diff_.memory.at(static_cast<std::size_t>(run_.device_of(memory.rank)));
      stage.most = std::max(stage.most, memory.max_allocated);
      stage.ranks += ranks.insert(memory.rank).second ? 1 : 0;
    }
  }

  const LoggedRun& run_;
  const Simulated& predicted_;
  const Report& report_;
  std::vector<OpTimes> ops_;
  LogDiff& diff_;
};

}  // namespace

PeakMemory LogDiff::peak_memory() const {
  PeakMemory peak;
  for (const StageMemoryFigure& stage : memory) {
    peak.predicted = std::max(peak.predicted, stage.predicted);
    if (stage.ranks > 0) peak.measured = std::max(peak.measured.value_or(0), stage.most);
  }
  return peak;
}

LogDiff make_log_diff(const LogDiffRequest& request, Progress& progress) {
  const std::string text = log_text(request.log, "--log");
  std::optional<Scenario> job;
  if (!request.scenario.empty()) job = check_scenario(request.read_scenario(request.scenario));
  const LoggedRun run = read_logged_run(text, request.log, job ? &*job : nullptr);
  LogDiff diff;
  diff.log_name = request.log;
  diff.predicted_name = request.scenario;
  const std::string& name = request.scenario.empty() ? request.log : request.scenario;
  progress.phase("simulating " + name);
  Simulated predicted;
  if (request.scenario.empty()) {
    diff.hardware = hardware_of(request, run.log);
    diff.hardware_in_log = request.hardware.empty();
    diff.assumed = assumed_arguments(run.log);
    try {
      predicted = predict_job(scenario_of_log(text, request, run.log, diff.hardware, diff.notes), name, progress);
    } catch (const InputError& error) {
      throw_for_log(error, request.log);
    }
  } else {
    predicted = predict_job(*job, name, progress);
  }
  diff.predicted = predicted.result.report;
  check_same_pipeline(diff.predicted, run, request);
  Comparer(run, predicted, diff).compare();
  add_log_notes(run, diff);
  return diff;
}

void require_judgeable(const Tolerance& tolerance, const LogDiff& diff) {
  const auto refuse = [&](const std::string& what, const std::string& help) {
    throw InputError(Diagnostic{"D013", "--tolerance",
                                diff.log_name + " does not say " + what + ", so there is nothing to judge", help});
  };
  if (tolerance.bubble && !(diff.bubble && diff.bubble->figure)) {
    refuse("how long every rank was idle",
           "leave bubble out, compare a trace of all ranks, or log --timing-log-level 2 --timing-log-option all");
  }
  if (tolerance.step && !diff.step) refuse("how long iterations took", "leave step out");
  if (tolerance.memory && !diff.has_memory()) refuse("how much memory the ranks took", "leave memory out");
}

std::vector<Excess> exceeded(const Tolerance& tolerance, const LogDiff& diff) {
  std::vector<Excess> found;
  const auto judge = [&](Excess::Kind kind, int device, std::int64_t predicted, std::int64_t measured, double most) {
    const double differs =
        std::abs(static_cast<double>(measured - predicted)) / static_cast<double>(std::max<std::int64_t>(predicted, 0));
    if (differs > most) found.push_back({kind, device, differs, most});
  };
  if (tolerance.step) judge(Excess::Kind::kStep, -1, diff.step->predicted, diff.step->median, *tolerance.step);
  if (tolerance.bubble) {
    const double differs = std::abs(diff.bubble->figure->gap());
    if (differs > *tolerance.bubble) found.push_back({Excess::Kind::kBubble, -1, differs, *tolerance.bubble});
  }
  if (!tolerance.memory) return found;
  for (const StageMemoryFigure& stage : diff.memory) {
    if (stage.ranks > 0) judge(Excess::Kind::kMemory, stage.device, stage.predicted, stage.most, *tolerance.memory);
  }
  return found;
}

}  // namespace debubble
