#include "tools/views/ansi.hpp"

namespace debubble {

std::string paint(bool color, std::string_view codes, std::string_view text) {
  if (!color || text.empty()) return std::string(text);
  return "\033[" + std::string(codes) + "m" + std::string(text) + "\033[0m";
}

}  // namespace debubble
