// Scripts with which shells complete verbs, flags and those values that are words of a list. Each may be sourced, or
// lie where the shell looks for completions.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tools/reference/documented_verb.hpp"

namespace debubble {

[[nodiscard]] std::string bash_completions(std::span<const DocumentedVerb> verbs);
[[nodiscard]] std::string fish_completions(std::span<const DocumentedVerb> verbs);
[[nodiscard]] std::string zsh_completions(std::span<const DocumentedVerb> verbs);

// "a b c".
[[nodiscard]] std::string joined_words(const std::vector<std::string>& words);
// Whether the value is a file or folder.
[[nodiscard]] bool takes_path(const Flag& flag);

}  // namespace debubble
