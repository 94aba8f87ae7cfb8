#include "scenario/request/json_flags.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "formats/text/text.hpp"
#include "sim/core/suggest.hpp"

namespace debubble {
namespace {

bool is_scalar(const JsonValue& value) {
  using Kind = JsonValue::Kind;
  return value.kind == Kind::kInteger || value.kind == Kind::kFraction || value.kind == Kind::kString;
}

// One object's members, one flag each.
class FlagReader {
 public:
  FlagReader(const std::string& pointer, std::span<const Flag> rows, ProblemList& problems)
      : pointer_(pointer), rows_(rows), problems_(problems) {}

  void read(const JsonValue& member) {
    const Flag* flag = find_flag(rows_, "--" + member.key);
    if (flag == nullptr) return unknown(member);
    const std::optional<std::vector<std::string>> values = values_of_member(member, *flag);
    if (!values) return;
    const std::string name = "--" + member.key;
    for (const std::string& value : *values) all_.push_back(is_switch(*flag) ? name : name + "=" + value);
    const bool fits =
        std::all_of(values->begin(), values->end(), [&](const std::string& value) { return set_flag(*flag, value); });
    if (fits) return;
    complain(member, "P007", in_quotes(member.key) + " must be a whole number up to 2147483647", "without a fraction");
  }

  [[nodiscard]] std::vector<std::string> all() && { return std::move(all_); }

 private:
  void complain(const JsonValue& member, std::string code, const std::string& what, const std::string& help) {
    problems_.add_at_pointer(std::move(code), pointer_ + "/" + member.key, what + "; got " + describe(member), help);
  }

  void unknown(const JsonValue& member) {
    const std::vector<std::string> names = flag_keys(rows_);
    const std::string guess = closest_name(member.key, names);
    std::string all;
    for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
    problems_.add_at_pointer(
        "P005", pointer_, "unknown key " + in_quotes(member.key),
        guess.empty() ? "the keys are flags by their long names: " + all : "did you mean " + in_quotes(guess) + "?");
  }

  // Nothing, after a complaint, for a value that a flag cannot have.
  std::optional<std::vector<std::string>> values_of_member(const JsonValue& member, const Flag& flag) {
    if (is_switch(flag)) {
      if (member.kind == JsonValue::Kind::kBoolean) {
        return member.text == "true" ? std::vector{member.text} : std::vector<std::string>{};
      }
      complain(member, "P007", in_quotes(member.key) + " must be true or false", "without quotes");
      return std::nullopt;
    }
    const bool repeats = takes_list(flag);
    std::vector<std::string> values;
    const bool is_list = member.kind == JsonValue::Kind::kArray && repeats;
    const std::vector<JsonValue> one{is_list ? JsonValue{} : member};
    for (const JsonValue& value : is_list ? member.children : one) {
      if (!is_scalar(value)) {
        complain(member, "P007",
                 in_quotes(member.key) + (repeats ? " must be a text or a list of texts" : " must be a text or number"),
                 "write it as the flag --" + member.key + " takes it");
        return std::nullopt;
      }
      if (value.text.empty()) {
        complain(member, "P019", in_quotes(member.key) + " must not be empty", "leave it out, or give it a value");
        return std::nullopt;
      }
      values.push_back(value.text);
    }
    return values;
  }

  const std::string& pointer_;
  std::span<const Flag> rows_;
  ProblemList& problems_;
  std::vector<std::string> all_;
};

}  // namespace

std::vector<std::string> read_json_flags(const JsonValue& object, const std::string& pointer,
                                         std::span<const Flag> rows, ProblemList& problems) {
  if (object.kind != JsonValue::Kind::kObject) {
    problems.add_at_pointer("P007", pointer, "an object is expected here; got " + describe(object),
                            "objects are written {\"key\": value}");
    return {};
  }
  FlagReader reader(pointer, rows, problems);
  for (const JsonValue& member : object.children) reader.read(member);
  return std::move(reader).all();
}

}  // namespace debubble
