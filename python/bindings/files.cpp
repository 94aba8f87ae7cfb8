#include "python/bindings/files.hpp"

#include <pybind11/stl.h>

#include <string>
#include <utility>
#include <vector>

#include "formats/files/read_file.hpp"
#include "formats/profile/profile_json.hpp"
#include "formats/schedule/schedule_file.hpp"
#include "python/bindings/arrays.hpp"
#include "python/bindings/request.hpp"
#include "python/bindings/run.hpp"
#include "python/bindings/verb_rows.hpp"
#include "scenario/check_scenario.hpp"
#include "scenario/job/make_schedule.hpp"
#include "scenario/job/transforms.hpp"
#include "scenario/request/catalog_names.hpp"
#include "sim/core/error.hpp"
#include "tools/commands/simulate_answer.hpp"

namespace debubble::python {

namespace py = pybind11;

namespace {

// A schedule and what `export --to schedule-json` writes of it.
struct HeldSchedule {
  std::string command;
  Schedule schedule;

  [[nodiscard]] std::string json() const {
    const py::gil_scoped_release unlocked;
    std::string text;
    write_schedule_file(schedule, [&](std::string_view piece) { text += piece; });
    return text;
  }

  // "0F0", one cell each; the two of an overlapped pair as "0F1+1B0".
  [[nodiscard]] std::vector<std::vector<std::string>> rows() const {
    std::vector<std::vector<std::string>> rows;
    for (const std::vector<Op>& row : schedule.rows) {
      std::vector<std::string>& cells = rows.emplace_back();
      bool joined = false;
      for (const Op& op : row) {
        if (joined) {
          cells.back() += "+" + to_string(op);
        } else {
          cells.push_back(to_string(op));
        }
        joined = op.paired_with_next;
      }
    }
    return rows;
  }
};

HeldSchedule make_held_schedule(const CallRequest& request, const py::dict& own) {
  auto [flags, command] = read_flags<ScenarioFlags>("export", request, simulate_call_rows);
  Scenario scenario;
  {
    const py::gil_scoped_release unlocked;
    scenario = check_scenario(flags);
  }
  scenario.own_schedules = make_own_schedules(own, scenario);
  const py::gil_scoped_release unlocked;
  Schedule schedule = make_schedule(scenario, simulated_name(scenario));
  refuse_filled_bubbles(schedule, "--transform",
                        "the simulation places the work of fill-bubbles, which is not part of the schedule");
  return {std::move(command), std::move(schedule)};
}

py::dict layer_row(const ProfileLayer& layer) {
  const auto median = [](const std::optional<TimeStatistics>& times) -> py::object {
    return times ? py::cast(times->median) : py::none();
  };
  using namespace py::literals;
  return py::dict("name"_a = layer.name, "kind"_a = layer.kind, "forward_ns"_a = layer.forward.median,
                  "backward_ns"_a = median(layer.backward), "input_grad_ns"_a = median(layer.input_grad),
                  "weight_grad_ns"_a = median(layer.weight_grad), "activation_bytes"_a = layer.activation,
                  "output_bytes"_a = layer.output, "parameter_bytes"_a = layer.parameters);
}

py::dict read_held_profile(const std::string& path) {
  if (path == "-") fail("C061", "--profile", "standard input is not read here", "name a file");
  Profile profile;
  std::string json;
  {
    const py::gil_scoped_release unlocked;
    profile = read_profile(read_text_file(path, "--profile"), path);
    json = write_profile(profile);
  }
  py::list layers;
  for (const ProfileLayer& layer : profile.layers) layers.append(layer_row(layer));
  using namespace py::literals;
  return py::dict("path"_a = path, "model"_a = profile.model, "dtype"_a = profile.dtype,
                  "microbatch_size"_a = profile.microbatch_size, "sequence_length"_a = profile.sequence_length,
                  "device"_a = profile.origin.device, "citation"_a = profile.origin.citation,
                  "layers"_a = std::move(layers), "json"_a = py::bytes(json));
}

}  // namespace

void bind_files(py::module_& module) {
  py::class_<HeldSchedule>(module, "Schedule")
      .def(py::init(&make_held_schedule))
      .def_readonly("command", &HeldSchedule::command)
      .def_property_readonly("name", [](const HeldSchedule& held) { return held.schedule.name; })
      .def_property_readonly("devices", [](const HeldSchedule& held) { return held.schedule.devices; })
      .def_property_readonly("stages", [](const HeldSchedule& held) { return held.schedule.stages; })
      .def_property_readonly("chunks", [](const HeldSchedule& held) { return held.schedule.chunks; })
      .def_property_readonly("microbatches", [](const HeldSchedule& held) { return held.schedule.microbatches; })
      .def_property_readonly("notes", [](const HeldSchedule& held) { return py::tuple(py::cast(held.schedule.notes)); })
      .def("json", &HeldSchedule::json)
      .def("rows", &HeldSchedule::rows)
      .def("ops", [](const HeldSchedule& held) { return ops_array(held.schedule); });
  module.def("read_profile", read_held_profile);
  module.def("schedule_names", schedule_names);
}

}  // namespace debubble::python
