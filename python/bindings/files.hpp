// Schedules and profiles as values.
#pragma once

#include <pybind11/pybind11.h>

namespace debubble::python {

void bind_files(pybind11::module_& module);

}  // namespace debubble::python
