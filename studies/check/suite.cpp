#include "studies/check/suite.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "formats/json/json_reader.hpp"
#include "formats/json/json_tree.hpp"
#include "formats/problems/problem_list.hpp"
#include "formats/text/text.hpp"
#include "scenario/check_scenario.hpp"
#include "scenario/job/make_schedule.hpp"
#include "scenario/request/json_flags.hpp"
#include "studies/check/suite_lines.hpp"

namespace debubble {
namespace {

constexpr std::string_view kSuiteSchema = "debubble.suite/1";
constexpr JsonDialect kSuiteDialect{
    .what = "suite",
    .description = "docs/suite.schema.json",
};

// Whether it is there.
bool read_tolerance(JsonObjectReader& reader, const char* key, double& tolerance) {
  const JsonValue* value = reader.member(key, false);
  if (value == nullptr) return false;
  const double number = number_of(*value).value_or(-1);
  if (number >= 0 && number <= 100) {
    tolerance = number;
    return true;
  }
  reader.complain("P004", key, in_quotes(key) + " must be a number from 0 to 100; got " + describe(*value),
                  "percentage points for the bubble, per cent for step time and memory: 1.5");
  return true;
}

Tolerances read_tolerances(JsonObjectReader& parent, const Tolerances& defaults, Tolerances::Asker asker,
                           ProblemList& problems) {
  Tolerances tolerances = defaults;
  const JsonValue* value = parent.member("tolerances", false);
  if (value == nullptr) return tolerances;
  JsonObjectReader reader(*value, parent.pointer_to("tolerances"), problems);
  read_tolerance(reader, "bubble_pp", tolerances.bubble_pp);
  read_tolerance(reader, "step_percent", tolerances.step_percent);
  if (read_tolerance(reader, "memory_percent", tolerances.memory_percent)) tolerances.memory_asked_by = asker;
  reader.finish();
  return tolerances;
}

bool read_required(JsonObjectReader& reader) {
  const JsonValue* value = reader.member("required", false);
  if (value == nullptr) return true;
  if (value->kind == JsonValue::Kind::kBoolean) return value->text == "true";
  reader.complain("P007", "required", "\"required\" must be true or false; got " + describe(*value), "without quotes");
  return true;
}

// A table's or profile's path is the suite's business, a catalog name is not.
void resolve_paths(SuiteScenario& scenario, const std::string& file) {
  for (const std::string& schedule : scenario.flags->schedules) {
    if (is_table_file(schedule)) scenario.table = schedule;
  }
  place_beside(file, *scenario.flags);
}

// Unlike `debubble live` a gate never chooses the clock by the machine's cores: without a word of the suite it is the
// logical one, wherever there is a choice.
void choose_clock_for_gate(SuiteScenario& scenario) {
  LiveFlags& live = *scenario.live;
  if (live.backend == "cuda" || live.backend == "torch" || live.gpus == "each" || !live.clock.empty() ||
      !live.costs.empty())
    return;
  live.clock = "logical";
  scenario.live_arguments.emplace_back("--clock=logical");
}

// What a scenario is made of decides what can be compared with what.
void check_suite_combination(JsonObjectReader& reader, const SuiteScenario& scenario, bool has_live) {
  if (!scenario.measured.empty() && has_live) {
    reader.complain("P012", "live", "both \"measured\" and \"live\" say what to compare with",
                    "keep one of them, or make two scenarios of it");
  }
  if (scenario.flags) return;
  if (has_live) {
    reader.complain("P006", "live", "there is nothing to run: a fresh run needs \"scenario\"",
                    "add \"scenario\": {\"schedule\": \"1f1b\"}");
  } else if (scenario.measured.empty()) {
    reader.complain("P006", "", "neither \"scenario\" nor \"measured\" is there",
                    "say what to predict: \"scenario\": {\"schedule\": \"1f1b\"}, or \"measured\": \"FILE.run.json\"");
  }
}

constexpr IntegerRule kReplicas{"replicas", 0, 1'000'000, "replicas are counted from 0"};

// One file, or a list of the ranks' files.
std::vector<std::string> read_measured_files(JsonObjectReader& reader, const std::string& suite) {
  const JsonValue* value = reader.member("measured", false);
  if (value == nullptr) return {};
  std::vector<std::string> files;
  const bool one = value->kind == JsonValue::Kind::kString;
  for (const JsonValue& item : one ? std::vector<JsonValue>{*value} : value->children) {
    if (item.kind != JsonValue::Kind::kString || item.text.empty()) {
      reader.complain("P007", "measured",
                      "\"measured\" must name a file, or list the files of all ranks; got " + describe(item),
                      "write \"measured\": \"zb-h1.run.json\"");
      return {};
    }
    files.push_back(beside(suite, item.text));
  }
  if (files.empty()) {
    reader.complain("P007", "measured",
                    "\"measured\" must name a file, or list the files of all ranks; got " + describe(*value),
                    "write \"measured\": \"zb-h1.run.json\"");
  }
  return files;
}

SuiteScenario read_scenario(const JsonValue& value, const std::string& pointer, const Suite& suite,
                            const Tolerances& defaults, ProblemList& problems) {
  SuiteScenario scenario;
  scenario.pointer = pointer;
  JsonObjectReader reader(value, pointer, problems);
  if (!reader.is_object()) return scenario;
  scenario.name = reader.text("name");
  if (const JsonValue* flags = reader.member("scenario", false)) {
    scenario.flags.emplace();
    read_json_flags(*flags, reader.pointer_to("scenario"), flag_rows(*scenario.flags), problems);
    resolve_paths(scenario, suite.file);
  }
  scenario.measured = read_measured_files(reader, suite.file);
  scenario.replica = static_cast<int>(reader.optional_integer("replica", kReplicas).value_or(0));
  const JsonValue* live = reader.member("live", false);
  if (live != nullptr) {
    scenario.live.emplace();
    scenario.live_arguments = read_json_flags(*live, reader.pointer_to("live"), flag_rows(*scenario.live), problems);
    std::string& model = scenario.live->model;
    if (model.ends_with(".json")) model = beside(suite.file, model);
    choose_clock_for_gate(scenario);
  }
  scenario.tolerances = read_tolerances(reader, defaults, Tolerances::Asker::kScenario, problems);
  scenario.required = read_required(reader);
  reader.finish();
  check_suite_combination(reader, scenario, live != nullptr);
  return scenario;
}

void read_scenarios(const JsonValue& list, const Tolerances& defaults, Suite& suite, ProblemList& problems) {
  if (list.children.empty()) {
    problems.add_at_pointer("P016", "/scenarios", "there are no scenarios", "a suite has at least one");
  }
  std::map<std::string, std::string> places;  // by name
  for (std::size_t k = 0; k < list.children.size(); ++k) {
    const std::string pointer = "/scenarios/" + std::to_string(k);
    SuiteScenario scenario = read_scenario(list.children[k], pointer, suite, defaults, problems);
    const auto [place, is_new] = places.emplace(scenario.name, pointer);
    if (!is_new && !scenario.name.empty()) {
      problems.add_at_pointer("G004", pointer + "/name",
                              "the name " + in_quotes(scenario.name) + " is used at " + place->second + " already",
                              "the baseline goes by names: give each its own");
    }
    suite.scenarios.push_back(std::move(scenario));
  }
}

void read_suite_root(const JsonValue& root, Suite& suite, ProblemList& problems) {
  JsonObjectReader reader(root, "", problems);
  if (!reader.is_object()) return;
  const std::string schema = reader.text("schema");
  if (!schema.empty() && schema != kSuiteSchema) {
    reader.complain("P010", "schema", "the schema is " + in_quotes(schema) + ", not \"debubble.suite/1\"",
                    "this debubble reads version 1 of suites");
  }
  suite.name = reader.text("name");
  const std::string baseline = reader.optional_text("baseline");
  suite.baseline = baseline.empty() ? default_baseline(suite.file) : beside(suite.file, baseline);
  const Tolerances defaults = read_tolerances(reader, {}, Tolerances::Asker::kSuite, problems);
  const JsonValue* list = reader.array("scenarios");
  if (list != nullptr) read_scenarios(*list, defaults, suite, problems);
  reader.finish();
}

}  // namespace

std::string beside(const std::string& file, const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  return (folder / path).lexically_normal().string();
}

void place_beside(const std::string& file, ScenarioFlags& flags) {
  for (std::string& schedule : flags.schedules) {
    if (is_table_file(schedule)) schedule = beside(file, schedule);
  }
  for (std::string& profile : flags.profile) profile = beside(file, profile);
  if (flags.transformer.model.ends_with(".json")) flags.transformer.model = beside(file, flags.transformer.model);
  if (!flags.transformer.efficiency.empty()) flags.transformer.efficiency = beside(file, flags.transformer.efficiency);
  std::string& kernels = flags.transformer.kernels;
  if (!kernels.empty() && kernels != "off") kernels = beside(file, kernels);
}

std::string default_baseline(const std::string& file) {
  const std::string ending = ".json";
  const bool ends = file.size() > ending.size() && file.ends_with(ending);
  return (ends ? file.substr(0, file.size() - ending.size()) : file) + ".baseline.json";
}

std::vector<Diagnostic> placed_in_suite(std::vector<Diagnostic> problems, const Suite& suite,
                                        const SuiteScenario& scenario) {
  for (Diagnostic& problem : problems) {
    const std::string here = suite.file + "#" + scenario.pointer;
    if (problem.place.empty()) problem.place = here;
    const bool of_measured =
        std::find(scenario.measured.begin(), scenario.measured.end(), problem.place) != scenario.measured.end() ||
        problem.place == "FILE";
    if (problem.code == "C005" && of_measured) problem.place = here + "/measured";
    if (problem.place == "--replica") problem.place = here + "/replica";
    if (!problem.place.starts_with("--")) continue;
    const std::string flag = problem.place.substr(2, problem.place.find_first_of(" :") - 2);
    const bool of_live =
        scenario.live &&
        std::any_of(scenario.live_arguments.begin(), scenario.live_arguments.end(), [&](const std::string& argument) {
          return argument == "--" + flag || argument.starts_with("--" + flag + "=");
        });
    problem.place = here + (of_live ? "/live/" : "/scenario/") + flag;
  }
  return problems;
}

Suite read_suite(std::string_view text, const std::string& file) {
  ProblemList problems(file, kSuiteDialect);
  const std::optional<JsonValue> root = parse_json(text, problems);
  if (!root) problems.throw_if_any();
  Suite suite;
  suite.file = file;
  read_suite_root(*root, suite, problems);
  problems.throw_if_any();
  const std::vector<int> lines = scenario_lines(text);
  for (std::size_t k = 0; k < suite.scenarios.size(); ++k) suite.scenarios[k].line = lines[k];
  return suite;
}

}  // namespace debubble
