// Why the system refused, as text.
#pragma once

#include <cstring>
#include <string>

namespace debubble {

// Not strerror, whose text follows the locale.
inline std::string system_reason(int error) {
  const char* text = strerrordesc_np(error);
  return text != nullptr ? text : "error " + std::to_string(error);
}

}  // namespace debubble
