#include "studies/accuracy/calibration.hpp"

#include <algorithm>
#include <optional>

#include "formats/json/json_reader.hpp"
#include "formats/json/json_tree.hpp"
#include "formats/problems/problem_list.hpp"
#include "formats/text/text.hpp"
#include "scenario/check_scenario.hpp"
#include "sim/core/quantities.hpp"
#include "studies/accuracy/dialect.hpp"

namespace debubble {
namespace {

constexpr IntegerRule kCountRule{"records or sources", 1, 1'000'000, "what the constant was fitted to"};

double factor(JsonObjectReader& reader, const char* key) {
  const JsonValue* value = reader.member(key, true);
  if (value == nullptr) return 1;
  const double number = number_of(*value).value_or(0);
  if (number > 0 && number <= 100) return number;
  reader.complain("P012", key, in_quotes(key) + " must be a number above 0 and at most 100; got " + describe(*value),
                  "1 changes nothing");
  return 1;
}

std::string left_out_source(JsonObjectReader& reader) {
  const JsonValue* value = reader.member("left_out", true);
  if (value == nullptr || value->kind == JsonValue::Kind::kNull) return "";
  if (value->kind == JsonValue::Kind::kString && !value->text.empty()) return value->text;
  reader.complain("P007", "left_out", "\"left_out\" must name a source; got " + describe(*value),
                  "write null where none is left out");
  return "";
}

FittedConstant read_constant(const JsonValue& value, const std::string& pointer, ProblemList& problems) {
  JsonObjectReader reader(value, pointer, problems);
  FittedConstant constant;
  constant.machine = {reader.text("hardware"), reader.text("format")};
  constant.left_out = left_out_source(reader);
  constant.compute = factor(reader, "compute");
  constant.records = static_cast<int>(reader.integer("records", kCountRule));
  constant.sources = static_cast<int>(reader.integer("sources", kCountRule));
  reader.finish();
  return constant;
}

}  // namespace

HardwareFormat machine_of(const ResultRecord& record) {
  ScenarioFlags flags;
  set_flags(flag_rows(flags), record.arguments);
  const TransformerFlags& model = flags.transformer;
  if (model.hardware.empty() || model.model.empty()) return {};
  std::string format = model.dtype.empty() ? "bf16" : model.dtype;
  if (model.fp8_recipe == "mxfp8") format = "mxfp8";
  if (model.fp8_recipe == "blockwise") format = "fp8-blockwise";
  return {model.hardware, format};
}

const FittedConstant* constant_without(const Calibrations& calibrations, const HardwareFormat& machine,
                                       const std::string& source) {
  for (const FittedConstant& one : calibrations) {
    if (one.machine == machine && one.left_out == source) return &one;
  }
  return nullptr;
}

std::string flag_text(const FittedConstant& constant) { return "compute=" + plain(constant.compute); }

Calibrations read_calibrations(std::string_view text, const std::string& file) {
  ProblemList problems(file, results_dialect());
  const std::optional<JsonValue> root = parse_json(text, problems);
  if (!root) problems.throw_if_any();
  Calibrations calibrations;
  JsonObjectReader reader(*root, "", problems);
  if (reader.is_object() &&
      reader.has_format("schema", "debubble.calibration/2", "write the file anew with tools/accuracy/run")) {
    (void)reader.optional_text("rule");
    const JsonValue* constants = reader.array("constants");
    for (std::size_t k = 0; constants != nullptr && k < constants->children.size(); ++k) {
      const std::string pointer = "/constants/" + std::to_string(k);
      const FittedConstant one = read_constant(constants->children[k], pointer, problems);
      if (constant_without(calibrations, one.machine, one.left_out) != nullptr) {
        problems.add_at_pointer("G004", pointer, "this hardware, format and left-out source appear twice",
                                "there is one constant for each");
      }
      calibrations.push_back(one);
    }
    reader.finish();
  }
  problems.throw_if_any();
  return calibrations;
}

}  // namespace debubble
