#include "studies/compare/contender.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "formats/exporters/report_json.hpp"
#include "scenario/job/make_schedule.hpp"
#include "scenario/job/step.hpp"
#include "schedules/catalog.hpp"
#include "schedules/frameworks.hpp"
#include "sim/core/numbers.hpp"
#include "sim/core/quantities.hpp"
#include "studies/compare/chunk_choices.hpp"
#include "studies/compare/runs_today.hpp"
#include "studies/uncertainty/step_range.hpp"

namespace debubble {

namespace {

// A schedule that cannot run here at all, as a report that says why.
Report refused(const Scenario& scenario, const std::string& name, const InputError& error) {
  Report report;
  report.schedule.name = name;
  report.schedule.devices = scenario.devices.value_or(kDefaultDevices);
  report.schedule.microbatches = scenario.microbatches.value_or(kDefaultMicrobatches);
  for (const Diagnostic& diagnostic : error.diagnostics()) {
    report.findings.emplace_back(Refused{diagnostic});
  }
  return report;
}

// An unknown name, or a file that holds no schedule. What keeps a schedule that exists from running is said in its row.
bool names_no_schedule(const Contender& contender, const InputError& error) {
  if (contender.entry != nullptr) return false;
  return std::any_of(error.diagnostics().begin(), error.diagnostics().end(), [](const Diagnostic& diagnostic) {
    return diagnostic.code == "S001" || diagnostic.code == "C005" ||
           std::string_view("GJKPT").find(diagnostic.code.front()) != std::string_view::npos;
  });
}

const DeviceReport& worst_memory(const Report& report) {
  return *std::max_element(report.devices.begin(), report.devices.end(),
                           [](const DeviceReport& a, const DeviceReport& b) { return a.peak_memory < b.peak_memory; });
}

bool fits_limit(const Report& report, const Terms& terms) {
  if (!has_result(report)) return true;
  const DeviceReport& worst = worst_memory(report);
  constexpr double kRounding = 1e-9;  // chunks hold whole bytes: a share of several is not one share to the byte
  const std::optional<double> shares = number_of(terms.limit_shares);
  if (shares && worst.peak_memory == worst.peak_activation)
    return worst.peak_activation_shares <= *shares * (1 + kRounding);
  return worst.peak_memory <= *terms.memory_limit;
}

void mark_over_limit(Contender& contender, Bytes limit) {
  const DeviceReport& worst = worst_memory(contender.report);
  contender.over_limit = true;
  contender.report.findings.emplace_back(OverMemoryLimit{worst.device, worst.peak_memory, limit});
}

// Whether a run is a better choice: one that fits, then the faster one, then the leaner one.
bool is_better_run(const Report& one, const Report& other) {
  const auto merit = [](const Report& report) {
    const bool fits = !report.memory_fit || report.memory_fit->spare >= 0;
    return std::tuple(has_result(report), fits, -report.makespan, -worst_memory(report).peak_memory);
  };
  return has_result(one) && (!has_result(other) || merit(one) > merit(other));
}

// Nobody gave this number, though the run was asked for with it.
void say_chosen_chunks(const std::vector<int>& tried, Report& report) {
  for (Assumption& one : report.assumptions) {
    if (one.key != assumption_key::kStagesPerDevice) continue;
    std::string all;
    for (const int chunks : tried) all += (all.empty() ? "" : ", ") + std::to_string(chunks);
    one.source = tried.size() > 1 ? Source::kModelled : Source::kDefault;
    if (tried.size() > 1) one.meaning = "the fastest of " + all;
  }
}

// With the best of the legal numbers of stages per device, where none is given.
Simulated simulate_best_chunks(const Scenario& scenario, Contender& contender, Progress& progress) {
  const std::vector<int> choices =
      contender.entry == nullptr ? std::vector<int>{} : chunk_choices(scenario, *contender.entry);
  std::optional<Simulated> best;
  for (const int chunks : choices) {
    Scenario with_chunks = scenario;
    with_chunks.chunks = chunks;
    try {
      Simulated run = simulate(with_chunks, contender.name, progress);
      if (!has_result(run.result.report)) continue;
      contender.needs.chunks_tried.push_back(chunks);
      if (!best || is_better_run(run.result.report, best->result.report)) best.emplace(std::move(run));
    } catch (const InputError&) {  // another number may do; if none does, the schedule's own says why
    }
  }
  if (best) {
    say_chosen_chunks(contender.needs.chunks_tried, best->result.report);
    return std::move(*best);
  }
  return simulate(scenario, contender.name, progress);
}

// With the range of a modelled step.
Simulated simulate_with_range(const Scenario& scenario, const std::string& name, Progress& progress) {
  Simulated run = simulate(scenario, name, progress);
  if (has_result(run.result.report)) add_step_range(scenario, run.result.report);
  return run;
}

// Halves the microbatches until the run fits, at most six times; the run with whole ones where that does not help.
Simulated run_within(Scenario scenario, Contender& contender, const Terms& terms, Progress& progress) {
  constexpr int kMostHalvings = 6;
  const std::string limit = std::to_string(*terms.memory_limit) + "B";
  Simulated whole = simulate_with_range(with_memory_limit(scenario, contender.entry, limit), contender.name, progress);
  if (fits_limit(whole.result.report, terms)) return whole;
  int microbatches = whole.job.schedule.microbatches;
  for (int k = 1; k <= kMostHalvings; ++k) {
    const auto half = with_half_microbatches(scenario, microbatches);
    if (!half) break;
    scenario = *half;
    Simulated run = simulate_with_range(with_memory_limit(scenario, contender.entry, limit), contender.name, progress);
    microbatches = run.job.schedule.microbatches;
    if (!fits_limit(run.result.report, terms)) continue;
    contender.terms = std::to_string(microbatches) + " microbatches of 1/" + std::to_string(1 << k) + " the size";
    return run;
  }
  return whole;  // what is held grows with the batch, however it is cut
}

Simulated run_on_terms(const Scenario& scenario, Contender& contender, const Terms& terms, Progress& progress) {
  Scenario own = scenario_for(scenario, contender.name);
  if (terms.equal == Equal::kStages) own = with_equal_stages(own, contender.entry);
  if (terms.equal == Equal::kMemory && !is_table_file(contender.name)) {
    return run_within(own, contender, terms, progress);
  }
  if (terms.memory_limit) {
    const std::string bytes = std::to_string(*terms.memory_limit) + "B";
    own = with_memory_limit(own, contender.entry, terms.limit_shares.empty() ? bytes : terms.limit_shares);
  }
  if (terms.equal != Equal::kDevices) return simulate_with_range(own, contender.name, progress);
  Simulated run = simulate_best_chunks(own, contender, progress);
  own.chunks = contender.needs.chunks_tried.empty() ? own.chunks : run.job.schedule.chunks;
  if (has_result(run.result.report)) add_step_range(own, run.result.report);
  return run;
}

// Of --runs-in.
std::optional<Diagnostic> refusal_in(const Terms& terms, const Scenario& own, const Report& report) {
  if (terms.runs_in.empty()) return std::nullopt;
  return refused_by(terms.runs_in, own, report.schedule, "P035", "--runs-in");
}

}  // namespace

std::vector<std::string> contender_names(const Scenario& scenario, const std::string& runs_in, bool& all) {
  std::vector<std::string> names;
  std::set<std::string> once;
  all = scenario.schedules.empty();
  const auto add = [&](const std::string& name) {
    if (once.insert(name).second) names.push_back(name);
  };
  for (const std::string& name : scenario.schedules) {
    if (name == "all") {
      all = true;
    } else {
      add(name);
    }
  }
  if (all) {
    for (const ScheduleEntry& entry : schedule_catalog()) add(entry.name);
  }
  if (runs_in.empty()) return names;
  const auto has = [&](const std::string& name) {
    const ScheduleEntry* entry = find_schedule(name);
    return entry != nullptr && names_framework(entry->frameworks, runs_in);
  };
  if (std::none_of(names.begin(), names.end(), has)) {
    fail("C001", "--runs-in", runs_in + " runs none of these schedules", "leave --schedules out: then it has its own");
  }
  if (all) std::erase_if(names, [&](const std::string& name) { return !has(name); });
  return names;
}

Scenario scenario_for(const Scenario& scenario, const std::string& name) {
  const ScheduleEntry* entry = find_schedule(name);
  Scenario own = scenario;
  if (entry == nullptr) {
    own.chunks = 0;
    own.params.clear();
    return own;
  }
  if (entry->default_chunks == 1) own.chunks = 0;
  std::erase_if(own.params, [&](const auto& param) { return !has_param(*entry, param.first); });
  return own;
}

double samples_per_gpu(const Job& job) {
  const double samples = static_cast<double>(std::max<std::int64_t>(1, job.samples_per_microbatch));
  const double all = samples * job.schedule.microbatches * job.pipeline_replicas;
  return all / (static_cast<double>(job.schedule.devices) * job.sizes.tensor * job.sizes.context * job.sizes.data);
}

Contender run_contender(const Scenario& scenario, const std::string& name, const Terms& terms, Progress& progress) {
  Contender contender;
  contender.name = name;
  contender.entry = find_schedule(name);
  try {
    Simulated run = run_on_terms(scenario, contender, terms, progress);
    std::vector<int> tried = std::move(contender.needs.chunks_tried);
    contender.needs = needs_of(contender.entry, run.job.schedule);
    contender.samples = samples_per_gpu(run.job);
    contender.needs.chunks_tried = std::move(tried);
    if (lacks_replica_sums(run.job.schedule, run.job.step, run.job.topology))
      contender.needs.not_charged.emplace_back(kGradientSums);
    contender.report = std::move(run.result.report);
    if (const auto refusal = refusal_in(terms, scenario_for(scenario, name), contender.report)) {
      contender.refusal = InputError(*refusal);
      contender.report = refused(scenario, name, *contender.refusal);
      return contender;
    }
    contender.runs_today = frameworks_today(contender.entry, scenario_for(scenario, name), contender.report);
    if (run.job.schedule.total_ops() <= terms.most_kept_ops) contender.run = std::move(run);
  } catch (const InputError& error) {
    if (names_no_schedule(contender, error)) throw;
    contender.refusal = error;
    contender.report = refused(scenario, name, error);
    return contender;
  }
  const ScheduleFacts& facts = contender.report.schedule;
  const bool halved = !contender.terms.empty();
  contender.work = halved ? scenario.microbatches.value_or(kDefaultMicrobatches) : facts.microbatches;
  if (terms.equal == Equal::kStages) contender.work /= std::max(1, facts.devices);
  if (terms.memory_limit && !fits_limit(contender.report, terms)) {
    mark_over_limit(contender, *terms.memory_limit);
  }
  return contender;
}

void mark_best_in(std::vector<Contender>& contenders) {
  const auto merit = [](const Contender& c) {
    return std::tuple(static_cast<double>(c.report.makespan) / std::max(c.work, 1e-9), c.needs.asynchronous,
                      worst_memory(c.report).peak_memory);
  };
  for (const char* const framework : kFrameworks) {
    Contender* best = nullptr;
    for (Contender& one : contenders) {
      const bool runs = std::find(one.runs_today.begin(), one.runs_today.end(), framework) != one.runs_today.end();
      if (!runs || !has_result(one.report) || one.over_limit) continue;
      if (std::any_of(one.report.findings.begin(), one.report.findings.end(), is_error)) continue;
      if (best == nullptr || merit(one) < merit(*best)) best = &one;
    }
    if (best != nullptr) best->needs.best_in.emplace_back(framework);
  }
}

Bytes memory_of_1f1b(const Scenario& scenario, Progress& progress) {
  const Simulated run = simulate(scenario_for(scenario, "1f1b"), "1f1b", progress);
  return has_result(run.result.report) ? worst_memory(run.result.report).peak_memory : 0;
}

void rank(std::vector<Contender>& contenders) {
  const auto group = [](const Contender& c) { return !has_result(c.report) ? 2 : c.over_limit ? 1 : 0; };
  const auto slowness = [](const Contender& c) {
    return has_result(c.report) && c.work > 0 ? static_cast<double>(c.report.makespan) / c.work : 0.0;
  };
  std::stable_sort(contenders.begin(), contenders.end(), [&](const Contender& a, const Contender& b) {
    return group(a) != group(b) ? group(a) < group(b) : slowness(a) < slowness(b);
  });
}

}  // namespace debubble
