#include "studies/accuracy/calibration.hpp"

#include <charconv>
#include <optional>

#include "formats/json/json_reader.hpp"
#include "formats/json/json_tree.hpp"
#include "formats/problems/problem_list.hpp"
#include "formats/text/numbers.hpp"
#include "formats/text/text.hpp"
#include "studies/accuracy/dialect.hpp"

namespace debubble {
namespace {

constexpr std::string_view kRule =
    "Fitted by `debubble accuracy --fit` to the first, third, fifth, ... set-up of a source, ordered by id; the others "
    "are judged. The mean absolute error of the step time is made least.";

double factor(JsonObjectReader& reader, const char* key) {
  const JsonValue* value = reader.member(key, false);
  if (value == nullptr) return 1;
  const bool is_number = value->kind == JsonValue::Kind::kInteger || value->kind == JsonValue::Kind::kFraction;
  double number = 0;
  if (is_number) std::from_chars(value->text.data(), value->text.data() + value->text.size(), number);
  if (number > 0 && number <= 100) return number;
  reader.complain("P012", key, in_quotes(key) + " must be a number above 0 and at most 100; got " + describe(*value),
                  "1 changes nothing");
  return 1;
}

}  // namespace

std::string flag_text(const Calibration& calibration) {
  return "compute=" + plain(calibration.compute) + ",network=" + plain(calibration.network);
}

Calibrations read_calibrations(std::string_view text, const std::string& file) {
  ProblemList problems(file, results_dialect());
  const std::optional<JsonValue> root = parse_json(text, problems);
  if (!root) problems.throw_if_any();
  Calibrations calibrations;
  JsonObjectReader reader(*root, "", problems);
  if (reader.is_object()) {
    const std::string schema = reader.text("schema");
    if (!schema.empty() && schema != "debubble.calibration/1") {
      reader.complain("P010", "schema", "the schema is " + in_quotes(schema) + ", not \"debubble.calibration/1\"",
                      "write it anew with --fit");
    }
    (void)reader.optional_text("rule");
    const JsonValue* sources = reader.array("sources");
    for (std::size_t k = 0; sources != nullptr && k < sources->children.size(); ++k) {
      JsonObjectReader source(sources->children[k], "/sources/" + std::to_string(k), problems);
      const std::string name = source.text("source");
      calibrations[name] = {factor(source, "compute"), factor(source, "network")};
      source.finish();
    }
    reader.finish();
  }
  problems.throw_if_any();
  return calibrations;
}

std::string calibrations_json(const Calibrations& calibrations) {
  std::string list;
  for (const auto& [source, calibration] : calibrations) {
    list += std::string(list.empty() ? "" : ",") + "\n    {\"source\": " + json_string(source) +
            ", \"compute\": " + plain(calibration.compute) + ", \"network\": " + plain(calibration.network) + "}";
  }
  return "{\n  \"schema\": \"debubble.calibration/1\",\n  \"rule\": " + json_string(kRule) + ",\n  \"sources\": [" +
         list + "\n  ]\n}\n";
}

}  // namespace debubble
