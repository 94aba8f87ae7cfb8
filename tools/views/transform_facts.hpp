// What the catalog of transforms says, for people and as JSON.
#pragma once

#include <string>

#include "schedules/transforms/contract.hpp"
#include "tools/views/style.hpp"

namespace debubble {

// All transforms, one table under each name.
[[nodiscard]] std::string transforms_text(const ViewStyle& style);
[[nodiscard]] std::string transform_text(const TransformEntry& entry, const ViewStyle& style);

// {"schema_version": 1, "transforms": [...]}
[[nodiscard]] std::string transforms_json();

}  // namespace debubble
