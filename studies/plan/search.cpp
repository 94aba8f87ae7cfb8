#include "studies/plan/search.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <queue>
#include <tuple>
#include <utility>

#include "scenario/check_scenario.hpp"
#include "scenario/job/memory_limits.hpp"
#include "scenario/job/model_profile.hpp"
#include "scenario/job/stage_costs.hpp"
#include "schedules/catalog.hpp"
#include "sim/core/at.hpp"
#include "sim/core/error.hpp"
#include "studies/parallel.hpp"
#include "studies/plan/bounds.hpp"

namespace debubble {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kBatch = 8;         // simulated together; independent of the number of threads
constexpr std::size_t kRefineBatch = 32;  // bounded closer together
constexpr std::size_t kBaseBatch = 32;    // expanded together

// How a choice stands in the search.
struct Evaluation {
  enum class Kind : std::uint8_t { kBounded, kRefined, kIllegal, kTooLarge, kFits, kOutOfMemory, kDeadlock };
  Kind kind = Kind::kBounded;
  Nanoseconds bound = 0;
  Bytes memory_bound = 0;  // of the device that takes most
  Bytes missing = 0;
  PlannedRun run;
  std::string code;
  std::string message;
};

bool was_simulated(const Evaluation& one) {
  return one.kind == Evaluation::Kind::kFits || one.kind == Evaluation::Kind::kOutOfMemory ||
         one.kind == Evaluation::Kind::kDeadlock;
}

void refuse(Evaluation& one, const InputError& error) {
  one.kind = Evaluation::Kind::kIllegal;
  const Diagnostic& first = error.diagnostics().front();
  one.code = first.code;
  one.message = first.message;
}

// A pattern of the order with few microbatches: of so many a row holds as much at once as of more, or less.
int pattern_size(const PlanChoice& choice) { return std::min(choice.microbatches, 2 * choice.pipeline); }

// Costs with or without what a training step adds; `order` is a pattern of the choice's.
void bound_by(const OrderSummary& order, const Job& job, const PlanChoice& choice, Evaluation& one) {
  one.bound = std::max(one.bound, step_bound(order, job.costs, job.step, choice.microbatches));
  const std::vector<Bytes> memory = memory_bound(order, job.costs);
  for (const Bytes bytes : memory) one.memory_bound = std::max(one.memory_bound, bytes);
  one.missing = missing_memory(memory, job.memory.capacities);
  if (one.missing > 0) one.kind = Evaluation::Kind::kTooLarge;
}

// With the training step, whose collectives take longest to plan.
void refine(const PlanRequest& request, const PlanChoice& choice, Evaluation& one) {
  try {
    Scenario pattern = check_scenario(flags_of(choice, request.job));
    pattern.microbatches = pattern_size(choice);
    NoProgress nobody;
    one.kind = Evaluation::Kind::kRefined;
    const Job job = prepare(pattern, choice.schedule, nobody);
    bound_by(summarise(job.schedule, find_schedule(choice.schedule)->splits_backward), job, choice, one);
  } catch (const InputError& error) {
    refuse(one, error);
  }
}

// An order with few microbatches, or why there is none.
struct Pattern {
  std::optional<OrderSummary> order;
  Schedule shape;     // without its rows
  bool plain = true;  // no copies and no recomputation: its costs are those of any order with the same placement
  Evaluation refusal;
};
using PatternKey = std::tuple<std::string, int, int, int>;  // name, devices, chunks, microbatches

PatternKey pattern_key(const PlanChoice& choice) {
  return {choice.schedule, choice.pipeline, choice.chunks, pattern_size(choice)};
}

Pattern make_pattern(const PlanRequest& request, const PlanChoice& choice) {
  Pattern pattern;
  try {
    ScheduleRequest order;
    order.devices = choice.pipeline;
    order.microbatches = pattern_size(choice);
    order.chunks = choice.chunks;
    if (choice.pipeline * choice.chunks > request.layers) {
      fail("L004", "--fix chunks",
           std::to_string(choice.pipeline * choice.chunks) + " stages need at least as many layers",
           "leave chunks open");
    }
    Schedule schedule = build_schedule(choice.schedule, order);
    pattern.order = summarise(schedule, find_schedule(choice.schedule)->splits_backward);
    pattern.plain = !pattern.order->by_device.front().moments.empty() && schedule.vocabulary_barriers == 0;
    if (pattern.plain) schedule.rows.clear();
    pattern.shape = std::move(schedule);
  } catch (const InputError& error) {
    refuse(pattern.refusal, error);
  }
  return pattern;
}

// What no device with the mean of all states has room for.
Bytes missing_for_states(const Scenario& scenario, int devices) {
  const MemoryLimits limits = make_memory_limits(scenario, devices).value;
  if (limits.capacities.empty()) return 0;
  Bytes states = 0;
  for (const ProfileLayer& layer : scenario.profile->layers) {
    states += layer.parameters + layer.gradients.value_or(0) + layer.optimizer.value_or(0);
  }
  Bytes all = 0;
  for (int d = 0; d < devices; ++d)
    all += limits.capacities.size() == 1 ? limits.capacities.front() : limits.capacities[to_index(d)];
  return std::max<Bytes>(0, (states - all) / devices);
}

// All variants of one base and one ZeRO stage, in this order, without the training step.
std::vector<Evaluation> bounded(const PlanRequest& request, const std::vector<PlanChoice>& choices,
                                const std::map<PatternKey, Pattern>& patterns) {
  std::vector<Evaluation> all(choices.size());
  try {
    const Scenario scenario = check_scenario(flags_of(choices.front(), request.job));
    const Bytes missing = missing_for_states(scenario, choices.front().pipeline);
    Job job;
    job.memory = make_memory_limits(scenario, choices.front().pipeline).value;
    std::vector<std::pair<const Schedule*, StageCosts>> known;  // by placement
    for (std::size_t k = 0; k < all.size(); ++k) {
      const Pattern& pattern = patterns.at(pattern_key(choices[k]));
      if (!pattern.order) {
        all[k] = pattern.refusal;
      } else if (missing > 0) {
        all[k].kind = Evaluation::Kind::kTooLarge;
        all[k].missing = missing;
      } else {
        const auto same = std::find_if(known.begin(), known.end(), [&](const auto& one) {
          return pattern.plain && one.first->placement == pattern.shape.placement;
        });
        job.costs = same != known.end() ? same->second : make_stage_costs(scenario, pattern.shape).costs;
        if (pattern.plain && same == known.end()) known.emplace_back(&pattern.shape, job.costs);
        bound_by(*pattern.order, job, choices[k], all[k]);
      }
    }
  } catch (const InputError& error) {
    for (Evaluation& one : all) refuse(one, error);
  }
  return all;
}

void simulate_choice(const PlanRequest& request, const PlanChoice& choice, Evaluation& one) {
  try {
    NoProgress nobody;
    const Simulated run = simulate(check_scenario(flags_of(choice, request.job)), choice.schedule, nobody);
    const Report& report = run.result.report;
    if (report.deadlock) {
      one.kind = Evaluation::Kind::kDeadlock;
      return;
    }
    one.run = {choice,
               report.makespan,
               one.bound,
               0,
               report.bubble_ratio,
               report.samples_per_second,
               report.tokens_per_second,
               report.mfu,
               std::nullopt};
    for (const DeviceReport& device : report.devices) one.run.peak = std::max(one.run.peak, device.peak_memory);
    one.kind = Evaluation::Kind::kFits;
    if (!report.memory_fit) return;
    one.run.spare = report.memory_fit->spare;
    if (report.memory_fit->spare >= 0) return;
    one.kind = Evaluation::Kind::kOutOfMemory;
    one.missing = -report.memory_fit->spare;
  } catch (const InputError& error) {
    refuse(one, error);
  }
}

// What all variants of a base have in common: means over the devices, so that the one with most has no less.
struct BaseEvaluation {
  bool legal = true;
  Nanoseconds compute = 0;  // in one step
  Bytes states = 0;         // weights, gradients and optimizer, with the most sharding that is open
  std::string code;
  std::string message;
};

// A layer may take other collectives on other devices: the least of them counts.
Nanoseconds least_time(const Scenario& scenario, std::size_t layer) {
  const auto time = [&](const Profile& profile) {
    const ProfileLayer& one = profile.layers[layer];
    const auto median = [](const std::optional<TimeStatistics>& times) { return times ? times->median : 0; };
    const Nanoseconds halves = median(one.input_grad) + median(one.weight_grad);
    const bool whole = one.backward.has_value() && (!one.input_grad || !one.weight_grad);
    return one.forward.median + (whole          ? one.backward->median
                                 : one.backward ? std::min(halves, one.backward->median)
                                                : halves);
  };
  if (scenario.transformer.placed == nullptr) return time(*scenario.profile);
  Nanoseconds least = std::numeric_limits<Nanoseconds>::max();
  for (const ModelledLayers& layers : scenario.transformer.placed->distinct) {
    least = std::min(least, time(layers.profile));
  }
  return least;
}

BaseEvaluation evaluate_base(const PlanRequest& request, const PlanChoice& base, int zero) {
  BaseEvaluation one;
  try {
    PlanChoice choice = base;
    choice.schedule = "1f1b";
    choice.zero = zero;
    const Scenario scenario = check_scenario(flags_of(choice, request.job));
    Nanoseconds times = 0;
    Bytes states = 0;
    for (std::size_t k = 0; k < scenario.profile->layers.size(); ++k) {
      const ProfileLayer& layer = scenario.profile->layers[k];
      times += least_time(scenario, k);
      states += layer.parameters + layer.gradients.value_or(0) + layer.optimizer.value_or(0);
    }
    one.compute = times * base.microbatches / base.pipeline;
    one.states = states / base.pipeline;
  } catch (const InputError& error) {
    one.legal = false;
    one.code = error.diagnostics().front().code;
    one.message = error.diagnostics().front().message;
  }
  return one;
}

// A variant of a base: its place in the space.
struct VariantId {
  std::uint32_t base = 0;
  std::uint16_t zero = 0;
  std::uint16_t variant = 0;

  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the compared 0 for a pointer
  friend auto operator<=>(const VariantId&, const VariantId&) = default;
};

}  // namespace

class PlanSearch::State {
 public:
  State(const PlanRequest& request, PlanSpace space) : request_(request), space_(std::move(space)) {}

  [[nodiscard]] const PlanSpace& space() const { return space_; }
  [[nodiscard]] const PlanRequest& request() const { return request_; }

  void evaluate_bases(int threads, Progress& progress) {
    if (!bases_.empty()) return;
    progress.phase("modelling " + std::to_string(space_.bases.size()) + " ways to split the job");
    bases_.resize(space_.bases.size());
    for_each_index(bases_.size(), threads_for(bases_.size(), threads), [&](std::size_t k) {
      bases_[k] = evaluate_base(request_, space_.bases[k], space_.zeros_of(space_.bases[k]).back());
    });
  }
  [[nodiscard]] const BaseEvaluation& base(std::size_t k) const { return bases_[k]; }

  [[nodiscard]] PlanChoice choice_of(const VariantId& id) const {
    PlanChoice choice = space_.bases[id.base];
    const PlanVariant variant = space_.variants_of(choice)[id.variant];
    choice.schedule = variant.schedule;
    choice.chunks = variant.chunks;
    choice.zero = id.zero;
    return choice;
  }

  [[nodiscard]] Evaluation* find(const VariantId& id) {
    const auto found = evaluations_.find(id);
    return found == evaluations_.end() ? nullptr : &found->second;
  }
  // What was simulated before.
  [[nodiscard]] std::vector<VariantId> simulated() const {
    std::vector<VariantId> ids;
    for (const auto& [id, one] : evaluations_) {
      if (was_simulated(one)) ids.push_back(id);
    }
    return ids;
  }
  Evaluation& keep(const VariantId& id, Evaluation one) { return evaluations_[id] = std::move(one); }

  // Bounds of those that have none yet. `ids` are sorted.
  void bound(const std::vector<VariantId>& ids, int threads) {
    std::vector<std::vector<VariantId>> groups;  // of one base and ZeRO stage
    for (const VariantId& id : ids) {
      if (find(id) != nullptr) continue;
      const bool same =
          !groups.empty() && groups.back().front().base == id.base && groups.back().front().zero == id.zero;
      if (!same) groups.emplace_back();
      groups.back().push_back(id);
    }
    std::vector<std::vector<PlanChoice>> choices(groups.size());
    for (std::size_t k = 0; k < groups.size(); ++k) {
      for (const VariantId& id : groups[k]) choices[k].push_back(choice_of(id));
    }
    make_patterns(choices, threads);
    std::vector<std::vector<Evaluation>> found(groups.size());
    for_each_index(groups.size(), threads_for(groups.size(), threads),
                   [&](std::size_t k) { found[k] = bounded(request_, choices[k], patterns_); });
    for (std::size_t k = 0; k < groups.size(); ++k) {
      for (std::size_t i = 0; i < groups[k].size(); ++i) keep(groups[k][i], std::move(found[k][i]));
    }
  }

  void make_patterns(const std::vector<std::vector<PlanChoice>>& groups, int threads) {
    std::map<PatternKey, PlanChoice> fresh;
    for (const std::vector<PlanChoice>& group : groups) {
      for (const PlanChoice& choice : group) {
        if (!patterns_.contains(pattern_key(choice))) fresh.emplace(pattern_key(choice), choice);
      }
    }
    std::vector<std::pair<const PlanChoice*, Pattern*>> work;
    for (const auto& [key, choice] : fresh) work.emplace_back(&choice, &patterns_[key]);
    for_each_index(work.size(), threads_for(work.size(), threads),
                   [&](std::size_t k) { *work[k].second = make_pattern(request_, *work[k].first); });
  }

  // A closer look at those that have had none.
  void refine_all(const std::vector<VariantId>& ids, int threads) {
    std::vector<std::pair<PlanChoice, Evaluation*>> fresh;
    for (const VariantId& id : ids) fresh.emplace_back(choice_of(id), find(id));
    for_each_index(fresh.size(), threads_for(fresh.size(), threads),
                   [&](std::size_t k) { refine(request_, fresh[k].first, *fresh[k].second); });
  }

  void simulate_all(const std::vector<VariantId>& ids, int threads) {
    std::vector<std::pair<PlanChoice, Evaluation*>> fresh;
    for (const VariantId& id : ids) {
      Evaluation* one = find(id);
      if (one->kind == Evaluation::Kind::kRefined) fresh.emplace_back(choice_of(id), one);
    }
    for_each_index(fresh.size(), threads_for(fresh.size(), threads),
                   [&](std::size_t k) { simulate_choice(request_, fresh[k].first, *fresh[k].second); });
  }

 private:
  PlanRequest request_;
  PlanSpace space_;
  std::vector<BaseEvaluation> bases_;
  std::map<VariantId, Evaluation> evaluations_;
  std::map<PatternKey, Pattern> patterns_;
};

// One run of the search.
class PlanSearch::Run {
 public:
  Run(State& state, const SearchOptions& options, Progress& progress,
      const std::function<bool(const PlanChoice&)>& keep)
      : state_(state), options_(options), progress_(progress), keep_(keep), begin_(Clock::now()) {}

  SearchResult run() {
    state_.evaluate_bases(options_.threads, progress_);
    for (const VariantId& id : state_.simulated()) {
      if (keep_ != nullptr && !keep_(state_.choice_of(id))) continue;
      take(id, *state_.find(id));
      ++known_[id.base];
    }
    order_bases();
    tell();
    while (!out_of_time() && step()) {
    }
    count_rest();
    finish();
    return std::move(result_);
  }

 private:
  // By bound, then what is simpler, then its place in the space.
  using Entry = std::tuple<double, int, VariantId>;

  [[nodiscard]] double base_bound(std::size_t k) const {
    const BaseEvaluation& base = state_.base(k);
    return static_cast<double>(options_.objective == PlanObjective::kStep ? base.compute : base.states);
  }
  [[nodiscard]] double bound_of(const Evaluation& one) const {
    return static_cast<double>(options_.objective == PlanObjective::kStep ? one.bound : one.memory_bound);
  }
  [[nodiscard]] double value_of(const PlannedRun& run) const {
    return static_cast<double>(options_.objective == PlanObjective::kStep ? run.step : run.peak);
  }
  [[nodiscard]] bool is_within_limit(const PlannedRun& run) const {
    return options_.memory_limit == 0 || run.peak <= options_.memory_limit;
  }
  // What is no better than this is not looked at.
  [[nodiscard]] double limit() const { return std::isinf(best_) ? best_ : best_ * (1 - options_.gap); }

  void tell() {
    constexpr std::int64_t kOften = 100;
    if (result_.simulated < told_) return;
    told_ = result_.simulated + kOften;
    progress_.phase("searching " + std::to_string(result_.space) +
                    " ways to run it: " + std::to_string(result_.simulated) + " simulated");
  }

  void order_bases() {
    for (std::size_t k = 0; k < state_.space().bases.size(); ++k) {
      const BaseEvaluation& base = state_.base(k);
      const std::int64_t variants = variants_in(k);
      result_.space += variants;
      if (!base.legal) {
        result_.illegal += variants;
        count_illegal(base.code, base.message, variants);
      } else if (options_.memory_limit > 0 && base.states > options_.memory_limit) {
        result_.excluded_by_memory += variants;
      } else {
        order_.push_back(k);
      }
    }
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::size_t a, std::size_t b) { return base_bound(a) < base_bound(b); });
  }

  [[nodiscard]] std::vector<VariantId> variants_of(std::size_t k) const {
    const PlanChoice& base = state_.space().bases[k];
    std::vector<VariantId> ids;
    for (const int zero : state_.space().zeros_of(base)) {
      const std::size_t count = state_.space().variants_of(base).size();
      for (std::size_t v = 0; v < count; ++v) {
        const VariantId id{static_cast<std::uint32_t>(k), static_cast<std::uint16_t>(zero),
                           static_cast<std::uint16_t>(v)};
        if (keep_ == nullptr || keep_(state_.choice_of(id))) ids.push_back(id);
      }
    }
    return ids;
  }
  [[nodiscard]] std::int64_t variants_in(std::size_t k) const {
    if (keep_ != nullptr) return static_cast<std::int64_t>(variants_of(k).size());
    const PlanChoice& base = state_.space().bases[k];
    return static_cast<std::int64_t>(state_.space().variants_of(base).size() * state_.space().zeros_of(base).size());
  }

  // Expands bases, or simulates variants, whichever has the lower bound. False at the end.
  bool step() {
    const bool bases_left = next_ < order_.size() && base_bound(order_[next_]) < limit();
    const bool variants_left = !queue_.empty() && std::get<0>(queue_.top()) < limit();
    if (!bases_left && !variants_left) return false;
    if (bases_left && (!variants_left || base_bound(order_[next_]) <= std::get<0>(queue_.top()))) {
      expand();
    } else {
      look_closer();
    }
    return true;
  }

  void expand() {
    std::vector<VariantId> ids;
    const std::size_t end = std::min(order_.size(), next_ + kBaseBatch);
    for (; next_ < end; ++next_) {
      for (const VariantId& id : variants_of(order_[next_])) ids.push_back(id);
    }
    state_.bound(ids, options_.threads);
    for (const VariantId& id : ids) enqueue(id);
  }

  void enqueue(const VariantId& id) {
    const Evaluation& one = *state_.find(id);
    if (was_simulated(one)) return;  // by an earlier search, and counted
    if (one.kind == Evaluation::Kind::kIllegal) {
      ++result_.illegal;
      count_illegal(one.code, one.message, 1);
      return;
    }
    const bool beyond = options_.memory_limit > 0 && one.memory_bound > options_.memory_limit;
    if (one.kind == Evaluation::Kind::kTooLarge || beyond) {
      ++result_.excluded_by_memory;
      note_near_miss(id, one.missing, false);
      return;
    }
    queue_.emplace(bound_of(one), complexity(state_.choice_of(id)), id);
  }

  // The next in the queue: refined, and back into the queue, or simulated.
  void look_closer() {
    const auto next_is_refined = [&] {
      const Evaluation::Kind kind = state_.find(std::get<2>(queue_.top()))->kind;
      return kind != Evaluation::Kind::kBounded;
    };
    const bool refined = next_is_refined();
    const std::size_t most = refined ? kBatch : kRefineBatch;
    std::vector<VariantId> ids;
    while (ids.size() < most && !queue_.empty() && std::get<0>(queue_.top()) < limit() &&
           next_is_refined() == refined) {
      ids.push_back(std::get<2>(queue_.top()));
      queue_.pop();
    }
    if (!refined) {
      state_.refine_all(ids, options_.threads);
      for (const VariantId& id : ids) enqueue(id);
      return;
    }
    tell();
    state_.simulate_all(ids, options_.threads);
    for (const VariantId& id : ids) take(id, *state_.find(id));
  }

  void take(const VariantId& id, const Evaluation& one) {
    if (one.kind == Evaluation::Kind::kIllegal) {
      ++result_.illegal;
      count_illegal(one.code, one.message, 1);
      return;
    }
    ++result_.simulated;
    if (one.kind == Evaluation::Kind::kDeadlock) ++result_.deadlocked;
    if (one.kind == Evaluation::Kind::kOutOfMemory) {
      ++result_.out_of_memory;
      note_near_miss(id, one.missing, true);
    }
    if (one.kind != Evaluation::Kind::kFits) return;
    if (!is_within_limit(one.run)) {
      ++result_.out_of_memory;
      return;
    }
    result_.runs.push_back(one.run);
    best_ = std::min(best_, value_of(one.run));
  }

  void note_near_miss(const VariantId& id, Bytes missing, bool simulated) {
    if (missing <= 0 || (result_.nearest && result_.nearest->missing <= missing)) return;
    result_.nearest = NearMiss{state_.choice_of(id), missing, simulated};
  }

  void count_illegal(const std::string& code, const std::string& message, std::int64_t count) {
    result_.illegal_by_code[code] += count;
    result_.illegal_messages.emplace(code, message);
  }

  void count_rest() {
    double least = std::numeric_limits<double>::infinity();
    if (!queue_.empty()) least = std::get<0>(queue_.top());
    result_.excluded_by_time += static_cast<std::int64_t>(queue_.size());
    if (next_ < order_.size()) least = std::min(least, base_bound(order_[next_]));
    for (; next_ < order_.size(); ++next_) {
      const auto known = known_.find(static_cast<std::uint32_t>(order_[next_]));
      result_.excluded_by_time += variants_in(order_[next_]) - (known == known_.end() ? 0 : known->second);
    }
    if (least < best_ && best_ < std::numeric_limits<double>::infinity()) result_.remaining_gap = 1 - least / best_;
  }

  void finish() {
    const auto key = [&](const PlannedRun& run) {
      return std::tuple(value_of(run), run.step, run.peak, complexity(run.choice));
    };
    std::stable_sort(result_.runs.begin(), result_.runs.end(),
                     [&](const PlannedRun& a, const PlannedRun& b) { return key(a) < key(b); });
    if (!result_.runs.empty()) result_.nearest.reset();
  }

  bool out_of_time() {
    if (!options_.budget) return false;
    const double seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
    result_.interrupted = seconds > *options_.budget;
    return result_.interrupted;
  }

  struct Later {
    bool operator()(const Entry& a, const Entry& b) const { return a > b; }
  };

  State& state_;
  const SearchOptions& options_;
  Progress& progress_;
  const std::function<bool(const PlanChoice&)>& keep_;
  Clock::time_point begin_;
  std::vector<std::size_t> order_;  // bases by their bound
  std::size_t next_ = 0;
  std::map<std::uint32_t, std::int64_t> known_;  // by base: variants that an earlier search simulated
  std::int64_t told_ = 0;
  std::priority_queue<Entry, std::vector<Entry>, Later> queue_;
  double best_ = std::numeric_limits<double>::infinity();
  SearchResult result_;
};

PlanSearch::PlanSearch(const PlanRequest& request, PlanSpace space)
    : state_(std::make_unique<State>(request, std::move(space))) {}
PlanSearch::~PlanSearch() = default;

const PlanSpace& PlanSearch::space() const { return state_->space(); }

SearchResult PlanSearch::run(const SearchOptions& options, Progress& progress,
                             const std::function<bool(const PlanChoice&)>& keep) {
  return Run(*state_, options, progress, keep).run();
}

}  // namespace debubble
