// A value of Python as the text that a flag takes.
#pragma once

#include <pybind11/pybind11.h>

#include <string>
#include <vector>

#include "scenario/request/flag.hpp"

namespace debubble::python {

// A text, a number or a path; `name` is the flag's, for messages. Throws InputError C061 for anything else.
[[nodiscard]] std::string scalar_text(pybind11::handle value, const std::string& name);

// One text for each occurrence of the flag: a list gives several where it may be repeated, else one, joined by commas;
// a dict is a list of KEY=VALUE. `flag` is null where there is none of that name.
[[nodiscard]] std::vector<std::string> value_texts(pybind11::handle value, const Flag* flag, const std::string& name);

}  // namespace debubble::python
