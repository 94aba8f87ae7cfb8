#include "studies/accuracy/dialect.hpp"

#include "formats/text/text.hpp"

namespace debubble {

const JsonDialect& results_dialect() {
  static constexpr JsonDialect kDialect{
      .what = "results file",
      .description = "docs/accuracy.md",
  };
  return kDialect;
}

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

}  // namespace debubble
