#include "tools/flags/command_line.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <sstream>
#include <utility>

#include "formats/text/choice.hpp"
#include "formats/text/shell.hpp"
#include "scenario/check_scenario.hpp"
#include "sim/core/error.hpp"
#include "sim/core/suggest.hpp"
#include "tools/flags/foreign_flags.hpp"

namespace debubble {

namespace {

constexpr int kFirstColumn = 29;

// "-p,--devices", "--schedules,--schedule", "FILE".
std::string option_names(const Flag& flag) {
  std::string names(flag.name);
  if (!flag.short_name.empty()) names = std::string(flag.short_name) + "," + names;
  if (!flag.alias.empty()) names.append(",").append(flag.alias);
  return names;
}

class AddOption {
 public:
  AddOption(CLI::App& app, const Flag& flag) : app_(app), flag_(flag) {}

  CLI::Option* operator()(bool* target) const { return app_.add_flag(option_names(flag_), *target, help_of(flag_)); }
  template <typename Target>
  CLI::Option* operator()(Target* target) const {
    return app_.add_option(option_names(flag_), *target, help_of(flag_))->type_name(std::string(type_of(flag_)));
  }

 private:
  CLI::App& app_;
  const Flag& flag_;
};

// How many values one occurrence has, and which occurrences count. A list that may be repeated takes what follows it,
// too, unless it says otherwise.
void set_count(const Flag& flag, CLI::Option& option) {
  if (!std::holds_alternative<std::vector<std::string>*>(flag.target)) return;
  using Policy = CLI::MultiOptionPolicy;
  switch (flag.count) {
    case FlagCount::kLast:
      option.expected(1)->multi_option_policy(Policy::TakeLast);
      break;
    case FlagCount::kAll:
      if (!is_positional(flag)) option.expected(1);
      option.multi_option_policy(Policy::TakeAll);
      break;
    case FlagCount::kPairs:
      option.expected(1, 2)->multi_option_policy(Policy::TakeAll);
      break;
    case FlagCount::kSingly:
      option.expected(1)->allow_extra_args(false)->multi_option_policy(Policy::TakeAll);
      break;
    case FlagCount::kMaybe:
      option.expected(0, 1)->allow_extra_args(false)->multi_option_policy(Policy::TakeAll);
      break;
    case FlagCount::kList:
      option.delimiter(',');
      break;
  }
}

class Parser {
 public:
  Parser(const VerbFacts& verb, const FlagRows& rows)
      : app_(std::string(verb.summary), std::string(verb.name)), rows_(rows) {
    app_.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    for (const Flag& flag : rows) add(flag);
    app_.footer("Example:\n  " + std::string(verb.example));
    app_.set_help_flag("-h,--help", "this text");
    app_.get_formatter()->column_width(kFirstColumn);
  }

  void parse(std::vector<std::string> arguments) {
    std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them last first
    app_.parse(arguments);
    for (const auto& [option, given] : given_) *given = option->count() > 0;
    for (const Flag& flag : rows_) {
      if (flag.count != FlagCount::kMaybe) continue;  // the library hands on a missing value as an empty one
      std::vector<std::string>& values = *std::get<std::vector<std::string>*>(flag.target);
      std::replace(values.begin(), values.end(), std::string(), std::string("true"));
    }
    settle_spelling(rows_);
  }

  [[nodiscard]] const CLI::App& app() const { return app_; }

 private:
  void add(const Flag& flag) {
    CLI::Option* option = std::visit(AddOption(app_, flag), flag.target);
    if (!flag.group.empty()) option->group(std::string(flag.group));
    if (flag.required) option->required();
    set_count(flag, *option);
    if (flag.given != nullptr) given_.emplace_back(option, flag.given);
  }

  CLI::App app_;
  const FlagRows& rows_;
  std::vector<std::pair<const CLI::Option*, bool*>> given_;
};

// "--devices P", or "FILE" for what has no flag.
std::string usage_of(const FlagRows& rows, const std::string& name) {
  const Flag* flag = find_flag(rows, name);
  return flag == nullptr || is_positional(*flag) ? name : name + " " + std::string(type_of(*flag));
}

// A word without a flag: "debubble simulate 1f1b".
std::string no_flag_help(const std::string& word, const FlagRows& rows, const std::string& otherwise) {
  if (word.ends_with(".toml")) return "write --config " + word;
  const std::size_t equals = std::min(word.find('='), word.size());
  if (const Flag* const flag = find_flag(rows, "--" + word.substr(0, equals));
      flag != nullptr && equals < word.size()) {
    return "write --" + word.substr(0, equals) + " " + word.substr(equals + 1);
  }
  for (const char* const name : {"--schedule", "--model", "--topology", "--hardware"}) {
    const Flag* const flag = find_flag(rows, name);
    if (flag == nullptr || flag->names == nullptr) continue;
    if (const std::string meant = closest_name(word, flag->names()); !meant.empty()) {
      return "write " + std::string(name) + " " + meant;
    }
  }
  return otherwise;
}

// "--recompute none", "--devices P"
std::string example_of(const FlagRows& rows, const std::string& name) {
  const Flag* const flag = find_flag(rows, name);
  if (flag == nullptr || flag->words.empty()) return "write it like " + usage_of(rows, name);
  std::string all;
  for (const std::string& word : split_names(flag->words)) all += (all.empty() ? "" : ", ") + word;
  return "write " + name + " and one of: " + all;
}

// A flag that describes the job, of a verb that leaves it out.
std::string flag_of_simulate_help(const std::string& word, const VerbFacts& verb) {
  ScenarioFlags none;
  const FlagRows rows = flag_rows(none);
  const Flag* const flag = find_flag(rows, word.substr(0, word.find('=')));
  if (flag == nullptr || !word.starts_with("--") || verb.name.empty()) return "";
  return "it is a flag of `debubble simulate` (" + std::string(flag->help) + "), and none of `debubble " +
         std::string(verb.name) + "`: leave it out";
}

Diagnostic extra_problem(const VerbFacts& verb, const FlagRows& rows, const std::vector<std::string>& extras,
                         Diagnostic problem) {
  std::vector<std::string> names;
  for (const std::string& key : flag_keys(rows)) names.push_back("--" + key);
  names.emplace_back("--help");
  if (!extras.empty()) {
    problem.message = "unexpected \"" + extras.front() + "\"";
    const std::string guess = closest_name(extras.front().substr(0, extras.front().find('=')), names);
    const std::string foreign = foreign_flag_help(extras.front(), rows);
    const std::string elsewhere = flag_of_simulate_help(extras.front(), verb);
    if (!guess.empty()) problem.help = "did you mean " + guess + "?";
    if (!elsewhere.empty()) problem.help = elsewhere;
    if (!foreign.empty()) problem.help = foreign;
    if (!extras.front().starts_with("-")) problem.help = no_flag_help(extras.front(), rows, problem.help);
    if (verb.name == "profile" && !extras.front().starts_with("-")) {
      problem.help = "a program to measure comes after two dashes: -- " + extras.front() + " ...";
    }
  }
  return problem;
}

// CLI11's complaint in our words, with a suggestion for a misspelt flag. Only its text says what it
// complains about: "Could not convert: --devices = x", "--devices: 1 required P missing", "--to is required".
Diagnostic flags_problem(const VerbFacts& verb, const FlagRows& rows, const CLI::App& app, const CLI::ParseError& error,
                         const std::vector<std::string>& arguments) {
  const std::string text = error.what();
  const std::string place = "debubble " + std::string(verb.name);
  Diagnostic problem{"C061", place, text, "run `" + place + " --help` for its flags"};
  const std::size_t begin = text.find("--");
  const std::string name =
      begin == std::string::npos ? "" : text.substr(begin, text.find_first_of(" :=", begin) - begin);
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    return extra_problem(verb, rows, app.remaining(), std::move(problem));
  }
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    problem.message = usage_of(rows, name.empty() ? text.substr(0, text.find(' ')) : name) + " is missing";
  } else if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr && !name.empty()) {
    problem = {"C061", name, "no value follows", example_of(rows, name)};
  } else if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr && !name.empty()) {
    // Given several times, the values are joined by commas and the last one counts; or one value has commas.
    const std::string all = text.substr(text.find_last_of(' ') + 1);
    const bool is_list = std::any_of(arguments.begin(), arguments.end(),
                                     [&](const std::string& one) { return one == all || one.ends_with("=" + all); });
    const std::string value = is_list ? all : all.substr(all.find_last_of(',') + 1);
    problem = {"C061", name, "\"" + value + "\" is not a whole number up to 2147483647",
               "write it like " + usage_of(rows, name)};
    if (value.find(',') != std::string::npos) problem.help += "; `debubble sweep` takes several values";
  }
  return problem;
}

// CLI11 leaves two blank lines between groups.
std::string tidy_help(std::string text) {
  for (std::size_t at = 0; (at = text.find("\n\n\n", at)) != std::string::npos;) text.erase(at, 1);
  return text;
}

}  // namespace

std::string verb_help(const VerbFacts& verb, const FlagRows& rows) {
  return tidy_help(Parser(verb, rows).app().help("debubble"));
}

std::string quoted_command_line(const std::vector<std::string>& arguments) {
  std::string line = "debubble";
  for (const std::string& argument : arguments) line += " " + shell_quoted(argument);
  return line;
}

void refuse_empty_values(const std::vector<std::string>& arguments) {
  for (std::size_t k = 1; k < arguments.size(); ++k) {
    const std::string& argument = arguments[k];
    const bool empty_after_equals = argument.starts_with("--") && argument.find('=') == argument.size() - 1;
    if (!argument.empty() && !empty_after_equals) continue;
    const std::string& before = arguments[k - 1];
    const std::string flag = empty_after_equals ? argument.substr(0, argument.size() - 1) : before;
    const bool is_flag = flag.starts_with("-");
    throw InputError(Diagnostic{"C065", is_flag ? flag : "debubble " + arguments[0], "the value is empty",
                                is_flag ? "leave " + flag + " out, or give it one" : "give it one, or leave it out"});
  }
}

bool parse_command_line(const VerbFacts& verb, const FlagRows& rows, const std::vector<std::string>& arguments) {
  Parser parser(verb, rows);
  try {
    parser.parse(arguments);
  } catch (const CLI::CallForHelp&) {
    return false;
  } catch (const CLI::ParseError& error) {
    throw InputError(flags_problem(verb, rows, parser.app(), error, arguments));
  }
  return true;
}

void parse_written_flags(const FlagRows& rows, const std::vector<std::string>& arguments, const std::string& code,
                         const std::string& place) {
  constexpr VerbFacts kVerb{"simulate", "", ""};
  Parser parser(kVerb, rows);
  try {
    parser.parse(arguments);
  } catch (const CLI::CallForHelp&) {
    fail(code, place, "unexpected \"--help\"", "run `debubble simulate --help` for its flags");
  } catch (const CLI::ParseError& error) {
    Diagnostic problem = flags_problem(kVerb, rows, parser.app(), error, arguments);
    if (problem.place.starts_with("--")) problem.message = problem.place + ": " + problem.message;
    fail(code, place, problem.message, problem.help);
  }
}

std::vector<ConfigItem> config_items(const std::string& text) {
  std::istringstream stream(text);
  std::vector<ConfigItem> items;
  for (CLI::ConfigItem& item : CLI::ConfigTOML().from_config(stream)) {
    if (item.name == "++" || item.name == "--") continue;  // marks for the begin and end of a section
    items.push_back({std::move(item.parents), std::move(item.name), std::move(item.inputs)});
  }
  return items;
}

}  // namespace debubble
