// Runs whose ops vary: the distribution of the factors, and that the fast way gives what the full engine gives.
#include "sim/engine/cluster.hpp"
#include "sim/engine/simulate.hpp"
#include "tests/support/cluster_promises.hpp"
#include "tests/support/engine_run.hpp"
#include "tests/support/random_case.hpp"
#include "tests/support/test.hpp"
#include "tests/support/toy.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

// Logarithms of jitter factors of many ops, in the order seed, replica, stage, kind, microbatch.
std::vector<double> logarithms(double sigma, int seeds) {
  std::vector<double> found;
  Variation variation;
  variation.jitter = sigma;
  for (int seed = 1; seed <= seeds; ++seed) {
    variation.seed = static_cast<std::uint64_t>(seed);
    for (std::int32_t replica = 0; replica < 5; ++replica) {
      for (std::int32_t stage = 0; stage < 8; ++stage) {
        for (const OpKind kind : {OpKind::kForward, OpKind::kBackward}) {
          for (std::int32_t microbatch = 0; microbatch < 25; ++microbatch) {
            found.push_back(std::log(variation.factor(replica, 0, {kind, false, stage, microbatch})));
          }
        }
      }
    }
  }
  return found;
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

}  // namespace

TEST_CASE("jitter is lognormal with median 1 and the sigma asked for") {
  constexpr double kSigma = 0.2;
  std::vector<double> logs = logarithms(kSigma, 50);  // 100 000 draws
  const auto count = static_cast<double>(logs.size());
  double squares = 0;
  double fourth = 0;
  for (const double value : logs) squares += value * value;
  for (const double value : logs) fourth += value * value * value * value;
  const double sigma = std::sqrt(squares / count);
  CHECK_EQ(mean_of(logs), doctest::Approx(0).scale(1).epsilon(4 * kSigma / std::sqrt(count)));
  CHECK_EQ(sigma, doctest::Approx(kSigma).epsilon(0.01));
  CHECK_EQ(fourth / count / std::pow(sigma, 4), doctest::Approx(3).epsilon(0.05));  // a normal's kurtosis
  std::nth_element(logs.begin(), logs.begin() + 50'000, logs.end());
  CHECK_EQ(std::exp(logs[50'000]), doctest::Approx(1).epsilon(0.005));
}

TEST_CASE("jitter of ops, replicas and seeds does not hang together") {
  const std::vector<double> logs = logarithms(1, 50);
  // At distances of one microbatch, kind, stage, replica and seed.
  for (const std::size_t distance : std::vector<std::size_t>{1, 25, 50, 400, 2'000}) {
    CAPTURE(distance);
    double sum = 0;
    for (std::size_t k = 0; k + distance < logs.size(); ++k) sum += logs[k] * logs[k + distance];
    CHECK_LT(std::abs(sum / static_cast<double>(logs.size() - distance)),
             4 / std::sqrt(static_cast<double>(logs.size())));
  }
  CHECK_EQ(logs, logarithms(1, 50));  // and the same call gives the same
}

TEST_CASE("factors multiply and say nothing where nothing varies") {
  Variation variation;
  const Op op{OpKind::kForward, false, 1, 2};
  CHECK_EQ(variation.factor(3, 4, op), 1);
  variation.device = {1, 1, 1, 1, 2};
  variation.stage = {1, 3};
  variation.piece = {1, 1, 5};
  variation.pipeline_replica = {1, 1, 1, 7};
  CHECK_EQ(variation.factor(3, 4, op), 210);
  CHECK_EQ(variation.apply(10, 3, 4, op), 2'100);
  CHECK_EQ(variation.factor(3, 4, {OpKind::kVocabularyLogits, false, 1, 2}), 70);  // its stage is a device
}

TEST_CASE("varied walks give the makespan of the full engine, in every p2p mode") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    Dice dice(seed);
    const Schedule schedule = random_schedule(dice);
    const StageCosts costs = random_costs(schedule.stages, dice);
    const auto link = random_link(dice);
    const Topology topology = Topology::ideal(link.latency, link.bandwidth);
    Variation variation;
    variation.jitter = 0.1 * dice.from(0, 3);
    variation.seed = seed;
    if (dice.once_in(2)) variation.device.assign(static_cast<std::size_t>(schedule.devices), 1.25);
    variation.pipeline_replica = {1, 1.5, 0.75};
    for (const P2p p2p : kEveryP2p) {
      const auto lowered = lower(schedule, p2p);
      const auto* program = std::get_if<Program>(&lowered);
      if (program == nullptr) continue;
      const ClusterTotals all = simulate_cluster_totals(*program, schedule, costs, topology, {nullptr, &variation, 3});
      for (int replica = 0; replica < 3; ++replica) {
        const auto durations = varied_durations(*program, schedule, costs, variation, replica);
        REQUIRE_EQ(simulate_varied(*program, costs, topology, durations),
                   all.replica_makespan[static_cast<std::size_t>(replica)]);
      }
      const auto plain = varied_durations(*program, schedule, costs, {}, 0);
      REQUIRE_EQ(simulate_varied(*program, costs, topology, plain),
                 simulate_totals(*program, costs, topology).makespan);
    }
  }
}

TEST_CASE("copies, recomputation and shards keep their times where nothing varies") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    Dice dice(seed);
    const Schedule schedule = random_schedule_with({true, true, true, true, true, true}, dice);
    StageCosts costs = random_costs(schedule.stages, dice);
    add_feature_costs(costs, dice);
    const Program program = std::get<Program>(lower(schedule));
    const Topology topology = Topology::ideal(3, 0);
    const auto plain = varied_durations(program, schedule, costs, {}, 0);
    REQUIRE_EQ(simulate_varied(program, costs, topology, plain), simulate_totals(program, costs, topology).makespan);
  }
}

TEST_CASE("a slow device's spans say how much of them is its being slow") {
  const Schedule schedule = build("1f1b", 3, 5);
  const StageCosts costs = toy_costs(schedule, 1, 2);
  const Program program = std::get<Program>(lower(schedule));
  Variation variation;
  variation.device = {1, 1.5, 1};
  const Timeline timeline =
      simulate_cluster(program, schedule, costs, Topology::ideal(0, 0), {nullptr, &variation, 1}).front();
  CHECK_EQ(broken_timeline(timeline), "");
  for (const Span& span : timeline.spans) {
    const Nanoseconds base = span.op.kind == OpKind::kForward ? kUnit : 2 * kUnit;
    CHECK_EQ(timeline.straggled(span), span.device == 1 ? base / 2 : 0);
    CHECK_EQ(span.end - span.begin, base + timeline.straggled(span));
  }
}
