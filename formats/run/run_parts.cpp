#include "formats/run/run_parts.hpp"

#include <utility>

#include "formats/text/text.hpp"

namespace debubble {
namespace {

// Reports the first integer that breaks its rule; a list of thousands of wrong ones has one cause.
bool obeys(const std::vector<std::int64_t>& values, const std::string& pointer, const IntegerRule& rule,
           ProblemList& problems) {
  for (std::size_t k = 0; k < values.size(); ++k) {
    const bool small = values[k] < rule.least;
    if (!small && values[k] <= rule.most) continue;
    problems.add_at_pointer("P004", pointer + "/" + std::to_string(k),
                            std::string("a whole number of ") + rule.unit + ", at " +
                                (small ? "least " + std::to_string(rule.least) : "most " + std::to_string(rule.most)) +
                                ", is expected here; got " + std::to_string(values[k]),
                            rule.help);
    return false;
  }
  return true;
}

}  // namespace

void report_count(ProblemList& problems, std::string_view pointer, std::size_t found, std::size_t wanted,
                  const std::string& wanted_for) {
  problems.add_at_pointer("P012", pointer,
                          std::to_string(found) + (found == 1 ? " item, and " : " items, and ") +
                              std::to_string(wanted) + (wanted == 1 ? " is needed: " : " are needed: ") + wanted_for,
                          "lists that belong together have the same length");
}

void report_too_much(ProblemList& problems, std::string_view pointer) {
  problems.add_at_pointer("P004", pointer, "the numbers here add up to more than a 64-bit count holds",
                          "check the units");
}

std::vector<std::int64_t> integers_of(const JsonValue& value, const std::string& pointer, const IntegerRule& rule,
                                      std::size_t count, ProblemList& problems) {
  const bool array = value.kind == JsonValue::Kind::kArray;
  if (!array || !value.children.empty()) {
    problems.add_at_pointer("P007", pointer,
                            std::string("an array of whole numbers of ") + rule.unit + " is expected here" +
                                (array ? "" : "; got " + describe(value)),
                            rule.help);
    return {};
  }
  if (value.integers.size() != count) {
    report_count(problems, pointer, value.integers.size(), count, "one for each it goes with");
    return {};
  }
  return obeys(value.integers, pointer, rule, problems) ? value.integers : std::vector<std::int64_t>{};
}

std::vector<std::int64_t> read_integers(JsonObjectReader& reader, std::string_view key, const IntegerRule& rule,
                                        std::size_t count, ProblemList& problems) {
  const JsonValue* value = reader.member(key, true);
  if (value == nullptr) return {};
  return integers_of(*value, reader.pointer_to(key), rule, count, problems);
}

const std::vector<JsonValue>* read_items(JsonObjectReader& reader, std::string_view key, bool required,
                                         ProblemList& problems) {
  const JsonValue* list = required ? reader.array(key) : reader.optional_array(key);
  if (list == nullptr) return nullptr;
  if (!list->integers.empty()) {
    problems.add_at_pointer("P007", reader.pointer_to(key), in_quotes(key) + " holds bare numbers",
                            "docs/run.schema.json shows what is expected here");
    return nullptr;
  }
  return &list->children;
}

std::vector<std::string> read_texts(JsonObjectReader& reader, std::string_view key, ProblemList& problems) {
  std::vector<std::string> texts;
  const std::vector<JsonValue>* items = read_items(reader, key, false, problems);
  if (items == nullptr) return texts;
  for (std::size_t k = 0; k < items->size(); ++k) {
    const JsonValue& item = (*items)[k];
    if (item.kind == JsonValue::Kind::kString) {
      texts.push_back(item.text);
      continue;
    }
    problems.add_at_pointer("P007", reader.pointer_to(key) + "/" + std::to_string(k),
                            "a string is expected here; got " + describe(item), "strings are in double quotes");
  }
  return texts;
}

}  // namespace debubble
