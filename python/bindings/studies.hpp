// compare, plan and diff: what their commands print as JSON, and a figure.
#pragma once

#include <pybind11/pybind11.h>

namespace debubble::python {

void bind_studies(pybind11::module_& module);

}  // namespace debubble::python
