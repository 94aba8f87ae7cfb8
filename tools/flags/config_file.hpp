// --config FILE.toml: a scenario file in CLI11's configuration format, with the names of the flags.
//
//     schedule = "zb-h1"          # the same as --schedule zb-h1
//     devices = 8
//     param = ["group=8"]
//     [compare]                   # only for that verb
//     schedule = ["1f1b", "zb-h1"]
//
// The file becomes flags that stand before those on the command line, and what is given later wins.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace debubble {

// Removes --config from `arguments` (verb first) and puts the file's flags in its stead. `verb` knows the legal names.
// Throws InputError for an unreadable file, wrong syntax, unknown keys (with file:line) and unknown sections.
[[nodiscard]] std::vector<std::string> expand_config(std::vector<std::string> arguments, const CLI::App& verb,
                                                     const std::vector<std::string>& verbs);

}  // namespace debubble
