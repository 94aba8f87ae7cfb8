// The command line of a verb, made from its rows. The only place that knows the library which parses it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "scenario/request/flag.hpp"

namespace debubble {

// What the help says about a verb in addition to its flags.
struct VerbFacts {
  std::string_view name;
  std::string_view summary;
  std::string_view example;
};

[[nodiscard]] std::string verb_help(const VerbFacts& verb, const FlagRows& rows);

// "debubble VERB ...", to be typed again.
[[nodiscard]] std::string quoted_command_line(const std::vector<std::string>& arguments);

// An empty value is an unset variable of somebody's script; taken for "not given" it would change the question. Throws
// InputError C065. `arguments` begin with the verb.
void refuse_empty_values(const std::vector<std::string>& arguments);

// Parses what follows the verb's name and writes the targets. False: the help is asked for. Throws InputError C061.
[[nodiscard]] bool parse_command_line(const VerbFacts& verb, const FlagRows& rows,
                                      const std::vector<std::string>& arguments);

// The same for flags of `debubble simulate` that a file or another flag's value names: what is wrong with them is an
// error of that code and place.
void parse_written_flags(const FlagRows& rows, const std::vector<std::string>& arguments, const std::string& code,
                         const std::string& place);

// One KEY = VALUE of a configuration file.
struct ConfigItem {
  std::vector<std::string> sections;  // those it is in, from the outermost
  std::string key;
  std::vector<std::string> values;  // several: an array
};

// `text` has the form that config_file.hpp describes and checks.
[[nodiscard]] std::vector<ConfigItem> config_items(const std::string& text);

}  // namespace debubble
