#include "formats/text/numbers.hpp"

#include <fmt/format.h>

namespace debubble {

std::string plain(double number) { return fmt::format("{}", number); }

}  // namespace debubble
