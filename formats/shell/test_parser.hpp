// [[ ... ]] as a tree of tests.
#pragma once

#include "formats/shell/cursor.hpp"
#include "formats/shell/syntax.hpp"

namespace debubble::shell {

// From behind "[[" to behind "]]".
[[nodiscard]] TestNode parse_test(Cursor& cursor);

}  // namespace debubble::shell
