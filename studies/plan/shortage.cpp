#include "studies/plan/shortage.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <tuple>
#include <utility>

#include "formats/text/shell.hpp"
#include "scenario/check_scenario.hpp"
#include "scenario/job/memory_limits.hpp"
#include "scenario/job/model_profile.hpp"
#include "sim/analysis/memory_fit.hpp"
#include "sim/core/at.hpp"
#include "sim/core/error.hpp"
#include "sim/core/quantities.hpp"
#include "sim/core/words.hpp"
#include "studies/simulate/simulate.hpp"

namespace debubble {
namespace {

constexpr double kChangeGap = 0.05;
constexpr std::size_t kMostOffers = 3;
constexpr Bytes kNoMemoryLimit = Bytes{1} << 50;
constexpr const char* kNoMemoryLimitText = "1024TiB";
constexpr std::array kGpuMultiples{2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32};
constexpr std::array kBatchDivisors{2, 4, 8};

std::string comma_list(const std::vector<std::string>& values) {
  std::string text;
  for (const std::string& value : values) text += (text.empty() ? "" : ",") + value;
  return text;
}

// One value with commas in it, which --fix would take for several.
void add_list(FlagLine& line, const std::string& key, const std::string& value) {
  if (key == "partition") return static_cast<void>(line.add("--partition", value));
  if (key != "recompute") return static_cast<void>(line.add("--param", key + "=" + value));
  const std::size_t colon = std::min(value.find(':'), value.size());
  line.add("--recompute", value.substr(0, colon));
  line.add("--recompute-stages", value.substr(std::min(colon + 1, value.size())));
}

// The plan of a request, asked for with the same objective, gap and price, and with all the time it takes.
std::string plan_command(const PlanRequest& request, const PlanFlags& flags, bool chosen_topology) {
  FlagLine line;
  line.add("--gpus", std::to_string(request.gpus));
  line.add("--global-batch", std::to_string(request.global_batch));
  std::vector<std::string> fixed;
  for (const auto& [key, values] : request.allowed) {
    if (values.size() != 1) continue;
    if (values.front().find(',') == std::string::npos) {
      fixed.push_back(key + "=" + values.front());
    } else {
      add_list(line, key, values.front());
    }
  }
  line.add("--fix", comma_list(fixed));
  for (const auto& [key, values] : request.allowed) {
    if (values.size() > 1) line.add("--only", key + "=" + comma_list(values));
  }
  if (!request.runs_in.empty()) line.add("--runs-in", flags.runs_in);
  line.add("--objective", flags.objective);
  line.add("--price", flags.price);
  line.add("--gap", flags.gap);
  line.add("--margin", flags.margin);
  ScenarioFlags job = request.job;
  if (chosen_topology) job.cluster.topology = ClusterFlags{}.topology;
  const std::string repeated = repeated_flags(job);
  if (!repeated.empty()) line.add_part(repeated);
  return "debubble plan " + line.text();
}

// Rounded up to whole MiB.
std::string size_flag(Bytes bytes) { return format_scaled(bytes, scale_of("MiB"), Rounding::kUp) + "MiB"; }

class ShortageFinder {
 public:
  ShortageFinder(const PlanJob& asked, std::optional<double> seconds, Progress& progress)
      : asked_(asked), seconds_(seconds), progress_(progress), begin_(std::chrono::steady_clock::now()) {}

  PlanShortage run(const std::vector<PlannedRun>& tight) {
    tight.empty() ? measure() : leave_no_margin(tight.front());
    open_flags();
    add_less_memory();
    if (found_.changes.size() < kMostOffers) add_smaller_batches();
    if (found_.changes.size() < kMostOffers) add_memory();
    add_gpus();
    std::stable_sort(found_.changes.begin(), found_.changes.end(),
                     [&](const PlanChange& a, const PlanChange& b) { return rank(a) < rank(b); });
    if (found_.changes.size() > kMostOffers) found_.changes.resize(kMostOffers);
    return std::move(found_);
  }

 private:
  [[nodiscard]] static std::pair<int, double> rank(const PlanChange& change) {
    const int kind = static_cast<int>(change.kind);
    const auto samples =
        static_cast<double>(change.run.choice.microbatch * change.run.choice.microbatches * change.run.choice.data);
    return {std::min(kind, static_cast<int>(PlanChange::Kind::kMemory)),
            static_cast<double>(change.run.step) * change.gpus / samples};
  }

  // Nothing where no time is left.
  [[nodiscard]] std::optional<SearchOptions> options() const {
    SearchOptions options = asked_.options;
    options.gap = std::max(options.gap, kChangeGap);
    if (!seconds_) return options;
    const double past = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    if (past >= *seconds_) return std::nullopt;
    options.budget = *seconds_ - past;
    return options;
  }

  // Nothing: there is no such run. An interrupted search with no run: there may be one.
  std::optional<SearchResult> searched(const PlanRequest& request, const SearchOptions& options) {
    try {
      return PlanSearch(request, plan_space(request)).run(options, progress_);
    } catch (const InputError&) {
      return std::nullopt;  // what is fixed does not go with the change
    }
  }

  enum class Tried { kFits, kNot, kOutOfTime };
  Tried attempt(PlanChange::Kind kind, const std::string& what, const PlanRequest& request) {
    const std::optional<SearchOptions> search = options();
    if (!search) return Tried::kOutOfTime;
    const std::optional<SearchResult> found = searched(request, *search);
    if (!found || found->runs.empty()) return found && found->interrupted ? Tried::kOutOfTime : Tried::kNot;
    found_.changes.push_back(
        {kind, what, plan_command(request, asked_.flags, asked_.chosen_topology), request.gpus, found->runs.front()});
    return Tried::kFits;
  }

  void leave_no_margin(const PlannedRun& fastest) {
    PlanFlags flags = asked_.flags;
    flags.margin = "0";
    found_.changes.push_back({PlanChange::Kind::kOpen, "with --margin 0",
                              plan_command(asked_.request, flags, asked_.chosen_topology), asked_.request.gpus,
                              fastest});
  }

  void measure() {
    std::optional<SearchOptions> search = options();
    if (!search) return;
    progress_.phase("what lacks least");
    PlanRequest lifted = asked_.request;
    lifted.job.memory.memory = kNoMemoryLimitText;
    const std::size_t sizes = check_memory(asked_.request.job.memory).sizes.size();
    if (sizes > 1) lifted.allowed.try_emplace("pp", std::vector<std::string>{std::to_string(sizes)});
    search->objective = PlanObjective::kMemory;
    search->gap = asked_.options.gap;
    const std::optional<SearchResult> found = searched(lifted, *search);
    if (!found || found->runs.empty()) return;
    const auto least = std::min_element(
        found->runs.begin(), found->runs.end(),
        [](const PlannedRun& a, const PlannedRun& b) { return a.spare.value_or(0) > b.spare.value_or(0); });
    describe(*least, lifted);
  }

  void describe(const PlannedRun& run, const PlanRequest& lifted) {
    const Scenario limited = check_scenario(flags_of(run.choice, asked_.request.job));
    limits_ = make_memory_limits(limited, run.choice.pipeline).value;
    const std::vector<Bytes>& capacities = limits_.capacities;
    if (capacities.empty()) return;
    memory_ = limited.memory;
    const Simulated free = simulate(check_scenario(flags_of(run.choice, lifted.job)), run.choice.schedule, progress_);
    const std::vector<DeviceMemory> devices =
        device_memories(free.result.timeline, free.job.schedule, free.job.costs, {kNoMemoryLimit}, limits_.allocator);
    Shortage worst;
    missing_.assign(devices.size(), 0);
    for (std::size_t d = 0; d < devices.size(); ++d) {
      const Bytes capacity = capacities.size() == 1 ? capacities.front() : at(capacities, static_cast<std::int64_t>(d));
      const Bytes margin = share_to_stay_free(asked_.request, capacity, limits_);
      const Bytes missing = devices[d].reserved + margin - capacity;
      missing_[d] = std::max<Bytes>(0, missing);
      if (d > 0 && missing <= worst.missing()) continue;
      worst = {run,    static_cast<int>(d), capacity,
               margin, devices[d].reserved, free.result.report.devices[d].peak_by_category};
    }
    worst.run.spare.reset();
    if (worst.missing() > 0) found_.shortage = worst;
  }

  // What a flag fixes or forbids is left open: one after the other, or where none is enough, all at once.
  void open_flags() {
    bool fits = false;
    for (const auto& [key, values] : asked_.request.allowed) {
      PlanRequest open = asked_.request;
      open.allowed.erase(key);
      const std::string what = "without " + key + "=" + comma_list(values);
      fits = attempt(PlanChange::Kind::kOpen, what, open) == Tried::kFits || fits;
    }
    PlanRequest open = asked_.request;
    open.runs_in.clear();
    open.job.framework.clear();
    if (!asked_.request.runs_in.empty()) {
      fits =
          attempt(PlanChange::Kind::kOpen, "without --runs-in " + asked_.flags.runs_in, open) == Tried::kFits || fits;
    }
    const std::size_t flags = asked_.request.allowed.size() + (asked_.request.runs_in.empty() ? 0 : 1);
    if (fits || flags < 2) return;
    open.allowed.clear();
    (void)attempt(PlanChange::Kind::kOpen, "with everything left open", open);
  }

  // The same result computed in less memory.
  void add_less_memory() {
    if (asked_.request.job.transformer.model.empty()) return;
    PlanRequest less = asked_.request;
    if (less.job.transformer.attention == "unfused") {
      less.job.transformer.attention.clear();
      (void)attempt(PlanChange::Kind::kOpen, "without --attention unfused", less);
    }
    less = asked_.request;
    if (less.job.transformer.loss == "fused") return;
    less.job.transformer.loss = "fused";
    (void)attempt(PlanChange::Kind::kOpen, "with --loss fused", less);
  }

  void add_gpus() {
    for (const int times : kGpuMultiples) {
      PlanRequest more = asked_.request;
      if (more.gpus > kMostGpus / times) return;
      more.gpus = asked_.request.gpus * times;
      if (asked_.chosen_topology) {
        more.job.cluster.topology = usual_cluster(more.job.transformer.hardware, more.gpus).topology;
      }
      const Tried tried = attempt(PlanChange::Kind::kGpus, "on " + counted(more.gpus, "GPU"), more);
      if (tried == Tried::kFits) found_.enough_gpus = more.gpus;
      if (tried != Tried::kNot) return;  // without time so many could be enough, or not
    }
  }

  // So much more that the plan that lacks least fits: on every device, or where each has its own, on those that lack.
  void add_memory() {
    if (!found_.shortage) return;
    PlanRequest larger = asked_.request;
    // Of what is added, as large a share stays free.
    const auto with_margin = [&](Bytes missing) {
      return missing == 0
                 ? 0
                 : static_cast<Bytes>(std::ceil(static_cast<double>(missing) / (1 - asked_.request.margin))) + 1;
    };
    const Bytes missing = with_margin(found_.shortage->missing());
    std::vector<std::string> sizes;
    for (std::size_t d = 0; d < memory_.sizes.size(); ++d) {
      sizes.push_back(size_flag(memory_.sizes[d] + (memory_.sizes.size() == 1 ? missing : with_margin(missing_[d]))));
    }
    if (sizes.empty()) {  // what the hardware has
      const Hardware hardware =
          modelled_hardware(check_scenario(flags_of(found_.shortage->run.choice, asked_.request.job)));
      sizes.push_back(size_flag(hardware.memory + missing));
      larger.job.memory.outside = size_flag(hardware.memory - found_.shortage->capacity);
    }
    larger.job.memory.memory = comma_list(sizes);
    const char* const each = sizes.size() == 1 ? " per device" : "";
    (void)attempt(PlanChange::Kind::kMemory, "with --memory " + larger.job.memory.memory + each, larger);
  }

  // The largest that fits; where the smallest does not, the others are not tried.
  void add_smaller_batches() {
    if (attempt_batch(kBatchDivisors.back()) != Tried::kFits) return;
    const PlanChange smallest = found_.changes.back();
    found_.changes.pop_back();
    for (const int divisor : kBatchDivisors) {
      if (divisor == kBatchDivisors.back()) break;
      const Tried tried = attempt_batch(divisor);
      if (tried == Tried::kFits) return;
      if (tried == Tried::kOutOfTime) break;
    }
    found_.changes.push_back(smallest);
  }

  Tried attempt_batch(int divisor) {
    PlanRequest smaller = asked_.request;
    if (smaller.global_batch % divisor != 0) return Tried::kNot;
    smaller.global_batch /= divisor;
    const std::string what = "with " + counted(smaller.global_batch, "sample") + " per step";
    return attempt(PlanChange::Kind::kBatch, what, smaller);
  }

  const PlanJob& asked_;
  std::optional<double> seconds_;
  Progress& progress_;
  std::chrono::steady_clock::time_point begin_;
  MemoryLimits limits_;
  MemoryScenario memory_;
  std::vector<Bytes> missing_;  // on each device, of the plan that lacks least
  PlanShortage found_;
};

}  // namespace

PlanShortage find_shortage(const PlanJob& asked, const std::vector<PlannedRun>& tight, std::optional<double> seconds,
                           Progress& progress) {
  return ShortageFinder(asked, seconds, progress).run(tight);
}

}  // namespace debubble
