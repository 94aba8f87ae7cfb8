#include "studies/live/settings.hpp"

#include <utility>

#include "live/cpu/cores.hpp"
#include "sim/core/error.hpp"
#include "sim/core/numbers.hpp"
#include "sim/core/split.hpp"
#include "sim/core/words.hpp"

namespace debubble {

namespace {

constexpr const char* kNoSharedGpu = "processes do not share a GPU";

std::string leave_out(const std::string& flag) { return "leave " + flag + " out"; }

class LiveChecker {
 public:
  LiveChecker(const LiveFlags& flags, const ScenarioFlags& scenario) : flags_(flags), scenario_(scenario) {}

  LiveSettings run() {
    LiveFlags copy = flags_;
    const FlagRows rows = flag_rows(copy);
    problems_ = unknown_words(rows);
    if (!problems_.empty()) throw InputError(std::move(problems_));
    settings_.backend = flags_.backend == "cuda"    ? LiveBackend::kCuda
                        : flags_.backend == "mpi"   ? LiveBackend::kMpi
                        : flags_.backend == "torch" ? LiveBackend::kTorch
                                                    : LiveBackend::kCpu;
    check_numbers();
    check_clock();
    check_backend();
    if (!problems_.empty()) throw InputError(std::move(problems_));
    return std::move(settings_);
  }

 private:
  [[nodiscard]] bool works_on_gpus() const {
    return settings_.backend == LiveBackend::kCuda || (settings_.backend == LiveBackend::kMpi && flags_.gpus == "each");
  }

  void check_backend() {
    if (settings_.backend == LiveBackend::kTorch) return check_torch();
    refuse_torch_flags();
    if (works_on_gpus()) return check_cuda();
    refuse_gpu_flags();
  }

  void add(const char* code, const std::string& place, std::string message, std::string help) {
    problems_.push_back({code, place, std::move(message), std::move(help)});
  }

  void check_least(const char* flag, const std::optional<int>& value, int least) {
    if (!value || *value >= least) return;
    add("C012", flag, "at least " + std::to_string(least) + " is needed; got " + std::to_string(*value),
        "leave it out for the default");
  }

  void check_numbers() {
    constexpr int kSecondsDefault = 10;
    constexpr int kMostSeconds = 86'400;
    check_least("--repetitions", flags_.repetitions, 1);
    check_least("--warm-up", flags_.warm_up, 0);
    check_least("--watchdog", flags_.watchdog, 1);
    check_least("--gpu", flags_.gpu, 0);
    const int seconds = flags_.watchdog.value_or(kSecondsDefault);
    if (seconds > kMostSeconds) {
      add("C012", "--watchdog",
          "at most " + std::to_string(kMostSeconds) + " (a day) is possible; got " + std::to_string(seconds),
          "give it in seconds");
    }
    settings_.patience = std::int64_t{seconds} * 1000 * kNanosecondsPerMillisecond;
    settings_.repetitions = flags_.repetitions.value_or(0);
    settings_.warm_up = flags_.warm_up.value_or(-1);
    settings_.faults = flags_.faults;
  }

  void check_clock() {
    if (settings_.backend == LiveBackend::kTorch) {
      const char* flag = flags_.clock == "logical" ? "--clock" : !flags_.costs.empty() ? "--costs" : nullptr;
      if (flag != nullptr) add("C009", flag, "PyTorch's work is timed by the wall clock", leave_out(flag));
      settings_.clock = live::Clock::kWall;
      return;
    }
    if (works_on_gpus()) {
      const char* flag = !flags_.clock.empty() ? "--clock" : !flags_.costs.empty() ? "--costs" : nullptr;
      if (flag != nullptr) add("C009", flag, "work on GPUs is timed by the GPU's clock", leave_out(flag));
      settings_.clock = live::Clock::kWall;
      return;
    }
    if (!flags_.costs.empty() && flags_.clock == "wall") {
      add("C009", "--costs", "on the wall clock an op takes the time it takes", "give it with --clock logical");
    }
    if (flags_.clock == "wall") settings_.clock = live::Clock::kWall;
    if (flags_.clock == "logical" || !flags_.costs.empty()) {
      settings_.clock = flags_.costs == "cpu-time" ? live::Clock::kLogicalCpuTime : live::Clock::kLogicalGiven;
    }
  }

  void refuse_costs(const std::string& where) {
    const auto refuse = [&](const char* flag, bool given) {
      if (given) add("C087", flag, where + " costs and links are measured, not given", leave_out(flag));
    };
    refuse("--times", !scenario_.times.empty());
    refuse("--w-share", !scenario_.weight_share.empty());
    refuse("--profile", !scenario_.profile.empty());
    refuse("--comm", !scenario_.comm.empty());
    refuse("--bandwidth", !scenario_.bandwidth.empty());
  }

  // Where the backend runs a process for each device.
  void refuse_shared_gpu() {
    if (flags_.gpus != "shared") return;
    add("C009", "--gpus", kNoSharedGpu, "write --gpus each, or leave it out to work on the CPU");
  }

  void check_cuda() {
    refuse_costs("on GPUs");
    if (flags_.model.empty()) {
      add("C004", "--model", "--backend " + flags_.backend + " needs a model to run",
          "add --model NAME; `debubble list models` shows the presets");
    }
    if (flags_.gpus == "each" && flags_.gpu) {
      add("C009", "--gpu", "with --gpus each the devices are the GPUs from 0 on", "leave --gpu out");
    }
    try {
      settings_.size = workload_sizes(flags_.sizes).front();
    } catch (const InputError& error) {
      problems_.insert(problems_.end(), error.diagnostics().begin(), error.diagnostics().end());
    }
    if (settings_.backend == LiveBackend::kMpi && flags_.launch == "graph") {
      add("C087", "--launch", "one graph of all devices takes one process",
          "leave --launch out, or add --backend cuda");
    }
    settings_.model = flags_.model;
    if (!scenario_.partition.empty()) settings_.partition = parse_cut_rule(scenario_.partition);
    settings_.graph = flags_.launch == "graph";
    settings_.gpu_each = flags_.gpus == "each";
    settings_.gpu = flags_.gpu.value_or(0);
  }

  void check_torch() {
    const auto refuse = [&](const char* flag, bool given, const char* why) {
      if (given) add("C087", flag, why, leave_out(flag));
    };
    refuse_costs("with --backend torch");
    constexpr const char* kOwnModel = "it is about the built-in transformer, and torch runs what --stages-from makes";
    refuse("--model", !flags_.model.empty(), kOwnModel);
    refuse("--microbatch-size", flags_.sizes.microbatch.has_value(), kOwnModel);
    refuse("--sequence", flags_.sizes.sequence.has_value(), kOwnModel);
    refuse("--dtype", flags_.sizes.type != "bf16", "the numbers of torch's stages are --precision");
    refuse("--launch", !flags_.launch.empty(), "PyTorch launches op by op");
    refuse("--gpu", flags_.gpu.has_value(), kNoSharedGpu);
    refuse_shared_gpu();
    settings_.gpu_each = flags_.gpus == "each";
    settings_.precision = flags_.precision.empty() ? "float64" : flags_.precision;
    settings_.stages = flags_.stages_from;
    const std::size_t colon = settings_.stages.find(':');
    const bool blank = settings_.stages.find_first_of(" \t\n") != std::string::npos;
    if (!settings_.stages.empty() &&
        (colon == 0 || colon == std::string::npos || colon + 1 == settings_.stages.size() || blank)) {
      add("C006", "--stages-from", "\"" + settings_.stages + "\" is not MODULE:FACTORY",
          "write --stages-from my_model:make_stages, for def make_stages(stages) in my_model.py");
    }
    read_stage_layers();
  }

  // Whether they fit, the factory's layers tell.
  void read_stage_layers() {
    if (scenario_.partition.empty()) return;
    if (settings_.stages.empty()) {
      add("C087", "--partition", "the built-in chain has a block for each stage",
          "leave --partition out, or add --stages-from for a factory that returns an nn.Sequential");
      return;
    }
    for (const std::string& word : split(scenario_.partition)) {
      const auto layers = count_of(word);
      if (!layers || *layers < 1) {
        add("C006", "--partition", "\"" + word + "\" is not a number of layers",
            "--backend torch takes numbers, one for each stage: --partition 3,3,2");
        return;
      }
      settings_.stage_layers.push_back(static_cast<int>(*layers));
    }
  }

  void refuse_torch_flags() {
    const auto refuse = [&](const char* flag, bool given) {
      if (!given) return;
      add("C087", flag, "it is about PyTorch, and the backend is " + flags_.backend,
          leave_out(flag) + ", or add --backend torch");
    };
    refuse("--stages-from", !flags_.stages_from.empty());
    refuse("--precision", !flags_.precision.empty());
  }

  void refuse_gpu_flags() {
    const auto refuse = [&](const char* flag, bool given) {
      if (!given) return;
      add("C087", flag, "it is about GPUs, and the backend is " + flags_.backend,
          leave_out(flag) + ", or add " + (settings_.backend == LiveBackend::kMpi ? "--gpus each" : "--backend cuda"));
    };
    refuse("--model", !flags_.model.empty());
    const bool profile = !scenario_.profile.empty();
    refuse("--microbatch-size", flags_.sizes.microbatch && !profile);
    refuse("--sequence", flags_.sizes.sequence && !profile);
    if (profile && flags_.sizes.microbatch) settings_.microbatch = *flags_.sizes.microbatch;
    if (profile && flags_.sizes.sequence) settings_.sequence = *flags_.sizes.sequence;
    refuse("--dtype", flags_.sizes.type != "bf16");
    refuse("--launch", !flags_.launch.empty());
    refuse("--gpu", flags_.gpu.has_value());
    if (settings_.backend == LiveBackend::kCpu) refuse("--gpus", !flags_.gpus.empty());
    if (settings_.backend == LiveBackend::kMpi) refuse_shared_gpu();
  }

  const LiveFlags& flags_;
  const ScenarioFlags& scenario_;
  LiveSettings settings_;
  std::vector<Diagnostic> problems_;
};

}  // namespace

LiveSettings check_live(const LiveFlags& flags, const ScenarioFlags& scenario) {
  return LiveChecker(flags, scenario).run();
}

ScenarioFlags scenario_part(const LiveSettings& settings, ScenarioFlags flags) {
  if (settings.measures_costs()) flags.partition.clear();
  if (settings.microbatch) flags.transformer.microbatch_size = settings.microbatch;
  if (settings.sequence) flags.transformer.sequence = settings.sequence;
  return flags;
}

ClockChoice choose_clock(const LiveSettings& settings, int devices) {
  if (settings.clock) return {*settings.clock, ""};
  if (settings.backend == LiveBackend::kMpi) {
    return {live::Clock::kLogicalGiven,
            "the default over MPI, for hosts may differ in cores; --clock wall times the work"};
  }
  const int cores = live::usable_cores().usable();
  const bool enough = cores >= devices + 1;
  const std::string verdict = enough ? " are" : cores == 1 ? " is not" : " are not";
  const std::string why = counted(cores, "usable core") + verdict + " enough for " + std::to_string(devices) +
                          " devices and the one who watches";
  return {enough ? live::Clock::kWall : live::Clock::kLogicalGiven, why};
}

}  // namespace debubble
