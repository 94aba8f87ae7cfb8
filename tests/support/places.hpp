// Where this build found its sources and made the command. Compiled once, so that objects of tests are the same in
// every checkout and a compiler cache finds them.
#pragma once

#include <string>

namespace debubble::testing {

[[nodiscard]] std::string source_directory();
[[nodiscard]] std::string command_path();

}  // namespace debubble::testing
