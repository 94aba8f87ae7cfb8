#include "python/bindings/errors.hpp"

#include <exception>
#include <string>
#include <utility>

#include "formats/exporters/finding_text.hpp"
#include "python/bindings/interrupts.hpp"
#include "sim/analysis/finding.hpp"

namespace debubble::python {

namespace py = pybind11;

namespace {

// Bytes that are no UTF-8 (of a file's name) are replaced: an exception can always be made and shown.
py::object shown_text(const std::string& text) {
  return py::reinterpret_steal<py::object>(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

void set_error(const char* type, const std::vector<Diagnostic>& problems) {
  try {
    py::list rows;
    for (const Diagnostic& problem : problems) {
      rows.append(py::make_tuple(shown_text(problem.code), shown_text(problem.place), shown_text(problem.message),
                                 shown_text(problem.help)));
    }
    const py::object error = py::module_::import("debubble._errors").attr(type);
    PyErr_SetObject(error.ptr(), error(rows).ptr());
  } catch (py::error_already_set& failed) {
    failed.restore();
  }
}

void translate_error(std::exception_ptr thrown) {
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const InputError& error) {
    set_error("Error", error.diagnostics());
  } catch (const UnavailableError& error) {
    set_error("UnavailableError", {error.diagnostic()});
  } catch (const Interrupted&) {
    if (PyErr_Occurred() == nullptr) PyErr_SetNone(PyExc_KeyboardInterrupt);
  }
}

}  // namespace

void translate_errors() { py::register_exception_translator(translate_error); }

void throw_deadlock(const Report& report) {
  std::vector<Diagnostic> problems;
  for (const Finding& finding : report.findings) {
    if (!is_error(finding)) continue;
    const std::string help = finding_help(finding, report);
    std::string message = finding_text(finding, report);  // the help included
    if (!help.empty()) message.resize(message.size() - help.size() - std::string("; ").size());
    problems.push_back({code_of(finding), report.schedule.name, std::move(message), help});
  }
  set_error("DeadlockError", problems);
  throw py::error_already_set();
}

}  // namespace debubble::python
