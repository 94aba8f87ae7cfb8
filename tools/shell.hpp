// Text that goes back into a shell or onto a terminal.
#pragma once

#include <string>
#include <string_view>

namespace debubble {

// The argument as a POSIX shell reads it back: plain, or in single quotes.
[[nodiscard]] std::string shell_quoted(std::string_view argument);

// Control characters as \\xNN, so that a name from a file cannot steer the terminal.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace debubble
