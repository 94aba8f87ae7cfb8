// debubble._core: what the package debubble is made of. Python code around it is in python/debubble.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <string>
#include <utility>
#include <vector>

#include "formats/files/installed.hpp"
#include "formats/version.hpp"
#include "python/bindings/errors.hpp"
#include "python/bindings/files.hpp"
#include "python/bindings/request.hpp"
#include "python/bindings/run.hpp"
#include "python/bindings/studies.hpp"
#include "python/bindings/verb_rows.hpp"
#include "tools/dispatch.hpp"

namespace py = pybind11;

PYBIND11_MODULE(_core, module) {
  using namespace debubble;
  using namespace debubble::python;
  module.doc() = "The library of debubble; use the package debubble.";
  module.attr("version") = std::string(kVersion);
  module.def("set_prefix", [](const std::string& folder) { set_install_prefix(folder); });
  module.def("verbs", verb_names);
  translate_errors();
  py::class_<CallRequest>(module, "Request")
      .def(py::init([](py::object config, std::string text, std::vector<std::string> files, py::dict given,
                       std::vector<std::string> end) {
        return CallRequest{std::move(config), std::move(text), std::move(files), std::move(given), std::move(end)};
      }));
  bind_run(module);
  bind_studies(module);
  bind_files(module);
  bind_flag_lists(module);
}
