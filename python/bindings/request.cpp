#include "python/bindings/request.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "scenario/request/flag.hpp"
#include "sim/core/error.hpp"
#include "tools/dispatch.hpp"
#include "tools/flags/command_line.hpp"
#include "tools/flags/config_file.hpp"

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

// A text, a number or a path; `name` is the flag's, for messages. Throws InputError C061 for anything else.
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

// One text for each occurrence of the flag: a list gives several where it may be repeated, else one, joined by commas;
// a dict is a list of KEY=VALUE. `flag` is null where there is none of that name.
std::vector<std::string> value_texts(py::handle value, const Flag* flag, const std::string& name) {
  if (!is_list_like(value)) return {scalar_text(value, name)};
  std::vector<std::string> texts = item_texts(value, name);
  if (texts.empty()) return {};
  if (flag != nullptr && takes_list(*flag)) return texts;
  std::string joined;
  for (const std::string& text : texts) joined += (joined.empty() ? "" : ",") + text;
  return {joined};
}

// "seq_length" is --seq-length, "p" is -p, and so --devices.
std::string flag_name(const std::string& keyword, std::span<const Flag> rows) {
  const auto found = std::find_if(
      rows.begin(), rows.end(), [&](const Flag& flag) { return !keyword.empty() && flag.short_name == "-" + keyword; });
  if (found != rows.end()) return std::string(found->name);
  std::string name = "--" + keyword;
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

// A program's standard input is its own.
void refuse_standard_input(const std::string& name, const std::string& value) {
  if (value != "-") return;
  fail("C061", name, "standard input is not read here", "name a file, or give the values themselves");
}

void add_switch(py::handle value, const std::string& name, std::vector<GivenFlag>& flags) {
  if (!PyBool_Check(value.ptr())) fail("C061", name, "it is on or off", "give True, or leave it out");
  if (value.ptr() == Py_True) flags.push_back({name, "", false});
}

void add_given(std::span<const Flag> rows, const std::string& keyword, py::handle value,
               std::vector<GivenFlag>& flags) {
  if (value.is_none()) return;
  const std::string name = flag_name(keyword, rows);
  const Flag* const flag = find_flag(rows, name);
  const bool maybe = flag != nullptr && flag->count == FlagCount::kMaybe && PyBool_Check(value.ptr());
  if (maybe || (flag != nullptr && is_switch(*flag))) return add_switch(value, name, flags);
  if (flag == nullptr && PyBool_Check(value.ptr())) return flags.push_back({name, "", false});
  for (std::string& text : value_texts(value, flag, name)) {
    refuse_standard_input(name, text);
    flags.push_back({name, std::move(text), true});
  }
}

// Of two keywords for one flag (a scenario's, and that of the call) the later one counts, whatever they are called.
void forget_earlier(std::span<const Flag> rows, std::size_t before, std::vector<GivenFlag>& flags) {
  if (flags.size() == before) return;
  const Flag* const flag = find_flag(rows, flags.back().name);
  const auto is_same = [&](const GivenFlag& one) { return flag != nullptr && find_flag(rows, one.name) == flag; };
  const auto end = flags.begin() + static_cast<std::ptrdiff_t>(before);
  flags.erase(std::remove_if(flags.begin(), end, is_same), end);
}

// As a shell's words.
void add_words(const GivenFlag& flag, std::vector<std::string>& words) {
  if (flag.name.empty() || !flag.has_value) {
    words.push_back(flag.name.empty() ? flag.value : flag.name);
  } else if (flag.value.starts_with("-")) {
    words.push_back(flag.name + "=" + flag.value);
  } else {
    words.push_back(flag.name);
    words.push_back(flag.value);
  }
}

bool set_one(const Flag& flag, const GivenFlag& given) {
  if (flag.given != nullptr) *flag.given = true;
  if (!given.has_value) return is_switch(flag) || flag.count == FlagCount::kMaybe ? set_flag(flag, "true") : false;
  if (flag.count != FlagCount::kList) return set_flag(flag, given.value);
  for (std::size_t begin = 0; begin <= given.value.size();) {
    const std::size_t end = std::min(given.value.find(',', begin), given.value.size());
    if (end == begin || !set_flag(flag, given.value.substr(begin, end - begin))) return false;
    begin = end + 1;
  }
  return true;
}

}  // namespace

std::vector<GivenFlag> given_flags(std::span<const Flag> rows, const CallRequest& request) {
  std::vector<GivenFlag> flags;
  for (const std::string& file : request.files) {
    refuse_standard_input("FILE", file);
    flags.push_back({"", file, true});
  }
  for (const auto& [keyword, value] : request.given) {
    const std::size_t before = flags.size();
    add_given(rows, py::str(keyword), value, flags);
    forget_earlier(rows, before, flags);
  }
  return flags;
}

bool set_given(std::span<const Flag> rows, const std::vector<GivenFlag>& flags) {
  return std::all_of(flags.begin(), flags.end(), [&](const GivenFlag& given) {
    const Flag* const flag = find_flag(rows, given.name.empty() ? "FILE" : given.name);
    return flag != nullptr && (!given.has_value || !given.value.empty()) && set_one(*flag, given);
  });
}

std::string command_of(const std::string& verb, const CallRequest& request, const std::vector<GivenFlag>& flags) {
  std::vector<std::string> words{verb};
  if (!request.config.is_none()) {
    words.emplace_back("--config");
    words.push_back(scalar_text(request.config, "--config"));
  }
  for (const GivenFlag& flag : flags) add_words(flag, words);
  words.insert(words.end(), request.end.begin(), request.end.end());
  return quoted_command_line(words);
}

std::string parse_like_command(const std::string& verb, const FlagRows& rows, const CallRequest& request,
                               const std::vector<GivenFlag>& flags) {
  std::vector<std::string> words{verb};
  for (const GivenFlag& flag : flags) add_words(flag, words);
  std::string command = command_of(verb, request, flags);
  if (!request.config.is_none()) {
    const std::string file = scalar_text(request.config, "--config");
    refuse_standard_input("--config", file);
    words.insert(words.begin() + 1, {"--config", file});
    words = expand_config(std::move(words), rows, verb_names());
  } else if (!request.config_text.empty()) {
    words = expand_config_text(request.config_text, "scenario", std::move(words), rows, verb_names());
    std::vector<std::string> whole = words;
    whole.insert(whole.end(), request.end.begin(), request.end.end());
    command = quoted_command_line(whole);
  }
  refuse_empty_values(words);
  if (!parse_command_line({verb, "", ""}, rows, {words.begin() + 1, words.end()})) {
    fail("C061", "debubble " + verb, "unexpected \"--help\"", "see help(debubble." + verb + ")");
  }
  return command;
}

}  // namespace debubble::python
