// Error codes as people read them: one for `debubble explain`, all of them for docs/errors.md.
#pragma once

#include <string>

#include "tools/explain/error_codes.hpp"
#include "tools/views/style.hpp"

namespace debubble {

//     X005  the simulation
//           a run that is too large: devices, links, replicas, ops or a tensor
//           what to do: make it smaller
[[nodiscard]] std::string error_code_text(const ErrorCode& code, const ViewStyle& style);

// docs/errors.md: a table for each family.
[[nodiscard]] std::string error_page();

}  // namespace debubble
