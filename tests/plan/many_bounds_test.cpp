// What a plan excludes without simulating it, against the simulator, on random jobs of every kind: the bounds of the
// step and of the memory never exceed what is simulated, and what is called illegal or too large is.
//
// The short run is a part of the long one, which is skipped unless asked for: --no-skip, as the preset `long` does.
#include <filesystem>
#include <iostream>

#include "schedules/catalog.hpp"
#include "studies/parallel.hpp"
#include "studies/plan/evaluation.hpp"
#include "studies/plan/open_cuts.hpp"
#include "tests/plan/random_plan.hpp"
#include "tests/support/test.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

constexpr std::int64_t kMostOps = 40'000;  // of an order that is simulated here
constexpr int kChoicesOfJob = 12;

// What came of some choices.
struct Tally {
  std::int64_t choices = 0;    // judged: bounded, and simulated or rightly refused
  std::int64_t simulated = 0;  // without a deadlock
  std::int64_t refused = 0;
  std::int64_t too_large = 0;
  std::int64_t memory_cuts = 0;                          // of those simulated: with --partition memory, and fitting
  std::int64_t link_cuts = 0;                            // with --partition auto, where links may differ, and fitting
  std::map<std::string, std::vector<double>> tightness;  // by schedule: bound / step
  std::map<std::string, std::vector<double>> memory_tightness;  // bound / peak
  std::vector<std::string> broken;

  void add(const Tally& other) {
    choices += other.choices;
    simulated += other.simulated;
    refused += other.refused;
    too_large += other.too_large;
    memory_cuts += other.memory_cuts;
    link_cuts += other.link_cuts;
    for (const auto& [name, list] : other.tightness) {
      tightness[name].insert(tightness[name].end(), list.begin(), list.end());
    }
    for (const auto& [name, list] : other.memory_tightness) {
      memory_tightness[name].insert(memory_tightness[name].end(), list.begin(), list.end());
    }
    broken.insert(broken.end(), other.broken.begin(), other.broken.end());
  }
};

// Judges one choice in each of the ways in which the search looks at it.
class ChoiceJudge {
 public:
  ChoiceJudge(const PlanRequest& request, PlanChoice choice, const BaseEvaluation& base, Tally& tally)
      : request_(request), choice_(std::move(choice)), base_(base), tally_(tally) {}

  void run() {
    Evaluation bounded_one = bound();
    Evaluation refined = bounded_one;
    const bool memory_cut = is_memory_cut(choice_);  // whose bounds hold for cuts that fit, of any order
    const bool open_cut = has_open_cut(request_, choice_);
    if (refined.kind == Evaluation::Kind::kBounded && !open_cut) refine_planned(request_, choice_, refined);
    Evaluation truth;
    simulate_choice(request_, choice_, truth);
    judge_short_cuts(truth);
    ++tally_.choices;
    const bool refused = truth.kind == Evaluation::Kind::kIllegal;
    tally_.refused += refused ? 1 : 0;
    if (!base_.legal && !refused) complain("the base is refused, the choice is not: " + base_.message);
    for (const Evaluation* one : {&bounded_one, &refined}) {
      if (one->kind == Evaluation::Kind::kIllegal && !refused) complain("refused: " + one->code + " " + one->message);
      if (one->kind == Evaluation::Kind::kTooLarge && truth.kind == Evaluation::Kind::kFits) complain("fits");
    }
    tally_.too_large += refined.kind == Evaluation::Kind::kTooLarge ? 1 : 0;
    const bool simulated = truth.kind == Evaluation::Kind::kFits || truth.kind == Evaluation::Kind::kOutOfMemory;
    if (memory_cut && truth.kind == Evaluation::Kind::kFits) ++tally_.memory_cuts;
    if (open_cut && !memory_cut && truth.kind == Evaluation::Kind::kFits) ++tally_.link_cuts;
    if (open_cut && truth.kind != Evaluation::Kind::kFits) return;
    if (simulated && base_.legal) compare(bounded_one, refined, truth.run);
  }

 private:
  [[nodiscard]] Evaluation bound() const {
    const std::map<PatternKey, Pattern> patterns{{pattern_key(choice_), make_pattern(request_, choice_)}};
    return bounded(request_, {choice_}, patterns).front();
  }

  // What is found without a whole simulation: that a run takes too long, or that it does not fit.
  void judge_short_cuts(const Evaluation& truth) {
    Evaluation walked;
    simulate_choice(request_, choice_, walked, {1, true});
    const bool simulated = truth.kind == Evaluation::Kind::kFits || truth.kind == Evaluation::Kind::kOutOfMemory;
    if (simulated && walked.bound > truth.run.step) {
      complain("walk: " + std::to_string(walked.bound) + " > " + std::to_string(truth.run.step));
    }
    Evaluation quick;
    simulate_choice(request_, choice_, quick, {std::numeric_limits<Nanoseconds>::max(), false});
    if (quick.kind != truth.kind) complain("fits by one look at the memory, not by the other");
    if (truth.kind != Evaluation::Kind::kFits) return;
    if (quick.run.step != truth.run.step || quick.run.spare != truth.run.spare) complain("another run");
  }

  void compare(const Evaluation& bounded_one, const Evaluation& refined, const PlannedRun& run) {
    ++tally_.simulated;
    const auto not_above = [&](const char* what, std::int64_t bound, std::int64_t truth) {
      if (bound > truth) complain(std::string(what) + ": " + std::to_string(bound) + " > " + std::to_string(truth));
    };
    not_above("compute of the base", base_.compute, run.step);
    not_above("states of the base", base_.states, run.peak);
    not_above("step", bounded_one.bound, run.step);
    not_above("memory", bounded_one.memory_bound, run.peak);
    not_above("step, refined", refined.bound, run.step);
    not_above("memory, refined", refined.memory_bound, run.peak);
    if (refined.kind != Evaluation::Kind::kRefined || choice_.pipeline == 1) return;
    tally_.tightness[choice_.schedule].push_back(static_cast<double>(refined.bound) / static_cast<double>(run.step));
    if (run.peak == 0) return;
    tally_.memory_tightness[choice_.schedule].push_back(static_cast<double>(refined.memory_bound) /
                                                        static_cast<double>(run.peak));
  }

  void complain(const std::string& what) {
    tally_.broken.push_back(command_of(choice_, request_.job) + "\n    " + what);
  }

  const PlanRequest& request_;
  PlanChoice choice_;
  const BaseEvaluation& base_;
  Tally& tally_;
};

void judge_choice(const PlanRequest& request, const PlanSpace& space, PlanChoice choice, const PlanVariant& variant,
                  Tally& tally) {
  choice.schedule = variant.schedule;
  choice.chunks = variant.chunks;
  if (std::int64_t{choice.pipeline} * choice.microbatches * choice.chunks > kMostOps) return;
  ChoiceJudge(request, choice, evaluate_base(request, choice, space.zeros_of(choice).back()), tally).run();
}

// Some choices of one random job.
Tally judge_job(std::uint64_t seed, const std::string& folder) {
  Tally tally;
  Dice dice(seed);
  const std::string file = folder + "/" + std::to_string(seed) + ".json";
  try {
    const PlanRequest request = random_plan(dice, file).request;
    const PlanSpace space = plan_space(request);
    const auto pick = [&](std::size_t count) {
      return static_cast<std::size_t>(dice.from(0, static_cast<int>(count) - 1));
    };
    for (int k = 0; k < kChoicesOfJob; ++k) {
      PlanChoice choice = space.bases[pick(space.bases.size())];
      if (choice.pipeline == 1) choice = space.bases[pick(space.bases.size())];  // their bounds are simple: fewer
      const std::vector<PlanVariant>& variants = space.variants_of(choice);
      const PlanVariant& variant = variants[pick(variants.size())];
      const std::vector<int> zeros = space.zeros_of(choice);
      choice.zero = zeros[pick(zeros.size())];
      judge_choice(request, space, choice, variant, tally);
      if (k % 3 > 0 || choice.pipeline == 1) continue;
      choice.partition = "memory";
      judge_choice(request, space, choice, variant, tally);
      choice.partition = kBalancedCut;
      judge_choice(request, space, choice, variant, tally);
    }
  } catch (const InputError&) {
    // No such job.
  }
  std::filesystem::remove(file);
  return tally;
}

// All choices of a job.
Tally judge_all(const PlanRequest& request) {
  Tally tally;
  const PlanSpace space = plan_space(request);
  for (PlanChoice choice : space.bases) {
    for (const int zero : space.zeros_of(choice)) {
      choice.zero = zero;
      for (const PlanVariant& variant : space.variants_of(choice)) {
        judge_choice(request, space, choice, variant, tally);
      }
    }
  }
  return tally;
}

// As many jobs as it takes for so many choices that were simulated.
Tally judge_jobs(std::int64_t simulated) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "debubble_many_bounds";
  std::filesystem::create_directories(folder);
  constexpr std::size_t kTogether = 64;
  Tally all;
  for (std::uint64_t first = 1; all.simulated < simulated && all.broken.empty(); first += kTogether) {
    std::vector<Tally> parts(kTogether);
    for_each_index(kTogether, threads_for(kTogether, 0),
                   [&](std::size_t k) { parts[k] = judge_job(first + k, folder.string()); });
    for (const Tally& part : parts) all.add(part);
  }
  return all;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void print_tightness(const Tally& tally) {
  std::cout << tally.choices << " choices, " << tally.simulated << " simulated, " << tally.refused << " refused, "
            << tally.too_large << " too large by their bound, " << tally.memory_cuts << " with --partition memory fit\n"
            << "median of bound / simulated: step, memory, count\n";
  std::map<std::string, std::vector<double>> families;
  std::map<std::string, std::vector<double>> family_memory;
  for (const auto& [name, list] : tally.tightness) {
    const std::string family = to_string(find_schedule(name)->family);
    families[family].insert(families[family].end(), list.begin(), list.end());
    const auto memory = tally.memory_tightness.find(name);
    std::cout << "  " << name << ": " << median(list);
    if (memory != tally.memory_tightness.end()) {
      std::cout << ", " << median(memory->second);
      family_memory[family].insert(family_memory[family].end(), memory->second.begin(), memory->second.end());
    }
    std::cout << ", " << list.size() << "\n";
  }
  for (const auto& [family, list] : families) {
    std::cout << family << ": " << median(list) << ", " << median(family_memory[family]) << ", " << list.size() << "\n";
  }
}

void check_jobs(std::int64_t simulated) {
  const Tally tally = judge_jobs(simulated);
  for (const std::string& one : tally.broken) MESSAGE(one);
  CHECK(tally.broken.empty());
  CHECK(tally.too_large > 0);
  CHECK(tally.memory_cuts > 50);
  CHECK(tally.link_cuts > 10);
  print_tightness(tally);
}

}  // namespace

TEST_CASE("bounds hold for measured profiles with ZeRO, and for orders planned by costs") {
  const std::string file = (std::filesystem::temp_directory_path() / "debubble_bounds_profile.json").string();
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    Dice dice(seed);
    write_uneven_profile(dice, file);
    ScenarioFlags job;
    job.profile = {file};
    job.step.step = "on";
    PlanFlags flags;
    flags.gpus = 8;
    flags.global_batch = 64;
    flags.only = {"schedule=1f1b,zb-auto,zb-v-auto"};
    const Tally tally = judge_all(read_plan(job, flags).request);
    for (const std::string& one : tally.broken) MESSAGE(one);
    CHECK(tally.broken.empty());
    CHECK(tally.simulated > 5);
  }
  std::filesystem::remove(file);
}

TEST_CASE("bounds hold for rows that run a forward beside a backward") {
  ScenarioFlags job;
  job.transformer.model = "gpt2-small";
  job.transformer.sequence = 512;
  job.memory.memory = "off";
  PlanFlags flags;
  flags.gpus = 8;
  flags.global_batch = 64;
  flags.only = {"schedule=pipelined-backprop", "recompute=none", "microbatch=1,2"};
  const Tally tally = judge_all(read_plan(job, flags).request);
  for (const std::string& one : tally.broken) MESSAGE(one);
  CHECK(tally.broken.empty());
  CHECK(tally.simulated > 20);
}

TEST_CASE("bounds hold, and what is excluded is rightly so, on random jobs") { check_jobs(1'500); }

TEST_CASE("bounds hold, and what is excluded is rightly so, on a hundred thousand choices of random jobs" *
          doctest::skip()) {
  check_jobs(100'000);
}
