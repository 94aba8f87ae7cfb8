// The Python that has PyTorch.
#pragma once

#include <string>

namespace debubble::live {

// $DEBUBBLE_PYTHON where it is set; else the first of `python3` on PATH and /usr/bin/python3 that finds a module named
// torch. Throws UnavailableError U058 where there is none.
[[nodiscard]] std::string python_with_torch();

}  // namespace debubble::live
