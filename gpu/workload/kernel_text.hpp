// The text of gpu/workload/kernels/*.inc, put into the program by CMake.
#pragma once

#include <string_view>

namespace debubble {

[[nodiscard]] std::string_view kernel_text();

}  // namespace debubble
