// What a verb says on stderr, beside its data.
#pragma once

#include <string_view>

namespace debubble {

// One line, of which nothing steers the terminal or begins another line: it may quote names and files.
void stderr_line(std::string_view line);

}  // namespace debubble
