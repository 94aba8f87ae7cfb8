// What the catalog of topologies says, for people and as JSON.
#pragma once

#include <string>
#include <string_view>

#include "tools/views/style.hpp"

namespace debubble {

// All topologies, `ideal` first; under each its parameters, and who says what they are by default.
[[nodiscard]] std::string topologies_text(const ViewStyle& style);
// The one of that name, which must be known (`ideal` or of the catalog).
[[nodiscard]] std::string topology_text(std::string_view name, const ViewStyle& style);

// {"schema_version": 1, "topologies": [...]}
[[nodiscard]] std::string topologies_json();

}  // namespace debubble
