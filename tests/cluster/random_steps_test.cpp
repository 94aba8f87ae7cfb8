// Sums that hold for every timeline: random runs with random steps, contention and stragglers laid over them.
#include "sim/analysis/analyse.hpp"
#include "sim/analysis/path_parts.hpp"
#include "tests/support/random_case.hpp"
#include "tests/support/test.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

constexpr std::uint64_t kSeeds = 400;

Nanoseconds part_of(Nanoseconds whole, Dice& dice) { return whole * dice.from(0, 4) / 4; }

// Some of what is there took longer than it might have.
void mark(Timeline& timeline, Dice& dice) {
  for (Span& span : timeline.spans) {
    if (dice.once_in(2)) continue;
    const std::size_t index = timeline.index_of(span);
    const Nanoseconds straggled = part_of(span.end - span.begin, dice);
    timeline.set_straggled(index, straggled * (dice.once_in(4) ? -1 : 1));
    timeline.set_slowed(index, part_of(span.end - span.begin, dice));
  }
  for (Transfer& transfer : timeline.transfers) {
    transfer.contention = part_of(transfer.end - transfer.begin - transfer.latency, dice);
  }
}

// Where the lanes of a device have got to, and what ended there.
struct Lane {
  Nanoseconds end = 0;
  Gate gate;
};

class StepMaker {
 public:
  StepMaker(Timeline& timeline, Dice& dice) : timeline_(timeline), dice_(dice) {
    const auto devices = static_cast<std::size_t>(timeline.devices);
    compute_.resize(devices);
    collective_.resize(devices);
    for (std::size_t d = 0; d < devices; ++d) {
      const std::int32_t last = timeline.device_begin[d + 1] - 1;
      if (last < timeline.device_begin[d]) continue;
      const Span& span = timeline.spans[static_cast<std::size_t>(last)];
      compute_[d] = {span.end, {Gate::Kind::kSpan, last}};
    }
  }

  void add(std::int32_t task) {
    const bool computes = dice_.once_in(3);
    auto& lanes = computes ? compute_ : collective_;
    std::vector<std::size_t> devices{any_device()};
    if (dice_.once_in(3)) {
      devices.resize(lanes.size());
      std::iota(devices.begin(), devices.end(), 0U);
    }
    Lane start;
    for (const std::size_t d : devices) start = later(start, lanes[d]);
    for (int inputs = dice_.from(0, 3); inputs > 0; --inputs) start = later(start, input());
    StepSpan step;
    step.task = task;
    step.kind = computes ? StepTask::Kind::kOptimizer : StepTask::Kind::kGradientReduce;
    step.lane = computes ? StepTask::Lane::kCompute : StepTask::Lane::kCollective;
    step.waited_for_replica = dice_.once_in(4) ? dice_.from(1, 50) : 0;
    step.gate = start.gate;
    step.begin = start.end + step.waited_for_replica;
    step.end = step.begin + dice_.from(0, 200);
    for (const std::size_t d : devices) {
      step.device = static_cast<std::int32_t>(d);
      lanes[d] = {step.end, {Gate::Kind::kStep, static_cast<std::int32_t>(timeline_.steps.size())}};
      timeline_.steps.push_back(step);
    }
    timeline_.makespan = std::max(timeline_.makespan, step.end);
  }

 private:
  static Lane later(const Lane& a, const Lane& b) { return b.end > a.end ? b : a; }

  std::size_t any_device() { return static_cast<std::size_t>(dice_.from(0, timeline_.devices - 1)); }

  // A span or a step that has to end first.
  Lane input() {
    if (!timeline_.steps.empty() && dice_.once_in(2)) {
      const int i = dice_.from(0, static_cast<int>(timeline_.steps.size()) - 1);
      return {timeline_.steps[static_cast<std::size_t>(i)].end, {Gate::Kind::kStep, i}};
    }
    const int i = dice_.from(0, static_cast<int>(timeline_.spans.size()) - 1);
    return {timeline_.spans[static_cast<std::size_t>(i)].end, {Gate::Kind::kSpan, i}};
  }

  Timeline& timeline_;
  Dice& dice_;
  std::vector<Lane> compute_;  // by device
  std::vector<Lane> collective_;
};

// What does not add up, in words; "" when everything does.
std::string broken_sum(const Report& report) {
  for (const DeviceReport& device : report.devices) {
    const auto& causes = device.idle_by_cause;
    if (device.busy + device.idle != report.makespan) return "busy and idle are not the step";
    if (std::accumulate(causes.begin(), causes.end(), Nanoseconds{0}) != device.idle) return "causes are not the idle";
    if (*std::min_element(causes.begin(), causes.end()) < 0) return "a negative cause";
    if (causes[static_cast<std::size_t>(IdleCause::kLaunchGap)] != 0) return "a simulated run has launch gaps";
  }
  const CriticalPath& path = report.critical_path;
  if (path.compute + path.transfer + path.collective + path.wait != report.makespan) return "the path is not the step";
  if (report.span > report.makespan) return "the span is longer than the step";
  return "";
}

// How long the compute lane of the device works beside [begin, end), slowly.
Nanoseconds worked(const Timeline& timeline, const StepSpan& step) {
  Nanoseconds sum = 0;
  const auto add = [&](std::int32_t device, Nanoseconds begin, Nanoseconds end) {
    if (device != step.device) return;
    sum += std::max<Nanoseconds>(0, std::min(end, step.end) - std::max(begin, step.begin));
  };
  for (const Span& span : timeline.spans) add(span.device, span.begin, span.end);
  for (const StepSpan& other : timeline.steps) {
    if (other.lane == StepTask::Lane::kCompute) add(other.device, other.begin, other.end);
  }
  return sum;
}

std::string broken_step(const Timeline& timeline, const StepReport& report) {
  std::vector<Nanoseconds> time(static_cast<std::size_t>(timeline.devices));
  std::vector<Nanoseconds> exposed(time.size());
  for (const StepSpan& step : timeline.steps) {
    if (step.kind != StepTask::Kind::kGradientReduce) continue;
    const auto d = static_cast<std::size_t>(step.device);
    time[d] += step.end - step.begin;
    exposed[d] += step.end - step.begin - worked(timeline, step);
  }
  for (const StepPart& part : report.parts) {
    if (part.kind == StepTask::Kind::kOptimizer && part.exposed != part.time) {
      return "a part of the optimizer is hidden";
    }
    if (part.kind != StepTask::Kind::kGradientReduce) continue;
    const auto longest = std::max_element(time.begin(), time.end());
    if (part.time != *longest) return "not the longest sum on a device";
    if (part.exposed != exposed[static_cast<std::size_t>(longest - time.begin())]) return "exposed";
  }
  return "";
}

// The finer parts of the critical path against the coarse ones.
std::string broken_path(const Timeline& timeline, const CriticalPath& path) {
  const PathParts parts = path_parts(timeline);
  const auto optimizer = static_cast<std::size_t>(StepTask::Kind::kOptimizer);
  const auto reduce = static_cast<std::size_t>(StepTask::Kind::kGradientReduce);
  const Nanoseconds compute = std::accumulate(parts.compute.begin(), parts.compute.end(), Nanoseconds{0});
  if (compute + parts.straggled + parts.slowed + parts.step[optimizer] != path.compute) return "compute";
  if (parts.latency + parts.bandwidth + parts.contention + parts.copies != path.transfer) return "transfer";
  if (parts.barriers + parts.step[reduce] != path.collective) return "collective";
  if (parts.replicas + parts.gaps != path.wait) return "wait";
  return parts.gaps == 0 ? "" : "a simulated path has launch gaps";
}

// The waits before each span of a device, which with those before steps and the tail are its idle time.
std::string broken_wait(const Timeline& timeline) {
  for (std::size_t k = 0; k < timeline.spans.size(); ++k) {
    const auto causes = wait_by_cause(timeline, static_cast<std::int32_t>(k));
    const bool first = k == 0 || timeline.spans[k - 1].device != timeline.spans[k].device;
    Nanoseconds free_at = first ? 0 : timeline.spans[k - 1].end;
    for (const StepSpan& step : timeline.steps) {
      const bool before = step.device == timeline.spans[k].device && step.begin < timeline.spans[k].begin;
      if (before && step.lane == StepTask::Lane::kCompute) free_at = std::max(free_at, step.end);
    }
    const Nanoseconds waited = std::max<Nanoseconds>(0, timeline.spans[k].begin - free_at);
    if (std::accumulate(causes.begin(), causes.end(), Nanoseconds{0}) != waited) return "the wait before a span";
  }
  return "";
}

}  // namespace

TEST_CASE("random steps: idle, causes, critical path and step report add up") {
  int waits = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    CAPTURE(seed);
    Dice dice(seed);
    const Schedule schedule = random_schedule(dice);
    const StageCosts costs = random_costs(schedule.stages, dice);
    Timeline timeline = run_engine(schedule, costs, random_link(dice)).timeline;
    const Report plain = analyse(timeline, schedule, costs);
    mark(timeline, dice);
    REQUIRE(broken_sum(analyse(timeline, schedule, costs)) == "");
    StepMaker maker(timeline, dice);
    const int tasks = dice.from(1, 12);
    for (int task = 0; task < tasks; ++task) maker.add(task);
    const Report report = analyse(timeline, schedule, costs);
    REQUIRE(broken_sum(report) == "");
    REQUIRE(broken_path(timeline, report.critical_path) == "");
    REQUIRE(broken_wait(timeline) == "");
    REQUIRE(report.step.has_value());
    REQUIRE(broken_step(timeline, *report.step) == "");
    waits += report.critical_path.wait > 0 ? 1 : 0;
    // The step's tasks change nothing about memory.
    for (std::size_t d = 0; d < plain.devices.size(); ++d) {
      REQUIRE(report.devices[d].peak_memory == plain.devices[d].peak_memory);
    }
  }
  CHECK(waits > 0);
}
