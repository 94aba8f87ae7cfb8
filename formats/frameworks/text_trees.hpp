// TOML and YAML as the tree that the JSON readers have: keys in order, numbers as written, doubled keys reported, and
// bounds on what a hostile file may make of itself.
#pragma once

#include <optional>
#include <string_view>

#include "formats/json/json_tree.hpp"

namespace debubble {

// Both: without a value there is at least one problem: P001 for text of another form, P002 for what is not UTF-8, P003
// for a key that comes twice, P017 and P018 for more values than the dialect takes, or deeper ones.
[[nodiscard]] std::optional<JsonValue> parse_toml(std::string_view text, ProblemList& problems);
// As Python's yaml.safe_load reads it, of which one document is expected: plain words true, yes, on and null, numbers;
// anchors are followed, tags and merge keys are refused (P001).
[[nodiscard]] std::optional<JsonValue> parse_yaml(std::string_view text, ProblemList& problems);

// "JSON", "TOML" or "YAML" by how a file's name ends; YAML reads JSON, too.
[[nodiscard]] std::optional<JsonValue> parse_config_text(std::string_view text, ProblemList& problems);

// Of the readers of frameworks' configurations.
[[nodiscard]] const JsonDialect& framework_dialect();

}  // namespace debubble
