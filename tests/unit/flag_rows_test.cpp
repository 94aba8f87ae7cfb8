// Every verb's rows: names are unique, presets are what the targets hold, help fits a terminal.
#include <initializer_list>

#include "formats/text/choice.hpp"
#include "scenario/check_scenario.hpp"
#include "tests/support/test.hpp"
#include "tools/commands/command.hpp"
#include "tools/flags/command_line.hpp"

namespace {

using namespace debubble;

constexpr std::size_t kColumns = 80;

TEST_CASE("no verb has two flags of one name") {
  for (const CommandEntry& entry : command_catalog()) {
    CAPTURE(entry.name);
    const std::unique_ptr<Command> command = entry.make();
    std::set<std::string_view> names{"--help", "-h", "--config"};
    for (const Flag& flag : command->flags()) {
      for (const std::string_view name : names_of(flag)) {
        CAPTURE(name);
        CHECK(names.insert(name).second);
      }
    }
  }
}

TEST_CASE("nothing is given before anything is parsed: presets are what the targets hold") {
  for (const CommandEntry& entry : command_catalog()) {
    const std::unique_ptr<Command> command = entry.make();
    for (const Flag& flag : command->flags()) {
      CAPTURE(entry.name);
      CAPTURE(flag.name);
      CHECK_FALSE(is_given(flag));
      CHECK_FALSE(flag.help.empty());
    }
  }
}

TEST_CASE("what several verbs ask for has one name in all of them, and the names that people type are others of it") {
  const std::vector<std::pair<std::string_view, std::vector<std::string_view>>> expected{
      {"--devices", {"-p", "--devices", "--pp"}},
      {"--microbatch-size", {"--microbatch-size", "--mbs", "--microbatch"}},
      {"--sequence", {"--sequence", "--seq-length", "--seq"}},
      {"--global-batch", {"--global-batch", "--gbs"}}};
  for (const CommandEntry& entry : command_catalog()) {
    CAPTURE(entry.name);
    const std::unique_ptr<Command> command = entry.make();
    const FlagRows rows = command->flags();
    for (const auto& [name, names] : expected) {
      const auto& captured = name;  // clang 14 captures no structured binding
      CAPTURE(captured);
      const Flag* flag = find_flag(rows, name);
      for (const std::string_view other : names) {
        if (other.starts_with("--")) CHECK(find_flag(rows, other) == flag);
      }
      if (flag != nullptr) CHECK(names_of(*flag) == names);
    }
  }
}

TEST_CASE("words and names are read in any letters, with what follows a colon as it is") {
  ScenarioFlags flags;
  const FlagRows rows = flag_rows(flags);
  const auto read = [&](const char* name, const char* value) {
    const Flag* flag = find_flag(rows, name);
    REQUIRE(flag != nullptr);
    REQUIRE(set_flag(*flag, value));
    return values_of(*flag).back();
  };
  CHECK(read("--hardware", "H100") == "h100");
  CHECK(read("--topology", "DGX_H100:8") == "dgx-h100:8");
  CHECK(read("--model", "GPT-1.3B") == "gpt-1.3b");
  CHECK(read("--dtype", "BF16") == "bf16");
  CHECK(read("--p2p", "Blocking") == "blocking");
  CHECK(read("--p2p", "blockin") == "blockin");       // its reader refuses it
  CHECK(read("--topology", "My.Toml") == "My.Toml");  // a file
}

TEST_CASE("rules name flags that exist") {
  ScenarioFlags flags;
  const FlagRows rows = flag_rows(flags);
  for (const Flag& flag : rows) {
    for (const FlagRule* rule : {&flag.needs, &flag.excludes}) {
      for (const std::string_view other : rule->others) CHECK(find_flag(rows, other) != nullptr);
    }
  }
}

// One that can be read.
std::string some_value(const Flag& flag) {
  if (!flag.words.empty()) return split_names(flag.words).back();
  return flag.unit == FlagUnit::kBandwidth ? "1GB/s" : flag.unit == FlagUnit::kDuration ? "1us" : "1";
}

// The codes of what check_scenario finds at that flag, where it alone is given.
std::set<std::string> problems_with(std::string_view name, const std::string& value) {
  ScenarioFlags flags;
  const FlagRows rows = flag_rows(flags);
  REQUIRE(set_flag(*find_flag(rows, name), value));
  std::set<std::string> codes;
  try {
    (void)check_scenario(flags);
  } catch (const InputError& error) {
    for (const Diagnostic& one : error.diagnostics()) {
      if (one.place == name) codes.insert(one.code);
    }
  }
  return codes;
}

TEST_CASE("a quantity is written in the units of its row, and in no other") {
  ScenarioFlags flags;
  int quantities = 0;
  for (const Flag& flag : flag_rows(flags)) {
    using enum FlagUnit;
    if (flag.unit != kDuration && flag.unit != kSize && flag.unit != kBandwidth) continue;
    CAPTURE(flag.name);
    ++quantities;
    for (const std::string& unit : split_names(unit_of(flag))) {
      CAPTURE(unit);
      CHECK_FALSE(problems_with(flag.name, "1" + unit).contains("C014"));
    }
    CHECK(problems_with(flag.name, "1parsec").contains("C014"));
  }
  CHECK(quantities == 9);
}

TEST_CASE("a row's words are the only values of its flag") {
  for (const CommandEntry& entry : command_catalog()) {
    const std::unique_ptr<Command> command = entry.make();
    for (const Flag& flag : command->flags()) {
      // A sweep's flags hold lists of values, each checked as the flag of a run (tests/sweep).
      const bool holds_list = std::holds_alternative<std::vector<std::string>*>(flag.target);
      if (flag.words.empty() || holds_list) continue;
      CAPTURE(entry.name);
      CAPTURE(flag.name);
      std::size_t index = 0;
      for (const std::string& word : split_names(flag.words)) {
        REQUIRE(set_flag(flag, word));
        CHECK(word_index(flag) == index++);
      }
      REQUIRE(set_flag(flag, "no-such-word"));
      const std::vector<Diagnostic> unknown = unknown_words({&flag, 1});
      REQUIRE(unknown.size() == 1);
      CHECK(unknown.front().code == "C002");
      CHECK(unknown.front().place == flag.name);
    }
  }
}

TEST_CASE("what a row needs or excludes is refused, whichever row it is") {
  // With these flags only.
  const auto is_refused = [](std::initializer_list<std::string_view> names, const std::string& code) {
    ScenarioFlags flags;
    const FlagRows rows = flag_rows(flags);
    for (const std::string_view name : names) {
      const Flag& flag = *find_flag(rows, name);
      REQUIRE(set_flag(flag, some_value(flag)));
    }
    try {
      (void)check_scenario(flags);
    } catch (const InputError& error) {
      return std::any_of(error.diagnostics().begin(), error.diagnostics().end(),
                         [&](const Diagnostic& one) { return one.code == code && one.place == *names.begin(); });
    }
    return false;
  };
  ScenarioFlags flags;
  const FlagRows rows = flag_rows(flags);
  for (const Flag& flag : rows) {
    CAPTURE(flag.name);
    if (!flag.needs.others.empty()) CHECK(is_refused({flag.name}, flag.needs.code));
    for (const std::string_view other : flag.excludes.others) {
      CHECK(is_refused({flag.name, other}, flag.excludes.code));
    }
  }
}

TEST_CASE("only a scenario's rows have rules: what a verb adds is checked by the verb") {
  ScenarioFlags flags;
  const FlagRows rows = flag_rows(flags);
  for (const CommandEntry& entry : command_catalog()) {
    const std::unique_ptr<Command> command = entry.make();
    for (const Flag& flag : command->flags()) {
      CAPTURE(entry.name);
      CAPTURE(flag.name);
      const bool has_rule = !flag.needs.others.empty() || !flag.excludes.others.empty();
      CHECK((!has_rule || find_flag(rows, flag.name) != nullptr));
    }
  }
}

TEST_CASE("help fits 80 columns") {
  for (const CommandEntry& entry : command_catalog()) {
    const std::unique_ptr<Command> command = entry.make();
    std::istringstream lines(verb_help({entry.name, entry.summary, ""}, command->flags()));
    for (std::string line; std::getline(lines, line);) {
      CAPTURE(line);
      CHECK(line.size() <= kColumns);
    }
  }
}

TEST_CASE("values are set by name and repeated as typed") {
  ScenarioFlags flags;
  const FlagRows rows = flag_rows(flags);
  set_flags(rows, std::vector<std::string>{"--schedule=zb-h1", "--devices=8", "--param=a=1", "--param=b=2",
                                           "--p2p=coupled", "--tp=2", "--dropout", "--schedule=gpipe"});
  CHECK(flags.schedules == std::vector<std::string>{"gpipe"});
  CHECK(flags.devices == 8);
  CHECK(flags.transformer.dropout);
  CHECK(flag_line(rows) == "--param a=1 --param b=2 --p2p coupled --dropout --tp 2");
  CHECK(repeated_flags(flags) == flag_line(rows));
}

TEST_CASE("a whole number is read as on the command line, and nothing else is one") {
  ScenarioFlags flags;
  const FlagRows rows = flag_rows(flags);
  const Flag& devices = *find_flag(rows, "--devices");
  CHECK(set_flag(devices, "16"));
  for (const char* text : {"", "x", "1.5", "8 ", "2147483648", "-2147483649"}) {
    CAPTURE(text);
    CHECK_FALSE(set_flag(devices, text));
  }
  CHECK(flags.devices == 16);
  // Of 64 bits, not the nearest that fits.
  const Flag& sequence = *find_flag(rows, "--sequence");
  CHECK(set_flag(sequence, "9223372036854775807"));
  CHECK_FALSE(set_flag(sequence, "9223372036854775808"));
  CHECK_FALSE(set_flag(sequence, "-9223372036854775809"));
  CHECK_THROWS_AS(set_flags(rows, std::vector<std::string>{"--devices=x"}), std::invalid_argument);
  CHECK_THROWS_AS(set_flags(rows, std::vector<std::string>{"--no-such-flag=1"}), std::invalid_argument);
}

}  // namespace
