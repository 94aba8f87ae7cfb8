// The verbs and their flags as data, for the manual, for schemas and for shells.
#pragma once

#include <string>

namespace debubble {

// {"schema_version": 1, "commands": [{"name", "summary", "example", "flags": [...]}]}
[[nodiscard]] std::string commands_json();

// What `debubble list completions SHELL` prints; bash, fish or zsh.
[[nodiscard]] std::string shell_completions(const std::string& shell);
// The page "debubble" or "debubble-VERB".
[[nodiscard]] std::string manual_page(const std::string& name);

}  // namespace debubble
