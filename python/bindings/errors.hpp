// Errors of the library as exceptions of Python.
#pragma once

#include <pybind11/pybind11.h>

#include <vector>

#include "sim/analysis/report.hpp"
#include "sim/core/error.hpp"

namespace debubble::python {

// InputError becomes debubble.Error, UnavailableError debubble.UnavailableError, both with the code, the place, the
// message and the remedy of each problem; what else the library throws, MemoryError or RuntimeError.
void translate_errors();

// A run that came to no end: throws debubble.DeadlockError with the finding.
[[noreturn]] void throw_deadlock(const Report& report);

}  // namespace debubble::python
