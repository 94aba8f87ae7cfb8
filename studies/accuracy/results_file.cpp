#include "studies/accuracy/results_file.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "formats/json/json_reader.hpp"
#include "formats/json/json_tree.hpp"
#include "formats/problems/json_dialect.hpp"
#include "formats/problems/problem_list.hpp"
#include "formats/text/text.hpp"
#include "scenario/check_scenario.hpp"
#include "scenario/request/json_flags.hpp"
#include "sim/core/at.hpp"
#include "studies/check/suite.hpp"

namespace debubble {
namespace {

constexpr JsonDialect kResultsDialect{.what = "results file", .description = "docs/accuracy.md"};
constexpr std::array<Quantity, 3> kQuantities{Quantity::kStepTime, Quantity::kPeakMemory, Quantity::kBubble};

// The member of "measured" that holds it.
const char* quantity_key(Quantity quantity) {
  return at(std::array{"step_time_s", "peak_allocated_gib", "bubble_ratio"}, quantity);
}

std::optional<double> positive_member(JsonObjectReader& reader, const char* key) {
  const JsonValue* value = reader.member(key, false);
  if (value == nullptr) return std::nullopt;
  const double number = number_of(*value).value_or(0);
  if (number > 0) return number;
  reader.complain("P012", key, in_quotes(key) + " must be a number above 0; got " + describe(*value),
                  "what is not known is left out");
  return std::nullopt;
}

// A list of texts, where it is there; what is not text is reported.
std::vector<std::string> texts_member(JsonObjectReader& reader, const char* key) {
  std::vector<std::string> list;
  const JsonValue* array = reader.optional_array(key);
  if (array == nullptr) return list;
  for (const JsonValue& item : array->children) {
    if (item.kind == JsonValue::Kind::kString) {
      list.push_back(item.text);
    } else {
      reader.complain("P007", key, in_quotes(key) + " must hold texts; got " + describe(item), "write \"compute\"");
    }
  }
  return list;
}

// Checked against simulate's flags here, so that a misspelt one is reported with its place.
std::vector<std::string> flags_of(JsonObjectReader& reader, const std::string& file, ProblemList& problems) {
  const JsonValue* value = reader.member("flags", true);
  if (value == nullptr) return {};
  ScenarioFlags scratch;
  std::vector<std::string> arguments =
      read_json_flags(*value, reader.pointer_to("flags"), flag_rows(scratch), problems);
  for (std::string& argument : arguments) {
    for (const std::string flag : {"--model=", "--profile=", "--efficiency=", "--kernels="}) {
      if (argument.starts_with(flag) && (argument.ends_with(".json") || argument.ends_with(".csv"))) {
        argument = flag + beside(file, argument.substr(flag.size()));
      }
    }
  }
  return arguments;
}

struct SourceFlags {
  ResultSource source;
  std::vector<std::string> arguments;
};

void read_targets(JsonObjectReader& reader, const std::string& group, ResultSource& source) {
  for (const Quantity quantity : kQuantities) {
    const std::optional<double> target = positive_member(reader, to_string(quantity));
    if (target) source.targets.push_back({group, quantity, *target});
  }
  reader.finish();
}

// {"dense": {"step_time": 8}}: by the groups that the source's records name.
void read_group_targets(const JsonValue& value, const std::string& pointer, ResultSource& source,
                        ProblemList& problems) {
  JsonObjectReader groups(value, pointer, problems);
  for (const JsonValue& targets : value.children) {
    if (!groups.is_object()) return;
    JsonObjectReader inner(targets, pointer + "/" + targets.key, problems);
    read_targets(inner, targets.key, source);
  }
}

SourceFlags read_result_source(const JsonValue& value, const std::string& pointer, const std::string& file,
                               ProblemList& problems) {
  JsonObjectReader reader(value, pointer, problems);
  SourceFlags read;
  ResultSource& source = read.source;
  source.name = reader.text("name");
  source.title = reader.text("title");
  source.where = reader.text("where");
  source.licence = reader.text("licence");
  source.kind = reader.text("kind");
  if (const JsonValue* targets = reader.member("targets", false)) {
    JsonObjectReader inner(*targets, reader.pointer_to("targets"), problems);
    read_targets(inner, "", source);
  }
  if (const JsonValue* targets = reader.member("group_targets", false)) {
    read_group_targets(*targets, reader.pointer_to("group_targets"), source, problems);
  }
  source.assumed = reader.optional_text("assumed");
  source.not_modelled = texts_member(reader, "not_modelled");
  read.arguments = flags_of(reader, file, problems);
  reader.finish();
  return read;
}

ResultRecord read_record(const JsonValue& value, const std::string& pointer, const std::string& file,
                         const std::map<std::string, std::vector<std::string>>& sources, ProblemList& problems) {
  JsonObjectReader reader(value, pointer, problems);
  ResultRecord record;
  record.id = reader.text("id");
  record.source = reader.text("source");
  const auto source = sources.find(record.source);
  if (source != sources.end()) {
    record.arguments = source->second;
  } else if (!record.source.empty()) {
    reader.complain("G014", "source", "no source is named " + in_quotes(record.source), "\"sources\" lists them");
  }
  for (std::string& argument : flags_of(reader, file, problems)) record.arguments.push_back(std::move(argument));
  if (const JsonValue* measured = reader.member("measured", true)) {
    JsonObjectReader inner(*measured, reader.pointer_to("measured"), problems);
    for (const Quantity quantity : kQuantities) {
      const std::optional<double> number = positive_member(inner, quantity_key(quantity));
      if (number) record.measured.push_back({quantity, *number});
    }
    // As the source prints it, for people; the step time is derived from it.
    (void)positive_member(inner, "tflops_per_gpu");
    (void)positive_member(inner, "tokens_per_s_per_gpu");
    inner.finish();
    if (record.measured.empty() && inner.is_object()) {
      inner.complain("P012", "", "nothing that can be predicted was measured", "list the record under \"unusable\"");
    }
  }
  record.group = reader.optional_text("group");
  record.software = reader.optional_text("software");
  record.note = reader.optional_text("note");
  reader.finish();
  return record;
}

// A target of records that there are none of would never be missed.
void check_groups(const ResultsFile& results, ProblemList& problems) {
  for (std::size_t k = 0; k < results.sources.size(); ++k) {
    const ResultSource& source = results.sources[k];
    for (const ResultTarget& target : source.targets) {
      if (target.group.empty()) continue;
      const bool known = std::any_of(results.records.begin(), results.records.end(), [&](const ResultRecord& record) {
        return record.source == source.name && record.group == target.group;
      });
      if (known) continue;
      problems.add_at_pointer("G014", "/sources/" + std::to_string(k) + "/group_targets",
                              "no record of this source is of the group " + in_quotes(target.group),
                              "records name it as their \"group\"");
    }
  }
}

void read_unusable(const JsonValue& value, const std::string& pointer, ResultsFile& results, ProblemList& problems) {
  JsonObjectReader reader(value, pointer, problems);
  results.unusable.push_back({reader.text("id"), reader.text("source"), reader.text("reason")});
  reader.finish();
}

template <typename Read>
void for_each_child(const JsonValue* array, const char* name, const Read& read) {
  if (array == nullptr) return;
  for (std::size_t k = 0; k < array->children.size(); ++k) {
    read(array->children[k], "/" + std::string(name) + "/" + std::to_string(k));
  }
}

void read_results_root(const JsonValue& root, const std::string& file, ResultsFile& results, ProblemList& problems) {
  JsonObjectReader reader(root, "", problems);
  if (!reader.is_object()) return;
  const std::string schema = reader.text("schema");
  if (!schema.empty() && schema != "debubble.results/1") {
    reader.complain("P010", "schema", "the schema is " + in_quotes(schema) + ", not \"debubble.results/1\"",
                    "this debubble reads version 1 of results");
  }
  (void)reader.optional_text("about");
  std::map<std::string, std::vector<std::string>> sources;
  for_each_child(reader.array("sources"), "sources", [&](const JsonValue& value, const std::string& pointer) {
    SourceFlags read = read_result_source(value, pointer, file, problems);
    sources.emplace(read.source.name, std::move(read.arguments));
    results.sources.push_back(std::move(read.source));
  });
  std::set<std::string> ids;
  for_each_child(reader.array("records"), "records", [&](const JsonValue& value, const std::string& pointer) {
    results.records.push_back(read_record(value, pointer, file, sources, problems));
    if (ids.insert(results.records.back().id).second) return;
    problems.add_at_pointer("G004", pointer + "/id", in_quotes(results.records.back().id) + " appears twice",
                            "give each record its own id");
  });
  check_groups(results, problems);
  for_each_child(
      reader.optional_array("unusable"), "unusable",
      [&](const JsonValue& value, const std::string& pointer) { read_unusable(value, pointer, results, problems); });
  reader.finish();
}

}  // namespace

const char* to_string(Quantity quantity) { return at(std::array{"step_time", "peak_memory", "bubble"}, quantity); }

ResultsFile read_results(std::string_view text, const std::string& file) {
  ProblemList problems(file, kResultsDialect);
  const std::optional<JsonValue> root = parse_json(text, problems);
  if (!root) problems.throw_if_any();
  ResultsFile results;
  read_results_root(*root, file, results, problems);
  problems.throw_if_any();
  std::stable_sort(results.records.begin(), results.records.end(),
                   [](const ResultRecord& a, const ResultRecord& b) { return a.id < b.id; });
  return results;
}

}  // namespace debubble
