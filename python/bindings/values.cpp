#include "python/bindings/values.hpp"

#include <cmath>
#include <memory>

#include "sim/core/error.hpp"

namespace debubble::python {

namespace py = pybind11;

namespace {

[[noreturn]] void refuse_value(py::handle value, const std::string& name) {
  const std::string type = py::str(py::type::handle_of(value).attr("__name__"));
  fail("C061", name, "a value of type " + type + " is none that a flag takes",
       "give a text, a number, a list or dict of these, or True");
}

// Strings of C end at a NUL; one that holds it would be taken for another.
std::string checked_text(std::string text, const std::string& name) {
  if (text.find('\0') == std::string::npos) return text;
  fail("C061", name, "the value holds a NUL character", "leave it out");
}

std::string text_of(py::handle value, const std::string& name) {
  Py_ssize_t size = 0;
  const char* const text = PyUnicode_AsUTF8AndSize(value.ptr(), &size);
  if (text == nullptr) {  // surrogates
    PyErr_Clear();
    fail("C061", name, "the value is no text: it holds half of a character", "give it as UTF-8 can say it");
  }
  return checked_text(std::string(text, static_cast<std::size_t>(size)), name);
}

// The shortest text that brings the number back, without an exponent, which quantities do not have.
std::string fraction_text(double value) {
  constexpr int kLongest = 330;
  const auto form = [&](char format, int precision) {
    const std::unique_ptr<char, void (*)(void*)> text(PyOS_double_to_string(value, format, precision, 0, nullptr),
                                                      PyMem_Free);
    if (text == nullptr) throw py::error_already_set();
    return std::string(text.get());
  };
  const std::string shortest = form('r', 0);
  if (!std::isfinite(value) || shortest.find('e') == std::string::npos) return shortest;
  for (int digits = 0; digits <= kLongest; ++digits) {
    std::string plain = form('f', digits);
    if (PyOS_string_to_double(plain.c_str(), nullptr, nullptr) == value) return plain;
  }
  return shortest;
}

std::string index_text(py::handle value) {
  const auto number = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
  if (!number) throw py::error_already_set();
  return py::str(number);
}

bool is_text(py::handle value) { return PyUnicode_Check(value.ptr()) || PyBytes_Check(value.ptr()); }

bool is_list_like(py::handle value) {
  return !is_text(value) && !py::hasattr(value, "__fspath__") && py::hasattr(value, "__len__") &&
         py::hasattr(value, "__iter__");
}

std::vector<std::string> item_texts(py::handle value, const std::string& name) {
  std::vector<std::string> texts;
  if (PyDict_Check(value.ptr())) {
    for (const auto& [key, item] : py::reinterpret_borrow<py::dict>(value)) {
      texts.push_back(scalar_text(key, name) + "=" + scalar_text(item, name));
    }
    return texts;
  }
  for (const py::handle item : value) texts.push_back(scalar_text(item, name));
  return texts;
}

}  // namespace

std::string scalar_text(py::handle value, const std::string& name) {
  PyObject* const object = value.ptr();
  if (PyUnicode_Check(object)) return text_of(value, name);
  if (PyBool_Check(object) || PyBytes_Check(object)) refuse_value(value, name);
  if (PyIndex_Check(object)) return index_text(value);
  if (py::hasattr(value, "__fspath__")) {
    const auto path = py::reinterpret_steal<py::object>(PyOS_FSPath(object));
    if (!path) throw py::error_already_set();
    if (!PyUnicode_Check(path.ptr())) refuse_value(value, name);
    return text_of(path, name);
  }
  if (PyFloat_Check(object) || py::hasattr(value, "__float__")) {
    const double number = PyFloat_AsDouble(object);
    if (PyErr_Occurred() != nullptr) throw py::error_already_set();
    return fraction_text(number);
  }
  refuse_value(value, name);
}

std::vector<std::string> value_texts(py::handle value, const Flag* flag, const std::string& name) {
  if (!is_list_like(value)) return {scalar_text(value, name)};
  std::vector<std::string> texts = item_texts(value, name);
  if (texts.empty()) return {};
  if (flag != nullptr && takes_list(*flag)) return texts;
  std::string joined;
  for (const std::string& text : texts) joined += (joined.empty() ? "" : ",") + text;
  return {joined};
}

}  // namespace debubble::python
