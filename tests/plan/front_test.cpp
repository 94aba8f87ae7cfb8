// The front of a plan against brute force: what nothing in the space beats, of everything simulated.
#include "scenario/check_scenario.hpp"
#include "studies/plan/search.hpp"
#include "tests/support/random_case.hpp"
#include "tests/support/test.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

PlanRequest front_request(std::uint64_t seed) {
  Dice dice(seed);
  PlanRequest request;
  request.job.transformer.model = dice.once_in(2) ? "gpt2-small" : "gpt2-medium";
  request.job.transformer.sequence = 1024;
  request.job.cluster.topology = "dgx-a100:1";
  request.job.memory.memory = std::to_string(dice.from(3, 24)) + "GiB";
  request.gpus = dice.once_in(2) ? 4 : 8;
  request.global_batch = 16;
  request.layers = request.job.transformer.model == "gpt2-small" ? 14 : 26;
  request.heads = request.job.transformer.model == "gpt2-small" ? 12 : 16;
  request.sequence = 1024;
  request.allowed["cp"] = {"1"};
  request.allowed["recompute"] = {"none", "full"};
  request.allowed["zero"] = {std::to_string(dice.from(0, 1)), std::to_string(dice.from(2, 3))};
  request.allowed["microbatch"] = {std::to_string(1 << dice.from(0, 2))};
  request.allowed["schedule"] = {"1f1b", dice.once_in(2) ? "zb-v" : "interleaved"};
  request.allowed["chunks"] = {"1", "2"};
  return request;
}

// All that fits, simulated one by one; what does not, where devices have one stage each, once more with another cut.
std::vector<PlannedRun> every_run(const PlanRequest& request) {
  std::vector<PlannedRun> runs;
  const auto fits = [&](const PlanChoice& choice) {
    Evaluation one;
    simulate_choice(request, choice, one);
    if (one.kind == Evaluation::Kind::kFits) runs.push_back(one.run);
    return one.kind != Evaluation::Kind::kOutOfMemory;
  };
  const PlanSpace space = plan_space(request);
  for (const PlanChoice& base : space.bases) {
    for (const PlanVariant& variant : space.variants_of(base)) {
      for (const int zero : space.zeros_of(base)) {
        PlanChoice choice = base;
        choice.schedule = variant.schedule;
        choice.chunks = variant.chunks;
        choice.zero = zero;
        if (fits(choice) || choice.pipeline == 1 || choice.schedule != "1f1b") continue;
        choice.partition = "memory";
        (void)fits(choice);
      }
    }
  }
  return runs;
}

std::string places(const std::vector<PlannedRun>& runs) {
  std::string text;
  for (const PlannedRun& run : runs) text += std::to_string(run.step) + "ns " + std::to_string(run.peak) + "B; ";
  return text;
}

SearchOptions with_gap(double gap) {
  SearchOptions options;
  options.gap = gap;
  return options;
}

bool has_within(const PlanFront& front, const PlannedRun& run) {
  for (const PlannedRun& point : front.points) {
    const bool near = static_cast<double>(point.step) * (1 - front.gap) <= static_cast<double>(run.step) &&
                      static_cast<double>(point.peak) * (1 - front.gap) <= static_cast<double>(run.peak);
    if (near) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("on small jobs the front is that of everything simulated, and shares its ends with both objectives") {
  NoProgress nobody;
  int several = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    const PlanRequest request = front_request(seed);
    const std::vector<PlannedRun> all = front_of(every_run(request));
    PlanSearch search(request, plan_space(request));
    const PlanFront front = search.front(with_gap(0), nobody);
    REQUIRE_EQ(places(front.points), places(all));
    CHECK_FALSE(front.proven_to.has_value());
    if (all.empty()) continue;
    SearchOptions options = with_gap(0);
    CHECK_EQ(PlanSearch(request, plan_space(request)).run(options, nobody).runs.front().step, all.front().step);
    options.objective = PlanObjective::kMemory;
    CHECK_EQ(PlanSearch(request, plan_space(request)).run(options, nobody).runs.front().peak, all.back().peak);
    if (all.size() > 2) ++several;
  }
  CHECK(several > 10);
}

TEST_CASE("with a gap every run has a point of the front near it, and the searches after it find its ends") {
  NoProgress nobody;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    const PlanRequest request = front_request(seed);
    PlanSearch search(request, plan_space(request));
    const PlanFront front = search.front(with_gap(0.05), nobody);
    for (const PlannedRun& run : every_run(request)) REQUIRE(has_within(front, run));
    if (front.points.empty()) continue;
    SearchOptions options = with_gap(0.05);
    CHECK_EQ(search.run(options, nobody).runs.front().step, front.points.front().step);
    options.objective = PlanObjective::kMemory;
    CHECK_EQ(search.run(options, nobody).runs.front().peak, front.points.back().peak);
  }
}

TEST_CASE("a front that the time cut off calls proven only what is on the whole front, too") {
  NoProgress nobody;
  const PlanRequest request = front_request(2);
  const std::vector<PlannedRun> all = front_of(every_run(request));
  REQUIRE(all.size() > 2);
  for (const double budget : {0.0, 0.005, 0.02, 0.05, 0.1}) {
    CAPTURE(budget);
    SearchOptions options = with_gap(0);
    options.budget = budget;
    options.threads = 1;
    const PlanFront front = PlanSearch(request, plan_space(request)).front(options, nobody);
    std::vector<PlannedRun> proven;
    for (const PlannedRun& point : front.points) {
      if (front.proven(point)) proven.push_back(point);
    }
    REQUIRE(proven.size() <= all.size());
    CHECK_EQ(places(proven), places({all.begin(), all.begin() + static_cast<std::ptrdiff_t>(proven.size())}));
  }
}

TEST_CASE("what changes along a front is named") {
  PlanChoice from;
  from.pipeline = 8;
  from.schedule = "interleaved";
  from.chunks = 2;
  PlanChoice to = from;
  CHECK(changed_words(from, to).empty());
  to.pipeline = 16;
  to.zero = 1;
  to.schedule = "zb-v";
  to.recompute = 1;
  CHECK(changed_words(from, to) ==
        std::vector<std::string>{"pp 8 -> 16", "ZeRO 0 -> 1", "interleaved -> zb-v", "recompute selective"});
  PlanChoice more = to;
  more.recompute = 2;
  more.recompute_stages = "0-3";
  more.params = {"memory_limit=2p"};
  more.rank_order = "tp-cp-pp-dp";
  more.partition = "even";
  CHECK(changed_words(to, more) == std::vector<std::string>{"memory_limit=2p", "recompute full on stages 0-3",
                                                            "partition even", "ranks in the order tp-cp-pp-dp"});
}
