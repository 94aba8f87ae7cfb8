#include "tools/flags/json_flags.hpp"

#include <CLI/CLI.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "formats/text/text.hpp"
#include "sim/core/suggest.hpp"

namespace debubble {
namespace {

std::vector<std::string> flag_names(const CLI::App& verb) {
  std::vector<std::string> names;
  for (const CLI::Option* option : verb.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      if (name != "help") names.push_back(name);
    }
  }
  return names;
}

bool is_scalar(const JsonValue& value) {
  using Kind = JsonValue::Kind;
  return value.kind == Kind::kInteger || value.kind == Kind::kFraction || value.kind == Kind::kString;
}

// One object's members, one flag each.
class FlagReader {
 public:
  FlagReader(const std::string& pointer, CLI::App& verb, ProblemList& problems)
      : pointer_(pointer), verb_(verb), problems_(problems), names_(flag_names(verb)) {}

  void read(const JsonValue& member) {
    const CLI::Option* option = verb_.get_option_no_throw("--" + member.key);
    if (option == nullptr || member.key == "help") return unknown(member);
    const std::optional<std::vector<std::string>> arguments = arguments_of(member, *option);
    if (!arguments) return;
    all_.insert(all_.end(), arguments->begin(), arguments->end());
    try {
      verb_.parse(std::vector<std::string>(arguments->rbegin(), arguments->rend()));  // CLI11 takes them last first
    } catch (const CLI::ParseError&) {
      complain(member, "P007", in_quotes(member.key) + " must be a whole number up to 2147483647",
               "without a fraction");
    }
  }

  [[nodiscard]] std::vector<std::string> all() && { return std::move(all_); }

 private:
  void complain(const JsonValue& member, std::string code, const std::string& what, const std::string& help) {
    problems_.add_at_pointer(std::move(code), pointer_ + "/" + member.key, what + "; got " + describe(member), help);
  }

  void unknown(const JsonValue& member) {
    const std::string guess = closest_name(member.key, names_);
    std::string all;
    for (const std::string& name : names_) all += (all.empty() ? "" : ", ") + name;
    problems_.add_at_pointer(
        "P005", pointer_, "unknown key " + in_quotes(member.key),
        guess.empty() ? "the keys are flags by their long names: " + all : "did you mean " + in_quotes(guess) + "?");
  }

  // Nothing, after a complaint, for a value that is none of a flag.
  std::optional<std::vector<std::string>> arguments_of(const JsonValue& member, const CLI::Option& option) {
    const std::string flag = "--" + member.key;
    if (option.get_type_size_max() == 0 || option.get_items_expected_max() == 0) {
      if (member.kind == JsonValue::Kind::kBoolean) {
        return member.text == "true" ? std::vector{flag} : std::vector<std::string>{};
      }
      complain(member, "P007", in_quotes(member.key) + " must be true or false", "without quotes");
      return std::nullopt;
    }
    const bool repeats = option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
    std::vector<std::string> arguments;
    const bool is_list = member.kind == JsonValue::Kind::kArray && repeats;
    const std::vector<JsonValue> one{is_list ? JsonValue{} : member};
    for (const JsonValue& value : is_list ? member.children : one) {
      if (!is_scalar(value)) {
        complain(member, "P007",
                 in_quotes(member.key) + (repeats ? " must be a text or a list of texts" : " must be a text or number"),
                 "write it as the flag " + flag + " takes it");
        return std::nullopt;
      }
      if (value.text.empty()) {
        complain(member, "P019", in_quotes(member.key) + " must not be empty", "leave it out, or give it a value");
        return std::nullopt;
      }
      arguments.push_back(flag + "=" + value.text);
    }
    return arguments;
  }

  const std::string& pointer_;
  CLI::App& verb_;
  ProblemList& problems_;
  std::vector<std::string> names_;
  std::vector<std::string> all_;
};

}  // namespace

std::vector<std::string> read_json_flags(const JsonValue& object, const std::string& pointer, CLI::App& verb,
                                         ProblemList& problems) {
  if (object.kind != JsonValue::Kind::kObject) {
    problems.add_at_pointer("P007", pointer, "an object is expected here; got " + describe(object),
                            "objects are written {\"key\": value}");
    return {};
  }
  FlagReader reader(pointer, verb, problems);
  for (const JsonValue& member : object.children) reader.read(member);
  return std::move(reader).all();
}

}  // namespace debubble
