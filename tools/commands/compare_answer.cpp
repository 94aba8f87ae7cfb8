#include "tools/commands/compare_answer.hpp"

#include <algorithm>
#include <filesystem>

#include "formats/exporters/report_json.hpp"
#include "formats/version.hpp"
#include "scenario/check_scenario.hpp"
#include "scenario/job/make_schedule.hpp"
#include "scenario/request/catalog_names.hpp"
#include "scenario/request/flag_row.hpp"
#include "schedules/catalog.hpp"
#include "schedules/frameworks.hpp"
#include "sim/core/error.hpp"
#include "sim/core/numbers.hpp"
#include "sim/core/quantities.hpp"
#include "sim/core/words.hpp"
#include "studies/compare/nearest.hpp"
#include "studies/compare/told_apart.hpp"
#include "tools/commands/compare_checks.hpp"
#include "tools/flags/config_file.hpp"
#include "tools/flags/flag_text.hpp"

namespace debubble {
namespace {

Terms terms_of(const CompareFlags& flags, const Scenario& scenario, std::size_t most_kept_ops) {
  Terms terms;
  terms.equal = parse_equal(flags.equal);
  terms.devices = scenario.devices.value_or(kDefaultDevices);
  terms.microbatches = scenario.microbatches.value_or(kDefaultMicrobatches);
  terms.most_kept_ops = most_kept_ops;
  if (!flags.memory_limit.empty()) {
    terms.memory_limit = parse_memory_limit(flags.memory_limit, scenario.profile.has_value());
    const bool bare = !scenario.profile && number_of(flags.memory_limit).has_value();
    if (bare && terms.equal == Equal::kDevices) terms.limit_shares = flags.memory_limit;
  }
  return terms;
}

// The size of the job as it was run: a table brings its own.
void settle_size(const std::vector<Contender>& contenders, Terms& terms) {
  if (terms.equal != Equal::kDevices) return;
  const auto first = std::find_if(contenders.begin(), contenders.end(),
                                  [](const Contender& contender) { return has_result(contender.report); });
  if (first == contenders.end()) return;
  terms.devices = first->report.schedule.devices;
  terms.microbatches = first->report.schedule.microbatches;
}

// Where nothing runs, all that is said about it, once.
void require_some_result(const std::vector<Contender>& contenders) {
  std::vector<Diagnostic> reasons;
  for (const Contender& contender : contenders) {
    if (has_result(contender.report) || contender.report.deadlock) return;
    if (!contender.refusal) continue;
    for (const Diagnostic& reason : contender.refusal->diagnostics()) {
      const bool known = std::any_of(reasons.begin(), reasons.end(), [&](const Diagnostic& one) {
        return one.place == reason.place && one.message == reason.message;
      });
      if (!known) reasons.push_back(reason);
    }
  }
  if (!reasons.empty()) throw InputError(std::move(reasons));
}

// "1f1b,zb-h1"
std::string schedules_among(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) {
    if (find_schedule(word) != nullptr) all += (all.empty() ? "" : ",") + word;
  }
  return all;
}

void add_contenders_of(const std::string& file, const CompareFlags& flags, std::size_t most_kept_ops,
                       CompareAnswer& answer, Progress& progress) {
  const Scenario scenario = check_scenario(overridden(read_scenario_file(file), flags.scenario));
  answer.terms = terms_of(flags, scenario, most_kept_ops);
  std::vector<std::string> names = scenario.schedules;
  if (names.empty()) names.emplace_back("1f1b");
  for (const std::string& name : names) {
    answer.contenders.push_back(run_contender(scenario, name, answer.terms, progress));
    Contender& contender = answer.contenders.back();
    contender.config = file;
    contender.work = contender.samples;
    if (contender.refusal) contender.refusal = placed_in_file(*contender.refusal, file, flags.scenario);
  }
}

}  // namespace

FlagRows asked_rows(CompareFlags& flags) {
  FlagRows rows = flag_rows(flags.scenario, ScenarioVerb::kSeveralSchedules);
  rows.push_back(
      FlagGroup()("FILE", "FILE.toml", "scenario files, compared as they are", &flags.configs, FlagCount::kAll));
  return rows;
}

FlagRows terms_rows(CompareFlags& flags) {
  const FlagGroup row("Run");
  return {
      row("--equal", "WHAT", "equal devices (default), stages or memory", &flags.equal, OneOf{kEqualWords},
          Preset{"devices"}),
      row("--runs-in", "NAME", "only what runs there today: megatron, paddle, ...", &flags.runs_in,
          OneOf{kFrameworkWords}),
      row("--memory-limit", FlagUnit::kSize, "memory per device: 76GiB; bare: device shares", &flags.memory_limit),
  };
}

CompareRequest check_compare(const CompareFlags& flags, std::size_t most_kept_ops) {
  CompareRequest request{check_scenario(flags.scenario), {}, {}};
  request.terms = terms_of(flags, request.scenario, most_kept_ops);
  if (!flags.runs_in.empty()) request.terms.runs_in = parse_framework(flags.runs_in, "--runs-in");
  request.scenario.framework = request.terms.runs_in;
  request.names = contender_names(request.scenario, request.terms.runs_in, request.terms.all);
  check_compared_params(request.scenario, request.names);
  return request;
}

void check_compared_configs(const CompareFlags& flags) {
  if (parse_equal(flags.equal) == Equal::kDevices) return;
  fail("C001", "--equal", "scenario files are compared as they are, per GPU and second", "leave --equal out");
}

CompareAnswer answer_compare(const CompareRequest& request, Progress& progress) {
  CompareAnswer answer{{}, std::nullopt, request.terms};
  Terms& terms = answer.terms;
  if (terms.equal == Equal::kMemory && !terms.memory_limit) {
    terms.memory_limit = memory_of_1f1b(request.scenario, progress);
  }
  for (const std::string& name : request.names) {
    answer.contenders.push_back(run_contender(request.scenario, name, terms, progress));
  }
  require_some_result(answer.contenders);
  if (terms.equal == Equal::kDevices) require_equal_work(answer.contenders);
  if (terms.all || terms.memory_limit) rank(answer.contenders);
  settle_size(answer.contenders, terms);
  answer.nearest = nearest_to_fit(answer.contenders);
  if (answer.nearest) try_remedies(request.scenario, terms, answer.contenders[*answer.nearest], progress);
  mark_best_in(answer.contenders);
  return answer;
}

CompareAnswer answer_configs(const CompareFlags& flags, std::size_t most_kept_ops, Progress& progress) {
  CompareAnswer answer;
  for (const std::string& file : flags.configs) {
    if (find_schedule(file) != nullptr && !std::filesystem::exists(file)) {
      fail("C061", "debubble compare", "\"" + file + "\" is a schedule, not a scenario file",
           "write --schedules " + schedules_among(flags.configs));
    }
    try {
      add_contenders_of(file, flags, most_kept_ops, answer, progress);
    } catch (const InputError& error) {
      throw placed_in_file(error, file, flags.scenario);
    }
  }
  require_some_result(answer.contenders);
  rank(answer.contenders);
  mark_best_in(answer.contenders);
  return answer;
}

std::string compare_json(const CompareAnswer& answer, const std::string& command_line) {
  std::vector<Report> reports;
  std::vector<ScheduleNeeds> needs;
  std::vector<std::string> configs;
  for (const Contender& contender : answer.contenders) {
    if (!contender.config.empty()) configs.push_back(contender.config);
    reports.push_back(contender.report);
    needs.push_back(contender.needs);
  }
  return reports_json(reports, needs, {std::string(kVersion), command_line}, beside_fastest(answer.contenders),
                      configs);
}

std::string compare_title(const CompareFlags& flags, const CompareAnswer& answer) {
  if (!flags.configs.empty()) {
    return "compare " + counted(answer.contenders.size(), "configuration") + ", by samples per GPU and second";
  }
  const Terms& terms = answer.terms;
  const std::string limit = terms.memory_limit ? ", at most " + format_size(*terms.memory_limit) + " on each" : "";
  const std::string p = std::to_string(terms.devices);
  const std::string m = counted(terms.microbatches, "microbatch");
  switch (terms.equal) {
    case Equal::kStages:
      return "compare with " + p + " stages, " + m + limit + "; the devices differ";
    case Equal::kMemory:
      return "compare on " + p + " devices, the work of " + m + ", cut to fit " + format_size(*terms.memory_limit) +
             (flags.memory_limit.empty() ? " (the peak of 1f1b)" : "");
    case Equal::kDevices:
      break;
  }
  return "compare on " + p + " devices: " + m + limit;
}

}  // namespace debubble
