// --config FILE.toml: a scenario file in CLI11's configuration format, with the names of the flags.
//
//     schedule = "zb-h1"          # the same as --schedule zb-h1
//     devices = 8
//     param = ["group=8"]
//     [compare]                   # only for that verb
//     schedule = ["1f1b", "zb-h1"]
//
// The file becomes flags that precede those on the command line, and what is given later wins.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "scenario/request/flag.hpp"
#include "scenario/request/scenario.hpp"
#include "sim/core/error.hpp"

namespace debubble {

// --config as the help shows it: expand_config takes it out before flags are parsed.
[[nodiscard]] Flag config_row(std::string& target);

// Removes --config from `arguments` (verb first) and inserts the file's flags after the verb. `rows` are the verb's.
// Throws InputError for an unreadable file, wrong syntax, unknown keys (with file:line) and unknown sections.
[[nodiscard]] std::vector<std::string> expand_config(std::vector<std::string> arguments, std::span<const Flag> rows,
                                                     const std::vector<std::string>& verbs);

// The same of a text that is at hand; `file` is what it is called in messages.
[[nodiscard]] std::vector<std::string> expand_config_text(const std::string& text, const std::string& file,
                                                          std::vector<std::string> arguments,
                                                          std::span<const Flag> rows,
                                                          const std::vector<std::string>& verbs);

// A scenario file alone, as `debubble simulate --config FILE` reads the shared flags. Throws InputError: what
// expand_config does, and D002 for a value that its flag does not take.
[[nodiscard]] ScenarioFlags read_scenario_file(const std::string& file);

// The error with the file's lines in place of flags that `file` sets and `over`, the command line, does not.
[[nodiscard]] InputError placed_in_file(const InputError& error, const std::string& file, const ScenarioFlags& over);

}  // namespace debubble
