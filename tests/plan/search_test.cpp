// The search of a plan against brute force: everything in the space simulated.
#include <filesystem>

#include "scenario/check_scenario.hpp"
#include "schedules/catalog.hpp"
#include "studies/plan/evaluations.hpp"
#include "studies/plan/search.hpp"
#include "studies/simulate/simulate.hpp"
#include "tests/plan/random_plan.hpp"
#include "tests/support/random_case.hpp"
#include "tests/support/test.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

// Small models and clusters, with little memory, and a part of the space left open.
PlanRequest random_request(std::uint64_t seed) {
  Dice dice(seed);
  PlanRequest request;
  request.job.transformer.model = dice.once_in(2) ? "gpt2-small" : "gpt2-medium";
  request.job.transformer.sequence = 1024;
  request.job.cluster.topology = "dgx-a100:1";
  request.job.memory.memory = std::to_string(dice.from(4, 24)) + "GiB";
  request.gpus = dice.once_in(2) ? 4 : 8;
  request.global_batch = dice.once_in(2) ? 16 : 32;
  request.layers = request.job.transformer.model == "gpt2-small" ? 14 : 26;
  request.heads = request.job.transformer.model == "gpt2-small" ? 12 : 16;
  request.sequence = 1024;
  request.allowed["cp"] = {"1"};
  request.allowed["recompute"] = {dice.once_in(2) ? "none" : "full"};
  if (dice.once_in(3)) request.allowed["recompute"] = {"full:0", "full:0-1", "full:first:2", "selective"};
  request.allowed["zero"] = {"0", std::to_string(dice.from(1, 3))};
  request.allowed["microbatch"] = {std::to_string(1 << dice.from(0, 2))};
  request.allowed["schedule"] = {"1f1b", "interleaved", dice.once_in(2) ? "zb-v" : "chimera", "gpipe"};
  request.allowed["chunks"] = {"1", "2", "3"};
  if (dice.once_in(3)) request.allowed["schedule"].emplace_back(dice.once_in(2) ? "pipeoffload" : "zb-auto");
  if (dice.once_in(4)) request.allowed["partition"] = {"auto", dice.once_in(2) ? "even" : "memory"};
  if (dice.once_in(3)) {
    request.margin = 0.5;
    request.allowed["partition"] = {"auto"};  // a memory cut would leave the margin, which no flag says
  }
  if (!dice.once_in(6)) return request;
  request.job.cluster.topology = "dgx-a100:2";  // on which the order of the ranks matters
  request.gpus = 16;
  request.alike = 8;
  request.allowed["tp"] = {"1", "2"};
  return request;
}

struct Best {
  Nanoseconds step = std::numeric_limits<Nanoseconds>::max();
  Bytes peak = std::numeric_limits<Bytes>::max();
  std::int64_t fit = 0;
  std::int64_t tight = 0;      // of less to spare than is to stay free, which are never the best
  bool by_memory_cut = false;  // the fastest
  bool by_fewest_blocks = false;
};

enum class Outcome { kRefused, kLacks, kTight, kFits };

// Whether every device has one stage of one replica, in an order that does not follow from costs.
bool has_one_stage_each(const Job& job) {
  return job.schedule.devices == job.schedule.stages && job.schedule.placement.replicas() == 1 &&
         job.schedule.vocabulary_barriers == 0 && !find_schedule(job.schedule.name)->uses_costs;
}

// Simulates the choice and keeps it where it is better.
Outcome try_choice(const PlanRequest& request, const PlanChoice& choice, Best& best, bool& single_stages) {
  try {
    NoProgress nobody;
    const Simulated run = simulate(check_scenario(flags_of(choice, request.job)), choice.schedule, nobody);
    const Report& report = run.result.report;
    single_stages = has_one_stage_each(run.job);
    if (report.deadlock) return Outcome::kRefused;
    if (report.memory_fit && report.memory_fit->spare < 0) return Outcome::kLacks;
    if (report.memory_fit &&
        report.memory_fit->spare < share_to_stay_free(request, report.memory_fit->capacity, run.job.memory)) {
      ++best.tight;
      return Outcome::kTight;
    }
    Bytes peak = 0;
    for (const DeviceReport& device : report.devices) peak = std::max(peak, device.peak_memory);
    if (report.makespan < best.step) {
      best.by_memory_cut = choice.partition == "memory";
      best.by_fewest_blocks = choice.recompute_first > 0;
    }
    best.step = std::min(best.step, report.makespan);
    best.peak = std::min(best.peak, peak);
    ++best.fit;
    return Outcome::kFits;
  } catch (const InputError&) {
    return Outcome::kRefused;
  }
}

// Each number of blocks, up to the first that fits; where least memory is asked for, none of them is in the space.
void try_fewest_blocks(const PlanRequest& request, PlanChoice choice, Best& best) {
  const ScheduleEntry& entry = *find_schedule(choice.schedule);
  if (choice.recompute > 0 || choice.partition == "memory" || entry.uses_costs) return;
  choice.recompute = kFullRecomputation;
  const int blocks = request.layers - 2;
  const Bytes peak = best.peak;
  bool single_stages = false;
  for (choice.recompute_first = 1; choice.recompute_first * choice.pipeline * choice.chunks < blocks;
       ++choice.recompute_first) {
    const Outcome outcome = try_choice(request, choice, best, single_stages);
    if (outcome == Outcome::kFits || outcome == Outcome::kRefused) break;
  }
  best.peak = peak;
}

Best brute_force(const PlanRequest& request, const PlanSpace& space) {
  Best best;
  for (const PlanChoice& base : space.bases) {
    for (const PlanVariant& variant : space.variants_of(base)) {
      for (const int zero : space.zeros_of(base)) {
        PlanChoice choice = base;
        choice.schedule = variant.schedule;
        choice.chunks = variant.chunks;
        choice.params = variant.params;
        choice.zero = zero;
        bool single_stages = false;
        const Outcome outcome = try_choice(request, choice, best, single_stages);
        const bool lacks_room = outcome == Outcome::kLacks || outcome == Outcome::kTight;
        if (space.fewest_blocks && lacks_room) try_fewest_blocks(request, choice, best);
        if (!space.memory_cuts || choice.pipeline == 1 || outcome != Outcome::kLacks || !single_stages) continue;
        choice.partition = "memory";
        (void)try_choice(request, choice, best, single_stages);
      }
    }
  }
  return best;
}

}  // namespace

TEST_CASE("on small jobs the search finds what brute force finds, of the step and of the memory") {
  int with_result = 0, tight = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const PlanRequest request = random_request(seed);
    PlanSearch search(request, plan_space(request));
    const Best best = brute_force(request, search.space());
    CAPTURE(seed);
    NoProgress nobody;
    SearchOptions options;
    options.gap = 0;
    const SearchResult found = search.run(options, nobody);
    CHECK_EQ(found.space, found.simulated + found.illegal + found.excluded_by_time + found.excluded_by_memory);
    REQUIRE_EQ(found.runs.empty(), best.fit == 0);
    if (best.fit == 0) {
      CHECK((found.nearest.has_value() || best.tight > 0));
      continue;
    }
    tight += best.tight > 0 ? 1 : 0;
    CHECK_EQ(found.runs.front().step, best.step);
    CHECK_EQ(found.remaining_gap, 0);
    options.objective = PlanObjective::kMemory;
    CHECK_EQ(search.run(options, nobody).runs.front().peak, best.peak);
    ++with_result;
  }
  CHECK(with_result > 25);
  CHECK(tight > 2);
}

TEST_CASE("on small jobs of every kind the search finds what brute force finds") {
  const std::filesystem::path file = std::filesystem::temp_directory_path() / "debubble_search_test.json";
  int with_result = 0, profiles = 0, experts = 0, clusters = 0, lacking = 0;
  for (std::uint64_t seed = 1; with_result < 60 && seed < 500; ++seed) {
    CAPTURE(seed);
    Dice dice(seed);
    try {
      PlanJob job = random_small_plan(dice, file.string());
      job.request.margin = 0;  // a memory cut would leave it, which no flag says
      PlanSearch search(job.request, plan_space(job.request));
      const Best best = brute_force(job.request, search.space());
      NoProgress nobody;
      SearchOptions options;
      options.gap = 0;
      const SearchResult found = search.run(options, nobody);
      CHECK_EQ(found.space, found.simulated + found.illegal + found.excluded_by_time + found.excluded_by_memory);
      REQUIRE_EQ(found.runs.empty(), best.fit == 0);
      if (best.fit < found.space - found.illegal) ++lacking;
      if (best.fit == 0) continue;
      CHECK_EQ(found.runs.front().step, best.step);
      options.objective = PlanObjective::kMemory;
      CHECK_EQ(search.run(options, nobody).runs.front().peak, best.peak);
      ++with_result;
      profiles += job.request.job.profile.empty() ? 0 : 1;
      experts += job.request.experts > 0 ? 1 : 0;
      clusters += job.request.job.cluster.topology == ClusterFlags{}.topology ? 0 : 1;
    } catch (const InputError&) {
      continue;  // no such job
    }
  }
  std::filesystem::remove(file);
  CHECK_EQ(with_result, 60);
  for (const int count : {profiles, experts, clusters, lacking}) CHECK(count > 5);
}

TEST_CASE("where memory is short the search finds what brute force finds, with cuts that mind it") {
  int with_result = 0, memory_cuts = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    Dice dice(seed);
    PlanRequest request = random_request(seed);
    request.job.cluster.topology = "dgx-a100:1";
    request.gpus = 8;
    request.alike = 0;
    request.job.memory.memory = std::to_string(dice.from(20, 90) * 64) + "MiB";
    request.job.memory.outside = "0MiB";
    request.allowed.erase("partition");
    request.margin = 0;
    request.allowed["tp"] = {"1", "2"};
    request.allowed["pp"] = {"2", "4"};
    request.allowed["zero"] = {"0"};
    request.allowed["recompute"] = {"none", "full:0-1"};
    request.allowed["schedule"] = {"1f1b", "zb-h1", "interleaved"};
    PlanSearch search(request, plan_space(request));
    const Best best = brute_force(request, search.space());
    NoProgress nobody;
    SearchOptions options;
    options.gap = 0;
    const SearchResult found = search.run(options, nobody);
    CHECK_EQ(found.space, found.simulated + found.illegal + found.excluded_by_time + found.excluded_by_memory);
    REQUIRE_EQ(found.runs.empty(), best.fit == 0);
    if (best.fit == 0) continue;
    CHECK_EQ(found.runs.front().step, best.step);
    options.objective = PlanObjective::kMemory;
    CHECK_EQ(search.run(options, nobody).runs.front().peak, best.peak);
    ++with_result;
    memory_cuts += best.by_memory_cut ? 1 : 0;
  }
  MESSAGE("best with --partition memory: ", memory_cuts, " of ", with_result);
  CHECK(memory_cuts > 5);
}

TEST_CASE("where memory is short the search finds what brute force finds, with as few blocks recomputed as fit") {
  int with_result = 0, fewest = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    Dice dice(seed);
    PlanRequest request = random_request(seed);
    request.job.memory.memory = std::to_string(dice.from(20, 90) * 64) + "MiB";
    request.job.memory.outside = "0MiB";
    request.job.memory.allocator = dice.once_in(2) ? "" : "exact";
    request.margin = dice.once_in(2) ? 0 : 0.1;
    request.allowed["partition"] = {"auto", dice.once_in(2) ? "even" : "auto"};
    request.allowed["tp"] = {"1", "2"};
    request.allowed["zero"] = {"0", "1"};
    request.allowed["recompute"] = {"none", "full:first", dice.once_in(2) ? "full" : "full:0"};
    request.allowed["schedule"] = {"1f1b", "zb-h1", "interleaved", dice.once_in(2) ? "zb-v" : "pipeoffload"};
    PlanSearch search(request, plan_space(request));
    const Best best = brute_force(request, search.space());
    NoProgress nobody;
    SearchOptions options;
    options.gap = 0;
    if (dice.once_in(2)) {  // what an earlier search evaluated changes nothing
      (void)search.run(options, nobody, [](const PlanChoice& choice) { return choice.schedule != "zb-h1"; });
    }
    const SearchResult found = search.run(options, nobody);
    CHECK_EQ(found.space, found.simulated + found.illegal + found.excluded_by_time + found.excluded_by_memory);
    REQUIRE_EQ(found.runs.empty(), best.fit == 0);
    if (best.fit == 0) continue;
    CHECK_EQ(found.runs.front().step, best.step);
    ++with_result;
    fewest += best.by_fewest_blocks ? 1 : 0;
  }
  MESSAGE("best with the fewest blocks recomputed: ", fewest, " of ", with_result);
  CHECK(fewest > 5);
}

TEST_CASE("a gap ends the search earlier, and is kept") {
  const PlanRequest request = random_request(3);
  NoProgress nobody;
  SearchOptions options;
  options.gap = 0;
  const SearchResult exact = PlanSearch(request, plan_space(request)).run(options, nobody);
  REQUIRE_FALSE(exact.runs.empty());
  options.gap = 0.05;
  const SearchResult near = PlanSearch(request, plan_space(request)).run(options, nobody);
  CHECK(near.simulated <= exact.simulated);
  const double best = static_cast<double>(exact.runs.front().step);
  CHECK(static_cast<double>(near.runs.front().step) * (1 - options.gap) <= best);
  CHECK(near.remaining_gap <= options.gap);
}

TEST_CASE("a value that is given twice is in the space once") {
  PlanRequest request = random_request(3);
  request.allowed["microbatch"] = {"2"};
  request.allowed["sequence-parallel"] = {"on"};
  const std::vector<PlanChoice> once = plan_space(request).bases;
  request.allowed["microbatch"] = {"2", "2", "02"};
  request.allowed["sequence-parallel"] = {"on", "on"};
  CHECK(plan_space(request).bases == once);
}

TEST_CASE("a memory cut is bounded once: its profile is not read again") {
  const std::filesystem::path file = std::filesystem::temp_directory_path() / "debubble_cut_once_test.json";
  int tried = 0;
  for (std::uint64_t seed = 1; tried < 3 && seed < 300; ++seed) {
    CAPTURE(seed);
    Dice dice(seed);
    try {
      const PlanJob job = random_small_plan(dice, file.string());
      const PlanSpace space = plan_space(job.request);
      if (job.request.job.profile.empty() || !space.memory_cuts) continue;
      std::vector<VariantId> ids;
      for (std::size_t k = 0; k < space.bases.size(); ++k) {
        const auto variants = static_cast<std::uint16_t>(space.variants_of(space.bases[k]).size());
        for (const int zero : space.zeros_of(space.bases[k])) {
          for (std::uint16_t v = 0; v < variants; ++v) {
            ids.push_back({static_cast<std::uint32_t>(k), static_cast<std::uint16_t>(zero), v});
          }
        }
      }
      PlanEvaluations state(job.request, space);
      state.bound(ids, 1);
      const std::vector<VariantId> first = state.memory_cuts_of(ids, 1);
      if (first.empty()) continue;
      std::filesystem::remove(file);
      const std::vector<VariantId> again = state.memory_cuts_of(ids, 1);
      CHECK(again == first);
      ++tried;
    } catch (const InputError&) {
      continue;  // no such job
    }
  }
  std::filesystem::remove(file);
  CHECK_EQ(tried, 3);
}
