#include "studies/accuracy/measured_list.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include "formats/json/json_reader.hpp"
#include "formats/json/json_tree.hpp"
#include "formats/problems/problem_list.hpp"
#include "formats/text/text.hpp"
#include "scenario/check_scenario.hpp"
#include "scenario/request/json_flags.hpp"
#include "studies/accuracy/dialect.hpp"
#include "studies/check/suite.hpp"

namespace debubble {
namespace {

constexpr IntegerRule kReplicaRule{"replicas", 0, 1'000'000, "replicas are counted from 0"};
constexpr IntegerRule kMicrobatchRule{"microbatches", 1, 1'000'000, "as many as the step had"};
constexpr IntegerRule kStepRule{"nanoseconds", 1, kLongestDuration, "the step as it was measured"};

std::vector<Nanoseconds> times_by_stage(JsonObjectReader& reader, const char* key) {
  std::vector<Nanoseconds> times;
  const JsonValue* array = reader.array(key);
  for (const JsonValue& item : array == nullptr ? std::vector<JsonValue>{} : array->children) {
    if (item.kind == JsonValue::Kind::kInteger && item.integer >= 0 && item.integer <= kLongestDuration) {
      times.push_back(item.integer);
    } else {
      reader.complain("P012", key, in_quotes(key) + " must hold nanoseconds, one for each stage; got " + describe(item),
                      "write [10572000, 10591000]");
    }
  }
  return times;
}

MeasuredSource read_measured_source(const JsonValue& value, const std::string& pointer, ProblemList& problems) {
  JsonObjectReader reader(value, pointer, problems);
  MeasuredSource source;
  source.name = reader.text("name");
  source.title = reader.text("title");
  source.where = reader.text("where");
  source.licence = reader.text("licence");
  source.not_modelled = texts_member(reader, "not_modelled");
  source.calibrated = reader.optional_text("calibrated");
  source.calibrated_on = texts_member(reader, "calibrated_on");
  if (source.calibrated.empty() != source.calibrated_on.empty()) {
    reader.complain("P012", "calibrated_on", "a constant and the runs that it was taken from belong together",
                    "give both \"calibrated\" and \"calibrated_on\", or neither");
  }
  reader.finish();
  return source;
}

void read_stage_times(JsonObjectReader& reader, MeasuredRow& row) {
  row.microbatches = static_cast<int>(reader.integer("microbatches", kMicrobatchRule));
  row.forward = times_by_stage(reader, "forward_ns");
  row.backward = times_by_stage(reader, "backward_ns");
  row.step = reader.integer("step_ns", kStepRule);
  if (row.forward.empty() || row.forward.size() != row.backward.size()) {
    reader.complain("P012", "backward_ns", "forward_ns and backward_ns must have one time for each stage",
                    "there is at least one stage");
  }
}

void read_row_scenario(JsonObjectReader& reader, const JsonValue& scenario, const std::string& file, MeasuredRow& row,
                       ProblemList& problems) {
  row.flags.emplace();
  row.arguments = read_json_flags(scenario, reader.pointer_to("scenario"), flag_rows(*row.flags), problems);
  place_beside(file, *row.flags);
  row.step = reader.integer("step_ns", kStepRule);
}

MeasuredRow read_measured_row(const JsonValue& value, const std::string& pointer, const std::string& file,
                              ProblemList& problems) {
  JsonObjectReader reader(value, pointer, problems);
  MeasuredRow row;
  row.id = reader.text("id");
  row.source = reader.text("source");
  row.pointer = file + "#" + pointer;
  row.schedule = reader.optional_text("schedule");
  const std::string log = reader.optional_text("log");
  if (const JsonValue* scenario = reader.member("scenario", false)) {
    read_row_scenario(reader, *scenario, file, row, problems);
  } else if (!log.empty()) {
    row.log = beside(file, log);
  } else if (row.schedule.empty()) {
    for (const std::string& name : texts_member(reader, "files")) row.files.push_back(beside(file, name));
    row.replica = static_cast<int>(reader.optional_integer("replica", kReplicaRule).value_or(0));
    if (row.files.empty()) {
      reader.complain("P006", "files", "a run has \"files\", a \"scenario\", or a \"schedule\" and stage times",
                      "name the files of the recording");
    }
  } else {
    read_stage_times(reader, row);
  }
  reader.finish();
  return row;
}

void check_calibrations(const MeasuredList& list, ProblemList& problems) {
  for (std::size_t k = 0; k < list.sources.size(); ++k) {
    for (const std::string& id : list.sources[k].calibrated_on) {
      const bool known = std::any_of(list.runs.begin(), list.runs.end(), [&](const MeasuredRow& row) {
        return row.id == id && row.source == list.sources[k].name;
      });
      if (known) continue;
      problems.add_at_pointer("P012", "/sources/" + std::to_string(k) + "/calibrated_on",
                              "this source has no run " + in_quotes(id), "name runs of this source by their ids");
    }
  }
}

void check_names(const MeasuredList& list, ProblemList& problems) {
  std::set<std::string> sources;
  for (const MeasuredSource& source : list.sources) sources.insert(source.name);
  std::set<std::string> ids;
  for (std::size_t k = 0; k < list.runs.size(); ++k) {
    const std::string pointer = "/runs/" + std::to_string(k);
    if (!sources.contains(list.runs[k].source)) {
      problems.add_at_pointer("P012", pointer + "/source", "there is no source " + in_quotes(list.runs[k].source),
                              "list it under \"sources\"");
    }
    if (!ids.insert(list.runs[k].id).second) {
      problems.add_at_pointer("G004", pointer + "/id", "the run " + in_quotes(list.runs[k].id) + " appears twice",
                              "ids are of one run");
    }
  }
  check_calibrations(list, problems);
}

}  // namespace

bool is_calibrated_on(const MeasuredSource& source, const std::string& id) {
  return std::find(source.calibrated_on.begin(), source.calibrated_on.end(), id) != source.calibrated_on.end();
}

MeasuredList read_measured_list(std::string_view text, const std::string& file) {
  ProblemList problems(file, results_dialect());
  MeasuredList list;
  if (const std::optional<JsonValue> root = parse_json(text, problems)) {
    JsonObjectReader top(*root, "", problems);
    if (top.has_format("schema", "debubble.measured/1", "give a list like traces/measured/runs.json")) {
      std::size_t index = 0;
      if (const JsonValue* sources = top.array("sources")) {
        for (const JsonValue& value : sources->children) {
          list.sources.push_back(read_measured_source(value, "/sources/" + std::to_string(index++), problems));
        }
      }
      index = 0;
      if (const JsonValue* runs = top.array("runs")) {
        for (const JsonValue& value : runs->children) {
          list.runs.push_back(read_measured_row(value, "/runs/" + std::to_string(index++), file, problems));
        }
      }
      top.finish();
      check_names(list, problems);
    }
  }
  problems.throw_if_any();
  return list;
}

}  // namespace debubble
