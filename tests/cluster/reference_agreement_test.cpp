// Contended runs, with step tasks and several pipeline replicas: the engine agrees with a slow second simulator.
#include "sim/engine/cluster.hpp"
#include "tests/support/cluster_promises.hpp"
#include "tests/support/hand_built_cluster.hpp"
#include "tests/support/random_case.hpp"
#include "tests/support/reference_cluster.hpp"
#include "tests/support/test.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

// Both round ends up to whole nanoseconds; where fractions of bytes add up in another order they may differ by one, and
// what follows by as much.
constexpr Nanoseconds kReferenceAgreementRounding = 2;

LinkGraph random_graph(int devices, Dice& dice) {
  const std::int64_t bandwidth = 1'000'000LL * dice.from(1, 2000);
  switch (dice.from(1, 4)) {
    case 1:
      return ring_of(devices, bandwidth, dice.from(0, 50));
    case 2:
      return line_of(devices, bandwidth, dice.from(0, 50));
    default: {
      MachineSizes sizes;
      sizes.gpus = dice.from(1, 3);
      sizes.machines = (devices + sizes.gpus - 1) / sizes.gpus;
      sizes.inner = 2 * bandwidth;
      sizes.outer = bandwidth;
      sizes.inner_latency = dice.from(0, 20);
      sizes.outer_latency = dice.from(0, 50);
      sizes.one_card = dice.once_in(2);
      return machines(sizes);
    }
  }
}

StepTask random_task(const Schedule& schedule, const StepWork& so_far, const LinkGraph& graph, int replicas,
                     Dice& dice) {
  StepTask task;
  const int number = static_cast<int>(so_far.tasks.size());
  task.lane = dice.once_in(3) ? StepTask::Lane::kCompute : StepTask::Lane::kCollective;
  for (int d = 0; d < schedule.devices; ++d) {
    if (dice.once_in(2)) task.devices.push_back(d);
  }
  if (task.devices.empty()) task.devices.push_back(dice.from(0, schedule.devices - 1));
  task.across_replicas = dice.once_in(2);
  task.duration = dice.from(0, 300);
  if (task.lane == StepTask::Lane::kCollective && dice.once_in(2)) task.slow_down = 0.125 * dice.from(1, 8);
  for (int t = 0; t < number; ++t) {
    if (dice.once_in(3)) task.after.push_back(t);
  }
  const bool early = number == 0 && dice.once_in(3);  // before the first ops
  for (int s = 0; s < schedule.stages; ++s) {
    const StageName stage{dice.from(0, schedule.placement.replicas() - 1), s};
    if (early && dice.once_in(2)) task.before_stages.push_back(stage);
    if (!early && dice.once_in(2)) task.after_stages.push_back(stage);
  }
  const bool flows = task.lane == StepTask::Lane::kCollective && !graph.links.empty() && dice.once_in(2);
  const int entries = flows ? (dice.once_in(2) ? 1 : replicas) : 0;
  for (int e = 0; e < entries; ++e) {
    std::vector<Flow>& phases = task.phases.emplace_back();
    for (int p = dice.from(1, 3); p > 0; --p) {
      Flow flow;
      flow.bytes = dice.from(1, 400);
      flow.path.latency = dice.from(0, 30);
      for (std::size_t l = 0; l < graph.links.size(); ++l) {
        if (dice.once_in(3)) flow.path.links.push_back({static_cast<std::int32_t>(l), 0.25 * dice.from(1, 8)});
      }
      if (flow.path.links.empty()) flow.path.links.push_back({0, 1});
      phases.push_back(flow);
    }
  }
  return task;
}

struct Setting {
  Schedule schedule;
  StageCosts costs;
  int replicas = 1;
  Topology topology;
  StepWork step;
  Variation variation;
};

Setting random_setting(std::uint64_t seed, bool with_step) {
  Dice dice(seed);
  Setting made;
  made.schedule = random_schedule(dice);
  made.costs = random_costs(made.schedule.stages, dice);
  made.replicas = dice.from(1, 2);
  for (StageCost& stage : made.costs.stages) {
    // Small numbers, so that transfers take about as long as ops.
    for (Nanoseconds* time : {&stage.forward, &stage.backward, &stage.input_grad, &stage.weight_grad}) {
      *time = dice.from(0, 200);
    }
    stage.output = dice.from(0, 100);
  }
  made.topology = lay(random_graph(made.schedule.devices * made.replicas, dice), made.schedule.devices, made.replicas);
  if (dice.once_in(2)) made.variation.jitter = 0.3;
  made.variation.seed = seed;
  if (!with_step) return made;
  for (int t = dice.from(1, 4); t > 0; --t) {
    made.step.tasks.push_back(
        random_task(made.schedule, made.step, made.topology.network()->graph, made.replicas, dice));
  }
  return made;
}

// The uncontended run of the slow simulator, with every cell as long as in that replica.
reference::Outcome cells_of(const Setting& of, const Program& program, int replica) {
  auto outcome = reference::simulate(of.schedule, of.costs, 0, 0, reference::Mode::kOverlapped);
  const auto varied = varied_durations(program, of.schedule, of.costs, of.variation, replica);
  std::vector<std::size_t> next(outcome.cells.size(), 0);
  for (std::size_t k = 0; k < program.nodes.size(); ++k) {
    const auto device = static_cast<std::size_t>(program.device_of(program.nodes[k]));
    reference::Cell& cell = outcome.cells[device][next[device]++];
    cell.end = cell.begin + varied[k];
  }
  return outcome;
}

// On compute lanes: as long as the slowest of its devices takes.
std::vector<std::vector<Nanoseconds>> varied_tasks(const Setting& of) {
  std::vector<std::vector<Nanoseconds>> durations;
  for (const StepTask& task : of.step.tasks) {
    std::vector<Nanoseconds>& runs = durations.emplace_back();
    for (int r = 0; r < of.replicas; ++r) {
      Nanoseconds longest = 0;
      for (const std::int32_t device : task.devices) {
        StepTask one = task;
        one.devices = {device};
        const double by = task.lane == StepTask::Lane::kCompute ? of.variation.task_factor(one, r, 1) : 1;
        longest = std::max<Nanoseconds>(longest, std::llround(static_cast<double>(task.duration) * by));
      }
      runs.push_back(longest);
    }
    if (task.across_replicas) runs = {*std::max_element(runs.begin(), runs.end())};
  }
  return durations;
}

std::string far(const std::string& what, Nanoseconds ours, Nanoseconds theirs) {
  if (std::abs(ours - theirs) <= kReferenceAgreementRounding) return "";
  return what + ": " + std::to_string(ours) + " instead of " + std::to_string(theirs);
}

std::string disagreement(const Timeline& timeline, const reference::Outcome& expected) {
  for (std::size_t k = 0; k < timeline.spans.size(); ++k) {
    const auto device = static_cast<std::size_t>(timeline.spans[k].device);
    const auto index = k - static_cast<std::size_t>(timeline.device_begin[device]);
    const reference::Cell& cell = expected.cells[device][index];
    const std::string who = to_string(timeline.spans[k].op);
    for (const std::string& wrong : {far(who + " begins", timeline.spans[k].begin, cell.begin),
                                     far(who + " ends", timeline.spans[k].end, cell.end)}) {
      if (!wrong.empty()) return wrong;
    }
  }
  using Key = std::pair<std::int32_t, std::int32_t>;
  std::map<std::pair<Key, std::string>, const reference::Hop*> hops;
  const auto span = [&](std::size_t device, std::size_t cell) {
    return timeline.device_begin[device] + static_cast<std::int32_t>(cell);
  };
  for (const reference::Hop& hop : expected.hops) {
    hops[{{span(hop.from_device, hop.from_cell), span(hop.to_device, hop.to_cell)}, to_string(hop.op)}] = &hop;
  }
  if (hops.size() != timeline.transfers.size()) return "not as many transfers";
  for (const Transfer& transfer : timeline.transfers) {
    const reference::Hop& hop = *hops.at({{transfer.from_span, transfer.to_span}, to_string(transfer.op)});
    std::string wrong = far("transfer of " + to_string(transfer.op), transfer.end, hop.end);
    if (!wrong.empty()) return wrong;
  }
  return "";
}

// Counts how many runs were slower than without contention.
void agree(std::uint64_t seed, bool with_step, int& contended) {
  CAPTURE(seed);
  const Setting of = random_setting(seed, with_step);
  const Program program = std::get<Program>(lower(of.schedule));
  const ClusterOptions options{&of.step, &of.variation, of.replicas};
  const auto timelines = simulate_cluster(program, of.schedule, of.costs, of.topology, options);
  reference::ClusterCase given;
  for (int r = 0; r < of.replicas; ++r) given.replicas.push_back(cells_of(of, program, r));
  given.topology = &of.topology;
  given.step = &of.step;
  given.schedule = &of.schedule;
  given.task_durations = varied_tasks(of);
  const auto expected = reference::simulate_cluster(given);
  bool met = false;
  for (std::size_t r = 0; r < timelines.size(); ++r) {
    CAPTURE(r);
    REQUIRE_EQ(broken_timeline(timelines[r]), "");
    REQUIRE_EQ(disagreement(timelines[r], expected.replicas[r]), "");
    for (const Transfer& transfer : timelines[r].transfers) met = met || transfer.contention > 0;
    for (const reference::TaskTimes& task : expected.tasks) {
      if (task.replica >= 0 && static_cast<std::size_t>(task.replica) != r) continue;
      for (const StepSpan& step : timelines[r].steps) {
        if (step.task != task.task) continue;
        REQUIRE_EQ(far("task " + std::to_string(task.task) + " begins", step.begin, task.begin), "");
        REQUIRE_EQ(far("task " + std::to_string(task.task) + " ends", step.end, task.end), "");
      }
    }
  }
  if (met) ++contended;
}

}  // namespace

TEST_CASE("random contended runs agree with the slow simulator") {
  int contended = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) agree(seed, false, contended);
  CHECK_GT(contended, 100);
}

TEST_CASE("random contended runs with step tasks agree with the slow simulator") {
  int contended = 0;
  for (std::uint64_t seed = 20'001; seed <= 20'300; ++seed) agree(seed, true, contended);
  CHECK_GT(contended, 100);
}

TEST_CASE("the same run is the same, to the last gate") {
  for (std::uint64_t seed = 30'001; seed <= 30'020; ++seed) {
    CAPTURE(seed);
    const Setting of = random_setting(seed, true);
    const Program program = std::get<Program>(lower(of.schedule));
    const ClusterOptions options{&of.step, &of.variation, of.replicas};
    const auto one = simulate_cluster(program, of.schedule, of.costs, of.topology, options);
    const auto other = simulate_cluster(program, of.schedule, of.costs, of.topology, options);
    for (std::size_t r = 0; r < one.size(); ++r) CHECK_EQ(difference(one[r], other[r]), "");
  }
}
