// hf_families.table as it is built in (cmake/DebubbleEmbed.cmake).
#pragma once

#include <string>

namespace debubble {

[[nodiscard]] std::string hf_families_text();

}  // namespace debubble
