// The profile file, `debubble.profile/1`: reader and writer. JSON Schema: docs/profile.schema.json.
#pragma once

#include <string>
#include <string_view>

#include "sim/core/profile.hpp"

namespace debubble {

// Strict: unknown keys, wrong types, negative or overflowing numbers, missing fields are all errors, each with
// "name#/json/pointer" (or name:line:column for a syntax error) and a remedy, all of the file's at once.
[[nodiscard]] Profile read_profile(std::string_view text, const std::string& name);

// Deterministic: the same profile gives the same bytes; read_profile(write_profile(p)) == p.
[[nodiscard]] std::string write_profile(const Profile& profile);

}  // namespace debubble
