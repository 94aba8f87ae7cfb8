// The catalog of transforms: one row each. Lists, help, spelling hints and property tests follow from the row.
#pragma once

#include <span>
#include <string_view>

#include "schedules/transforms/contract.hpp"

namespace debubble {

[[nodiscard]] std::span<const TransformEntry> transform_catalog();

// The row of that name, or nullptr.
[[nodiscard]] const TransformEntry* find_transform(std::string_view name);

// Checks the names of the transform and of its parameters, before there is a schedule. Throws InputError; what is
// misspelt gets a suggestion.
void check_transform(std::string_view name, const TransformRequest& request);

// Checks the names of transform and parameters, and applies it. Throws InputError; what is misspelt gets a suggestion.
[[nodiscard]] Schedule apply_transform(std::string_view name, const Schedule& schedule,
                                       const TransformRequest& request);

}  // namespace debubble
