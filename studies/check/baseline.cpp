#include "studies/check/baseline.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "formats/exporters/report_json.hpp"
#include "formats/json/json.hpp"
#include "sim/core/error.hpp"

namespace debubble {
namespace {

constexpr std::string_view kBaselineSchema = "debubble.baseline/1";

std::string scalar_text(const Json& json) { return json.text(); }

bool is_leaf(const Json& json) {
  return std::none_of(json.begin(), json.end(), [](const Json& child) { return child.is_structured(); });
}

// What holds no further containers is on one line, so that a file of hundreds of devices can be read.
void write(const Json& json, const std::string& margin, std::string& out) {
  if (!json.is_structured() || json.empty()) {
    out += scalar_text(json);
    return;
  }
  const bool object = json.is_object();
  const bool one_line = is_leaf(json);
  const std::string inner = margin + "  ";
  bool first = true;
  out += object ? '{' : '[';
  for (const auto& [key, value] : json.items()) {
    if (!first) out += one_line ? ", " : ",";
    if (!one_line) out += "\n" + inner;
    if (object) out += scalar_text(key) + ": ";
    write(value, inner, out);
    first = false;
  }
  if (!one_line) out += "\n" + margin;
  out += object ? '}' : ']';
}

// Their sentences have the facts that are in their arguments: a new argument changes no prediction.
Json without_arguments(const Json& findings) {
  Json kept = Json::array();
  for (Json finding : findings) {
    finding.erase("arguments");
    kept.push_back(std::move(finding));
  }
  return kept;
}

Json canonical(const NamedPrediction& prediction) {
  Json json = Json::parse(report_json(prediction.report, {}));
  // `limit` is a verdict on the numbers that are here; its rules of thumb may change where no number does.
  for (const char* key : {"schema_version", "tool", "command_line", "limit"}) json.erase(key);
  json["findings"] = without_arguments(json["findings"]);
  return json;
}

// Every number and text by its place: {"devices[2].idle_ns", "9000000"}.
using BaselineNumbers = std::vector<std::pair<std::string, std::string>>;

void flatten(const Json& json, const std::string& place, BaselineNumbers& out) {
  if (!json.is_structured() || json.empty()) {
    out.emplace_back(place, scalar_text(json));
    return;
  }
  for (const auto& [key, value] : json.items()) {
    if (json.is_object()) {
      flatten(value, place.empty() ? key : place + "." + key, out);
    } else if (value.is_object() && value.contains("what") && value["what"].is_string()) {
      // Assumptions go by what they are about: one more of them is one change.
      flatten(value, place + "[" + value["what"].string() + "]", out);
    } else {
      flatten(value, place + "[" + key + "]", out);
    }
  }
}

// The whole run's own numbers say most, its devices' details least.
int importance(const std::string& number) {
  if (number.starts_with("devices[")) return 2;
  return number.find_first_of(".[") == std::string::npos ? 0 : 1;
}

std::vector<NumberChange> changes_between(const Json& before, const Json& after) {
  BaselineNumbers old_numbers;
  BaselineNumbers new_numbers;
  flatten(before, "", old_numbers);
  flatten(after, "", new_numbers);
  std::map<std::string, std::string> accepted(old_numbers.begin(), old_numbers.end());
  std::vector<NumberChange> changes;
  std::set<std::string> seen;
  for (const auto& [number, value] : new_numbers) {
    const auto found = accepted.find(number);
    const std::string was = found == accepted.end() ? "" : found->second;
    if (was != value && seen.insert(number).second) changes.push_back({number, was, value});
    seen.insert(number);
  }
  for (const auto& [number, value] : old_numbers) {
    if (seen.insert(number).second) changes.push_back({number, value, ""});
  }
  std::stable_sort(changes.begin(), changes.end(), [](const NumberChange& a, const NumberChange& b) {
    return importance(a.number) < importance(b.number);
  });
  return changes;
}

// --accept overwrites nothing but a baseline, so it is no remedy for another kind of file.
[[noreturn]] void refuse_baseline(const std::string& text, const std::string& file, const std::string& reason) {
  const std::string other = "name another file in the suite: \"baseline\": \"FILE\"";
  throw InputError(Diagnostic{"P010", file, "this is not a baseline: " + reason,
                              may_replace(text) ? "make it anew with --accept, or " + other
                                                : "--accept does not overwrite it: move it away, or " + other});
}

// The accepted predictions by name.
std::map<std::string, Json> read_accepted(const std::string& text, const std::string& file) {
  const std::optional<Json> parsed = Json::parse_if_valid(text);
  if (!parsed) refuse_baseline(text, file, "it is not valid JSON (a merge conflict?)");
  const Json& json = *parsed;
  if (!json.is_object() || !json.contains("schema") || json["schema"] != kBaselineSchema) {
    refuse_baseline(text, file, "its schema is not \"debubble.baseline/1\"");
  }
  if (!json.contains("scenarios") || !json["scenarios"].is_array())
    refuse_baseline(text, file, "it has no list of scenarios");
  std::map<std::string, Json> accepted;
  for (const Json& scenario : json["scenarios"]) {
    const bool whole = scenario.is_object() && scenario.contains("name") && scenario["name"].is_string() &&
                       scenario.contains("prediction") && scenario["prediction"].is_object();
    if (!whole) refuse_baseline(text, file, "a scenario lacks its name or prediction");
    if (!accepted.emplace(scenario["name"].string(), scenario["prediction"]).second) {
      refuse_baseline(text, file, "a scenario appears twice");
    }
  }
  return accepted;
}

// JSON text is UTF-8, whatever a table's file was called.
std::string as_json_text(const std::string& text) { return Json::parse(Json(text).text()).string(); }

}  // namespace

std::string baseline_text(std::span<const NamedPrediction> predictions) {
  Json json;
  json["schema"] = kBaselineSchema;
  json["scenarios"] = json_list(predictions, [](const NamedPrediction& prediction) -> Json {
    return {{"name", prediction.name}, {"prediction", canonical(prediction)}};
  });
  std::string text;
  write(json, "", text);
  return text + "\n";
}

BaselineComparison compare_with_baseline(std::span<const NamedPrediction> predictions,
                                         const std::optional<std::string>& accepted, const std::string& file) {
  BaselineComparison result;
  std::map<std::string, Json> before;
  if (accepted) before = read_accepted(*accepted, file);
  bool all_same = accepted.has_value();
  for (const NamedPrediction& prediction : predictions) {
    PredictionResult one;
    const auto found = before.find(as_json_text(prediction.name));
    if (found == before.end()) {
      one.state = accepted ? PredictionResult::State::kNew : PredictionResult::State::kNone;
    } else {
      one.changes = changes_between(found->second, canonical(prediction));
      one.state = one.changes.empty() ? PredictionResult::State::kSame : PredictionResult::State::kChanged;
      before.erase(found);
    }
    all_same = all_same && one.state == PredictionResult::State::kSame;
    result.predictions.push_back(std::move(one));
  }
  for (const auto& [name, json] : before) result.gone.push_back(name);
  result.rewritten_by_hand = all_same && result.gone.empty() && baseline_text(predictions) != *accepted;
  return result;
}

bool may_replace(std::string_view accepted) {
  constexpr std::size_t kHead = 256;
  const bool blank = accepted.find_first_not_of(" \t\r\n") == std::string_view::npos;
  return blank || accepted.substr(0, kHead).find(kBaselineSchema) != std::string_view::npos;
}

bool is_baseline(const std::string& accepted) {
  try {
    read_accepted(accepted, "");
    return true;
  } catch (const InputError&) {
    return false;
  }
}

}  // namespace debubble
