// Text that goes back into a shell or onto a terminal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace debubble {

// The argument as a POSIX shell reads it back: plain, or in single quotes.
[[nodiscard]] std::string shell_quoted(std::string_view argument);

// A command in lines of at most `width` columns where that can be: cut between arguments only, each line but the last
// with the backslash by which a shell reads on.
[[nodiscard]] std::vector<std::string> command_lines(std::string_view command, std::size_t width);

// Control characters as \\xNN, so that a name from a file cannot steer the terminal.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace debubble
