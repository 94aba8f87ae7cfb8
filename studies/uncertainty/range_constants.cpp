#include "studies/uncertainty/range_constants.hpp"

#include <cstddef>
#include <optional>

#include "formats/files/installed.hpp"
#include "formats/files/read_file.hpp"
#include "formats/json/json_reader.hpp"
#include "formats/json/json_tree.hpp"
#include "formats/problems/problem_list.hpp"
#include "formats/text/text.hpp"
#include "sim/core/quantities.hpp"

namespace debubble {
namespace {

constexpr const char* kRangesFormat = "debubble.ranges/1";
constexpr JsonDialect kRangesDialect{
    .what = "ranges of step times",
    .description = "docs/models.md",
};
constexpr IntegerRule kRangeCount{"records, sources, pairs or set-ups", 0, 1'000'000'000, "what was counted"};

double bounded_number(JsonObjectReader& reader, const char* key, double least, double most) {
  const JsonValue* value = reader.member(key, true);
  if (value == nullptr) return 0;
  const double number = number_of(*value).value_or(most + 1);
  if (number >= least && number <= most) return number;
  reader.complain(
      "P012", key,
      in_quotes(key) + " must be a number from " + plain(least) + " to " + plain(most) + "; got " + describe(*value),
      "write the file anew with tools/accuracy/run");
  return 0;
}

RangeEnds read_ends(const JsonValue& value, const std::string& pointer, ProblemList& problems) {
  constexpr double kFar = 1000;  // scatters
  JsonObjectReader reader(value, pointer, problems);
  RangeEnds ends;
  ends.experts = reader.flag("experts", "true of models with experts, false of dense ones");
  const JsonValue* left_out = reader.member("left_out", true);
  if (left_out != nullptr && left_out->kind == JsonValue::Kind::kString) ends.left_out = left_out->text;
  ends.low = bounded_number(reader, "low", -kFar, kFar);
  ends.high = bounded_number(reader, "high", -kFar, kFar);
  ends.records = static_cast<int>(reader.integer("records", kRangeCount));
  ends.sources = static_cast<int>(reader.integer("sources", kRangeCount));
  if (ends.low > ends.high) {
    reader.complain("P012", "low", "\"low\" is above \"high\"", "write the file anew with tools/accuracy/run");
  }
  reader.finish();
  return ends;
}

}  // namespace

const RangeEnds* RangeConstants::ends_of(bool experts, const std::string& left_out) const {
  for (const RangeEnds& one : ends) {
    if (one.experts == experts && one.left_out == left_out) return &one;
  }
  return nullptr;
}

RangeConstants read_ranges(std::string_view text, const std::string& file) {
  ProblemList problems(file, kRangesDialect);
  const std::optional<JsonValue> root = parse_json(text, problems);
  if (!root) problems.throw_if_any();
  RangeConstants constants;
  JsonObjectReader reader(*root, "", problems);
  if (reader.is_object() && reader.has_format("schema", kRangesFormat, "write the file anew with tools/accuracy/run")) {
    (void)reader.optional_text("rule");
    constants.repeat = bounded_number(reader, "repeat", 0, 10);
    constants.repeated = static_cast<int>(reader.integer("repeated", kRangeCount));
    constants.apart = bounded_number(reader, "apart", 0, 1000);
    constants.pairs = static_cast<int>(reader.integer("pairs", kRangeCount));
    const JsonValue* list = reader.array("ends");
    for (std::size_t k = 0; list != nullptr && k < list->children.size(); ++k) {
      constants.ends.push_back(read_ends(list->children[k], "/ends/" + std::to_string(k), problems));
    }
    reader.finish();
    if (list != nullptr && constants.ends_of(false) == nullptr && constants.ends_of(true) == nullptr) {
      problems.add_at_pointer("P012", "/ends", "no entry has \"left_out\": null", "that over all sources is needed");
    }
  }
  problems.throw_if_any();
  return constants;
}

const RangeConstants& installed_ranges() {
  static const RangeConstants constants = [] {
    const std::string file = shared_file("traces/published/ranges.json", "the file of ranges of step times").string();
    return read_ranges(read_file(file, file), file);
  }();
  return constants;
}

}  // namespace debubble
