#include "tools/output/stderr_line.hpp"

#include <cstdio>
#include <string>

#include "formats/text/printable.hpp"

namespace debubble {

void stderr_line(std::string_view line) { std::fputs((printable(line) + "\n").c_str(), stderr); }

}  // namespace debubble
