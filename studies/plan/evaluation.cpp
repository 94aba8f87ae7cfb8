#include "studies/plan/evaluation.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "cost_models/partition/partition.hpp"
#include "scenario/check_scenario.hpp"
#include "scenario/job/memory_limits.hpp"
#include "scenario/job/model_profile.hpp"
#include "scenario/job/stage_costs.hpp"
#include "scenario/job/step.hpp"
#include "schedules/catalog.hpp"
#include "sim/analysis/memory_fit.hpp"
#include "sim/core/at.hpp"
#include "sim/core/error.hpp"
#include "studies/plan/open_cuts.hpp"
#include "studies/plan/stage_bounds.hpp"
#include "studies/plan/step_costs.hpp"
#include "studies/simulate/simulate.hpp"

namespace debubble {
namespace {

// A pattern of the order with few microbatches: of so many a row holds as much at once as of more, or less.
int pattern_size(const PlanChoice& choice) { return std::min(choice.microbatches, 2 * choice.pipeline); }

// Raises the bound by that of the walk.
bool is_too_slow(const Job& job, const Lowered& lowered, const Interest& interest, Evaluation& one) {
  if (interest.below == std::numeric_limits<Nanoseconds>::max()) return false;
  const auto* const program = std::get_if<Program>(&lowered);
  if (program == nullptr) return false;
  const Nanoseconds walked = walk_bound(job.schedule, *program, job.costs);
  if (walked < interest.below) return false;
  one.bound = std::max(one.bound, walked);
  return true;
}

void judge_memory_of(const PlanRequest& request, const Job& job, const Timeline& timeline, const MemoryLimits& limits,
                     bool how_much, Evaluation& one) {
  const std::optional<MemoryFit> fit =
      how_much ? memory_fit(device_memories(timeline, job.schedule, job.costs, limits.capacities, limits.allocator))
               : memory_fit_if_any(timeline, job.schedule, job.costs, limits.capacities, limits.allocator);
  if (fit) one.run.spare = fit->spare;
  if (fit && fit->spare >= 0) {
    const Bytes free = share_to_stay_free(request, fit->capacity, limits);
    if (fit->spare < free) one.run.margin = free;
    return;
  }
  one.kind = Evaluation::Kind::kOutOfMemory;
  if (fit) one.missing = -fit->spare;
}

// Where the cut follows from the memory, it leaves free what is to stay so: the choice gets the layers that come out.
Job job_of_choice(const PlanRequest& request, PlanChoice& choice) {
  NoProgress nobody;
  Scenario scenario = check_scenario(flags_of(choice, request.job));
  if (!is_memory_cut(choice) || request.margin == 0) return prepare(scenario, choice.schedule, nobody);
  MemoryLimits limits = make_memory_limits(scenario, choice.pipeline).value;
  Bytes free = 0;
  for (const Bytes capacity : limits.capacities) free = std::max(free, share_to_stay_free(request, capacity, limits));
  scenario.memory.outside = limits.outside + free;
  Job job = prepare(scenario, choice.schedule, nobody);
  job.memory = std::move(limits);
  choice.partition = partition_text(job.partition);
  return job;
}

// Rows without a flush may run a forward beside a backward; others do one after the other.
int engines_of(const PlanRequest& request) {
  const auto named = request.allowed.find("schedule");
  if (named == request.allowed.end()) return 1;
  const bool streams = std::any_of(named->second.begin(), named->second.end(), [](const std::string& name) {
    const ScheduleEntry* entry = find_schedule(name);
    return entry != nullptr && entry->family == ScheduleFamily::kAsynchronous;
  });
  return streams ? 2 : 1;
}

}  // namespace

Bytes share_to_stay_free(const PlanRequest& request, Bytes capacity, const MemoryLimits& limits) {
  return static_cast<Bytes>(request.margin * static_cast<double>(capacity + limits.outside));
}

Bytes share_to_stay_free(const PlanRequest& request, const MemoryLimits& limits) {
  const auto least = std::min_element(limits.capacities.begin(), limits.capacities.end());
  return least == limits.capacities.end() ? 0 : share_to_stay_free(request, *least, limits);
}

void refuse(Evaluation& one, const InputError& error) {
  one.kind = Evaluation::Kind::kIllegal;
  const Diagnostic& first = error.diagnostics().front();
  one.code = first.code;
  one.message = first.message;
}

bool was_simulated(const Evaluation& one) { return has_step(one) || one.kind == Evaluation::Kind::kDeadlock; }

bool has_step(const Evaluation& one) {
  return one.kind == Evaluation::Kind::kFits || one.kind == Evaluation::Kind::kOutOfMemory;
}

bool lacks_room(const Evaluation& one) {
  using Kind = Evaluation::Kind;
  if (one.kind == Kind::kTooLarge) return one.memory_bound > 0;  // not the states alone
  if (one.kind == Kind::kFits) return one.run.is_tight();
  const bool open = one.kind == Kind::kBounded || one.kind == Kind::kRefined;
  return one.kind == Kind::kOutOfMemory || (open && one.only_tight);
}

void refine(const PlanChoice& choice, const Pattern& pattern, const StepCosts& step, Evaluation& one) {
  if (step.refusal.kind == Evaluation::Kind::kIllegal) {
    one = step.refusal;
    return;
  }
  one.kind = Evaluation::Kind::kRefined;
  bound_by(*pattern.order, step, choice, one);
}

void refine_planned(const PlanRequest& request, const PlanChoice& choice, Evaluation& one) {
  try {
    Scenario pattern = check_scenario(flags_of(choice, request.job));
    pattern.microbatches = pattern_size(choice);
    NoProgress nobody;
    one.kind = Evaluation::Kind::kRefined;
    Job job = prepare(pattern, choice.schedule, nobody);
    const OrderSummary order = summary_for(choice, job.schedule);
    const Bytes margin = share_to_stay_free(request, job.memory);
    bound_by(order, {std::move(job.costs), chains_of(job.step), std::move(job.memory.capacities), margin, {}}, choice,
             one);
  } catch (const InputError& error) {
    refuse(one, error);
  }
}

PatternKey pattern_key(const PlanChoice& choice) {
  std::string name = choice.schedule;
  for (const std::string& param : choice.params) name += " " + param;
  return {choice.pipeline, choice.chunks, pattern_size(choice), name};
}

Pattern make_pattern(const PlanRequest& request, const PlanChoice& choice) {
  Pattern pattern;
  try {
    ScheduleRequest order;
    order.devices = choice.pipeline;
    order.microbatches = pattern_size(choice);
    order.chunks = choice.chunks;
    order.params = params_of(choice);
    if (choice.pipeline * choice.chunks > request.layers) {
      fail("L004", place_of(request, "chunks"),
           std::to_string(choice.pipeline * choice.chunks) + " stages need at least as many layers",
           "leave chunks open");
    }
    Schedule schedule = build_schedule(choice.schedule, order);
    pattern.order = summary_for(choice, schedule);
    pattern.plain = !pattern.order->planned && !pattern.order->by_device.front().moments.empty() &&
                    schedule.vocabulary_barriers == 0;
    if (pattern.plain) schedule.rows.clear();
    pattern.shape = std::move(schedule);
  } catch (const InputError& error) {
    refuse(pattern.refusal, error);
  }
  return pattern;
}

namespace {

std::vector<Evaluation> bounded_all(const PlanRequest& request, const std::vector<PlanChoice>& choices,
                                    const std::map<PatternKey, Pattern>& patterns, CheckedScenarios* of_large) {
  if (has_open_cut(request, choices.front())) return bounded_open_cuts(request, choices, patterns);
  std::vector<Evaluation> all(choices.size());
  KnownCuts cuts;
  for (std::size_t begin = 0; begin < all.size();) {
    std::size_t end = begin;
    while (end < all.size() && choices[end].zero == choices[begin].zero) ++end;
    try {
      StageBounds bounds(request, choices[begin], cuts);
      for (std::size_t k = begin; k < end; ++k) {
        all[k] = bounds.of(choices[k], patterns.at(pattern_key(choices[k])));
      }
      const auto first = all.begin() + static_cast<std::ptrdiff_t>(begin);
      const bool large = std::any_of(first, all.begin() + static_cast<std::ptrdiff_t>(end), lacks_room);
      if (large && of_large != nullptr) of_large->emplace(choices[begin].zero, std::move(bounds).scenario());
    } catch (const InputError& error) {
      for (std::size_t k = begin; k < end; ++k) refuse(all[k], error);
    }
    begin = end;
  }
  return all;
}

}  // namespace

bool refuse_by_rules(const PlanRequest& request, const PlanChoice& choice, Evaluation& one) {
  if (request.runs_in.empty() || request.rules == nullptr) return false;
  const auto told = request.rules->refusal(framework_choice(choice), "P035", "--runs-in");
  if (told) refuse(one, InputError(*told));
  return told.has_value();
}

std::vector<Evaluation> bounded(const PlanRequest& request, const std::vector<PlanChoice>& choices,
                                const std::map<PatternKey, Pattern>& patterns, CheckedScenarios* of_large) {
  std::vector<Evaluation> all(choices.size());
  std::vector<PlanChoice> allowed;
  std::vector<std::size_t> places;
  const RunRules* const rules = request.runs_in.empty() ? nullptr : request.rules.get();
  std::map<const FrameworkRule*, Evaluation> refusals;  // each told of the first that breaks it
  for (std::size_t k = 0; k < choices.size(); ++k) {
    const FrameworkRule* const broken = rules == nullptr ? nullptr : rules->broken(framework_choice(choices[k]));
    if (broken != nullptr) {
      Evaluation& refusal = refusals[broken];
      if (refusal.code.empty()) (void)refuse_by_rules(request, choices[k], refusal);
      all[k] = refusal;
      continue;
    }
    allowed.push_back(choices[k]);
    places.push_back(k);
  }
  if (allowed.empty()) return all;
  std::vector<Evaluation> found = bounded_all(request, allowed, patterns, of_large);
  for (std::size_t k = 0; k < places.size(); ++k) all[places[k]] = std::move(found[k]);
  return all;
}

void simulate_choice(const PlanRequest& request, const PlanChoice& choice, Evaluation& one, const Interest& interest) {
  try {
    NoProgress nobody;
    PlanChoice cut = choice;
    Job job = job_of_choice(request, cut);
    const Lowered lowered = lower(job.schedule, job.p2p);
    if (is_too_slow(job, lowered, interest, one)) return;
    const MemoryLimits limits = std::exchange(job.memory, {});  // judged below, no further than it takes
    const std::optional<Result> result =
        simulate_while_it_fits(job, lowered, interest.missing ? std::vector<Bytes>{} : limits.capacities, nobody);
    if (!result) {
      one.kind = Evaluation::Kind::kOutOfMemory;
      return;
    }
    const Report& report = result->report;
    if (report.deadlock) {
      one.kind = Evaluation::Kind::kDeadlock;
      return;
    }
    one.run = {
        std::move(cut),           report.makespan, one.bound,    0, report.bubble_ratio, report.samples_per_second,
        report.tokens_per_second, report.mfu,      std::nullopt, 0};
    for (const DeviceReport& device : report.devices) one.run.peak = std::max(one.run.peak, device.peak_memory);
    one.kind = Evaluation::Kind::kFits;
    if (limits.capacities.empty()) return;
    judge_memory_of(request, job, result->timeline, limits, interest.missing, one);
  } catch (const InputError& error) {
    refuse(one, error);
  }
}

BaseEvaluation evaluate_base(const PlanRequest& request, const PlanChoice& base, int zero) {
  BaseEvaluation one;
  try {
    PlanChoice choice = base;
    choice.schedule = "1f1b";
    choice.zero = zero;
    const Scenario scenario = check_scenario(flags_of(choice, request.job));
    Nanoseconds times = 0;
    const std::vector<const Profile*> profiles = layers_of_devices(scenario, false);
    const auto layers = static_cast<int>(scenario.profile->layers.size());
    for (int k = 0; k < layers; ++k) times += shortest_path(profiles, k).both;
    one.compute = times * base.microbatches / (base.pipeline * engines_of(request));
    one.states = state_bytes(scenario) / base.pipeline;
  } catch (const InputError& error) {
    one.legal = false;
    one.code = error.diagnostics().front().code;
    one.message = error.diagnostics().front().message;
  }
  return one;
}

}  // namespace debubble
