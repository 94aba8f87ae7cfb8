// Work in a process of its own: CUPTI and a CUDA context start fresh for every size of a sweep, and a crash in a driver
// costs one size only.
#pragma once

#include <functional>
#include <optional>

#include "sim/core/error.hpp"

namespace debubble {

// Runs `work` in a forked child and waits. What it threw comes back: an UnavailableError as a value, anything else as
// an exception. `work` must leave its result in a file. The caller may have no other thread.
[[nodiscard]] std::optional<Diagnostic> run_apart(const std::function<void()>& work);

}  // namespace debubble
