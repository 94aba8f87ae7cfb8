// The verbs and their flags as data, for the manual, for schemas and for shells.
#pragma once

#include <string>

namespace debubble {

// {"schema_version": 1, "commands": [{"name", "summary", "example", "flags": [...]}]}
[[nodiscard]] std::string commands_json();

// A script that a shell sources to complete verbs, flags and those values that are words.
[[nodiscard]] std::string bash_completions();
[[nodiscard]] std::string zsh_completions();

}  // namespace debubble
