// What is wrong where a text stops being JSON, in words.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace debubble {

struct JsonFault {
  std::string what;  // empty: nothing that this knows
  std::string help;
};

// `offset`: of the first character that cannot be there.
[[nodiscard]] JsonFault json_fault(std::string_view text, std::size_t offset);

}  // namespace debubble
