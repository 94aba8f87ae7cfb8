// find_sensitivity and the ranked what-ifs against runs of their own.
#include "studies/whatif/sensitivity.hpp"
#include "scenario/check_scenario.hpp"
#include "scenario/job/job.hpp"
#include "sim/topologies/catalog.hpp"
#include "studies/whatif/candidates.hpp"
#include "studies/whatif/changed_costs.hpp"
#include "studies/whatif/link_groups.hpp"
#include "studies/whatif/step_time.hpp"
#include "tests/support/places.hpp"
#include "tests/support/test.hpp"

namespace debubble::testing {
namespace {

struct Prepared {
  Scenario scenario;
  std::string name;
  Job job;
  Program program;
};

Prepared prepared(ScenarioFlags flags) {
  Prepared made;
  made.scenario = check_scenario(flags);
  made.name = flags.schedules.front();
  NoProgress silent;
  made.job = prepare(made.scenario, made.name, silent);
  made.program = lowered(made.job, made.job.p2p).value();
  return made;
}

ScenarioFlags flags_of(const std::string& schedule, int devices, int microbatches) {
  ScenarioFlags flags;
  flags.schedules = {schedule};
  flags.devices = devices;
  flags.microbatches = microbatches;
  return flags;
}

// What a change of the cost by a hundred-thousandth does, per unit of it.
double slope(const Prepared& made, const CostName& name, double factor) {
  const ChangedCost changed = with_cost(LinkFollower(made.scenario, made.job), made.job, name, factor);
  const Nanoseconds by = step_time(changed.job, made.program) - step_time(made.job, made.program);
  return static_cast<double>(by) / changed.added;
}

bool is_link(const CostName& name) {
  return name.kind == CostName::Kind::kLatency || name.kind == CostName::Kind::kTimePerByte;
}

// Both sides of every stage's derivatives.
int compare_stages(const Prepared& made) {
  const Sensitivity found = find_sensitivity(made.scenario, made.job, made.program, 1);
  REQUIRE(found.exact);
  CHECK(found.step == step_time(made.job, made.program));
  int compared = 0;
  for (const Derivative& derivative : found.derivatives) {
    CAPTURE(to_string(derivative.name));
    CHECK(derivative.times.growing >= derivative.times.shrinking);
    if (is_link(derivative.name)) continue;
    CHECK(derivative.times.growing == doctest::Approx(slope(made, derivative.name, 1.00001)).epsilon(0.01));
    CHECK(derivative.times.shrinking == doctest::Approx(slope(made, derivative.name, 0.99999)).epsilon(0.01));
    ++compared;
  }
  return compared;
}

TEST_CASE("derivatives are those of finite differences: plain, interleaved, split, pairs, pieces") {
  CHECK(compare_stages(prepared(flags_of("1f1b", 4, 8))) == 8);
  CHECK(compare_stages(prepared(flags_of("interleaved", 4, 8))) == 16);
  CHECK(compare_stages(prepared(flags_of("zb-h1", 4, 8))) == 12);
  CHECK(compare_stages(prepared(flags_of("dualpipe", 4, 12))) > 8);
  ScenarioFlags pair = flags_of("dualpipe", 4, 12);
  pair.times = "f=1,i=1,w=1,fb=2.5";
  CHECK(compare_stages(prepared(pair)) > 8);
  ScenarioFlags halves = flags_of("chimera", 4, 4);
  halves.params = {"mode=halving"};
  CHECK(compare_stages(prepared(halves)) == 8);
}

TEST_CASE("beside the tasks of a step single ideal links have derivatives, too") {
  ScenarioFlags flags = flags_of("1f1b", 4, 8);
  flags.comm = "0.1";
  const Prepared alone = prepared(flags);
  flags.step.step = "reduce=2,optimizer=0.5";
  flags.cluster.data = 2;
  const Prepared made = prepared(flags);
  REQUIRE(!made.job.step.empty());
  const Sensitivity exact = find_sensitivity(alone.scenario, alone.job, alone.program, 1);
  const Sensitivity found = find_sensitivity(made.scenario, made.job, made.program, 1);
  CHECK(!found.exact);
  CHECK(found.left_out == "");
  int links = 0;
  for (const Derivative& derivative : found.derivatives) {
    if (!is_link(derivative.name)) continue;
    ++links;
    CAPTURE(to_string(derivative.name));
    // The hops are those of the schedule alone; of paths that tied, the tasks at the end may have chosen some.
    const auto same = std::find_if(exact.derivatives.begin(), exact.derivatives.end(),
                                   [&](const Derivative& one) { return one.name == derivative.name; });
    REQUIRE(same != exact.derivatives.end());
    CHECK(derivative.times.growing <= same->times.growing + 1e-6);
    CHECK(derivative.times.growing > 0);
  }
  CHECK(links == 6);
}

TEST_CASE("of more than 128 devices single ideal links are left out beside the tasks of a step, and that is said") {
  for (const int devices : {128, 129}) {
    ScenarioFlags flags = flags_of("1f1b", devices, 1);
    flags.comm = "0.1";
    flags.step.step = "optimizer=0.5";
    const Prepared made = prepared(flags);
    const Sensitivity found = find_sensitivity(made.scenario, made.job, made.program, 1);
    CAPTURE(devices);
    const auto links = std::count_if(found.derivatives.begin(), found.derivatives.end(),
                                     [](const Derivative& one) { return is_link(one.name); });
    CHECK(links == (devices == 128 ? 2 * 127 : 0));
    CHECK(found.left_out.empty() == (devices == 128));
  }
}

TEST_CASE("derivatives are those of finite differences: recomputation, a split output layer, other transfers") {
  ScenarioFlags recompute = flags_of("1f1b", 4, 8);
  recompute.transforms = {"recompute:when=early"};
  CHECK(compare_stages(prepared(recompute)) == 12);
  ScenarioFlags vocabulary = flags_of("1f1b", 4, 8);
  vocabulary.transforms = {"vocabulary-parallel"};
  CHECK(compare_stages(prepared(vocabulary)) == 10);
  for (const char* p2p : {"blocking", "coupled"}) {
    ScenarioFlags held = flags_of("1f1b", 4, 8);
    held.p2p = p2p;
    held.comm = "0.25";
    CHECK(compare_stages(prepared(held)) == 8);
  }
}

TEST_CASE("with noise each op counts with its own factor") {
  ScenarioFlags flags = flags_of("1f1b", 4, 8);
  flags.variation.jitter = "lognormal:0.1";
  flags.variation.slow = {"device=2:1.25"};
  flags.variation.factors = "uniform:0.5-1.5";
  const Prepared made = prepared(flags);
  const Sensitivity found = find_sensitivity(made.scenario, made.job, made.program, 1);
  REQUIRE(found.exact);
  double sum = 0;
  for (const Derivative& derivative : found.derivatives) {
    CAPTURE(to_string(derivative.name));
    // No two paths of a noisy run tie.
    CHECK(derivative.times.growing == doctest::Approx(derivative.times.shrinking));
    CHECK(derivative.times.growing == doctest::Approx(slope(made, derivative.name, 1.0001)).epsilon(0.01));
    sum += derivative.times.growing * static_cast<double>(derivative.cost);
  }
  // The only path is made of these costs alone (Euler: the step time is homogeneous in them).
  CHECK(sum == doctest::Approx(static_cast<double>(found.step)));
}

TEST_CASE("links count by hops and bytes") {
  ScenarioFlags flags = flags_of("1f1b", 8, 24);
  flags.profile = {debubble::testing::source_directory() + "/traces/published/zb-a100-1.5b-m24.json"};
  flags.comm = "20us";
  flags.bandwidth = "10GB/s";
  const Prepared made = prepared(flags);
  const Sensitivity found = find_sensitivity(made.scenario, made.job, made.program, 1);
  int links = 0;
  for (const Derivative& derivative : found.derivatives) {
    if (!is_link(derivative.name)) continue;
    CAPTURE(to_string(derivative.name));
    ++links;
    // The same hop in a changed topology.
    LinkChange change;
    change.link = derivative.name.link;
    const bool bytes = derivative.name.kind == CostName::Kind::kTimePerByte;
    constexpr Nanoseconds kMore = 100;
    if (bytes) change.bandwidth = 1 / 1.001;
    if (!bytes) change.latency_is = derivative.cost + kMore;
    Job other = made.job;
    other.topology = changed_topology(made.job.topology, {change}, 8);
    const auto by = static_cast<double>(step_time(other, made.program) - found.step);
    const double per = bytes ? 0.001 / static_cast<double>(derivative.cost) * 1e9 : static_cast<double>(kMore);
    CHECK(derivative.times.growing == doctest::Approx(by / per).epsilon(0.02));
  }
  CHECK(links == 2 * 2 * 7);
}

TEST_CASE("links with the same part in a run are one cost, and what is left out makes no difference") {
  ScenarioFlags flags = flags_of("1f1b", 2, 4);
  flags.transformer.model = "llama3-8b";
  flags.cluster.topology = "dgx-h100:4";
  flags.cluster.tensor = 8;
  flags.cluster.data = 2;
  const Prepared made = prepared(flags);
  const Sensitivity found = find_sensitivity(made.scenario, made.job, made.program, 1);
  CHECK_FALSE(found.exact);
  std::set<std::string> bytes;
  std::size_t links = 0;
  for (const Derivative& derivative : found.derivatives) {
    if (!is_link(derivative.name)) continue;
    CAPTURE(to_string(derivative.name));
    links += derivative.name.links.size();
    CHECK(derivative.links.size() == derivative.name.links.size());
    if (derivative.name.kind == CostName::Kind::kTimePerByte) {
      bytes.insert(derivative.name.link);
      continue;
    }
    // Latencies that were looked at once for several groups are those of each.
    const double change = std::max(1e-3, 50.0 / static_cast<double>(derivative.cost));
    CHECK(derivative.times.growing == doctest::Approx(slope(made, derivative.name, 1 + change)));
  }
  CHECK(bytes.contains("nic0-15>rail0-7"));        // of stage 0, in both replicas
  CHECK(bytes.contains("gpu0-15<>nvswitch0-1"));   // its tensor ranks, in both directions
  CHECK_FALSE(bytes.contains("gpu0-15>nic0-15"));  // PCIe is never as tight as the card behind it
  CHECK(found.derivatives.size() < 40);
  CHECK(links > 100);
  const CostName pcie{.kind = CostName::Kind::kTimePerByte, .op = {}, .stage = 0, .link = "pcie", .links = [&] {
                        std::vector<std::int32_t> numbers;
                        const auto& all = made.job.topology.network()->graph.links;
                        for (std::size_t k = 0; k < all.size(); ++k) {
                          if (all[k].name.starts_with("gpu") && all[k].name.find(">nic") < all[k].name.size()) {
                            numbers.push_back(static_cast<std::int32_t>(k));
                          }
                        }
                        return numbers;
                      }()};
  CHECK(pcie.links.size() == 32);
  CHECK(slope(made, pcie, 1.001) == 0);
}

TEST_CASE("names of several links say which") {
  CHECK(common_name({"3>4"}) == "3>4");
  CHECK(common_name({"nic0>rail0", "nic1>rail1", "nic2>rail2"}) == "nic0-2>rail0-2");
  CHECK(common_name({"nic0>rail0", "nic8>rail0", "nic16>rail0"}) == "nic0..16>rail0");
  CHECK(common_name({"pod0.rail3>core3", "pod1.rail3>core3"}) == "pod0-1.rail3>core3");
}

TEST_CASE("candidates are ranked by what they bring, and say what a run of their own says") {
  const Prepared made = prepared(flags_of("1f1b", 4, 8));
  const Sensitivity found = find_sensitivity(made.scenario, made.job, made.program, 1);
  const std::vector<Candidate> ranked = rank_candidates({made.scenario, made.name, made.job, {}}, found, 1);
  CHECK(std::is_sorted(ranked.begin(), ranked.end(),
                       [](const Candidate& a, const Candidate& b) { return a.gain > b.gain; }));
  int known = 0;
  for (const Candidate& candidate : ranked) {
    CAPTURE(candidate.label);
    if (candidate.label == "9 microbatches") {
      CHECK(candidate.step == 36'000'000);  // (m + p - 1)(f + b)
      CHECK(candidate.gain == doctest::Approx(1 - (36.0 / 9) / (33.0 / 8)));
      ++known;
    }
    if (candidate.label == "7 microbatches") {
      CHECK(candidate.step == 30'000'000);
      CHECK(candidate.gain < 0);
      ++known;
    }
    if (candidate.label == "stage 3 10 % faster") {
      // Every path passes the last stage twice: when the first device has filled, and when it drains.
      CHECK(candidate.step == 33'000'000 - 2 * 300'000);
      ++known;
    }
  }
  CHECK(known == 3);
  const auto again = rank_candidates({made.scenario, made.name, made.job, {}}, found, 3);
  REQUIRE(again.size() == ranked.size());
  for (std::size_t k = 0; k < ranked.size(); ++k) {
    CHECK(again[k].label == ranked[k].label);
    CHECK(again[k].step == ranked[k].step);
  }
}

}  // namespace
}  // namespace debubble::testing
