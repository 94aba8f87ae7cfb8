#include "python/bindings/run.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "formats/exporters/finding_text.hpp"
#include "formats/exporters/report_json.hpp"
#include "formats/run/run_file.hpp"
#include "formats/schedule/schedule_file.hpp"
#include "python/bindings/arrays.hpp"
#include "python/bindings/errors.hpp"
#include "python/bindings/interrupts.hpp"
#include "python/bindings/verb_rows.hpp"
#include "scenario/check_scenario.hpp"
#include "scenario/job/make_schedule.hpp"
#include "sim/analysis/analyse.hpp"
#include "sim/core/error.hpp"
#include "studies/runs/predict.hpp"
#include "tools/commands/simulate_answer.hpp"
#include "tools/figures/figure_file.hpp"
#include "tools/figures/run_figure.hpp"
#include "tools/views/summary.hpp"

namespace debubble::python {

namespace py = pybind11;

namespace {

py::dict by_cause(const NanosecondsByCause& times) {
  py::dict named;
  for (std::size_t k = 0; k < times.size(); ++k) named[to_string(static_cast<IdleCause>(k))] = times[k];
  return named;
}

py::dict by_category(const BytesByCategory& sizes) {
  py::dict named;
  for (std::size_t k = 0; k < sizes.size(); ++k) named[to_string(static_cast<MemoryCategory>(k))] = sizes[k];
  return named;
}

// In the order of the dataclass `Device`.
py::tuple device_row(const DeviceReport& device) {
  return py::make_tuple(device.device, device.busy, device.idle, device.bubble_ratio, by_cause(device.idle_by_cause),
                        device.peak_memory, device.peak_memory_at, by_category(device.peak_by_category),
                        device.peak_activation);
}

// In the order of the dataclass `Finding`.
py::tuple finding_row(const Finding& finding, const Report& report) {
  return py::make_tuple(to_string(severity_of(finding)), code_of(finding), finding_text(finding, report));
}

template <typename Number>
py::object or_none(const std::optional<Number>& value) {
  return value ? py::cast(*value) : py::none();
}

}  // namespace

OwnSchedules make_own_schedules(const py::dict& own, const Scenario& scenario) {
  if (own.empty()) return nullptr;
  const int devices = scenario.devices.value_or(kDefaultDevices);
  const int microbatches = scenario.microbatches.value_or(kDefaultMicrobatches);
  auto made = std::make_shared<std::map<std::string, Schedule>>();
  for (const auto& [key, function] : own) {
    const std::string name = py::str(key);
    const std::string text = py::cast<std::string>(function(devices, microbatches));
    const py::gil_scoped_release unlocked;
    made->emplace(name, read_schedule_text(text, name));
  }
  return made;
}

HeldRun::HeldRun(const CallRequest& request, const py::dict& own) {
  auto [flags, command] = read_flags<ScenarioFlags>("simulate", request, simulate_call_rows);
  command_ = std::move(command);
  {
    const py::gil_scoped_release unlocked;
    scenario_ = check_scenario(flags);
  }
  name_ = simulated_name(scenario_);
  scenario_.own_schedules = make_own_schedules(own, scenario_);
  {
    SignalProgress progress;
    const py::gil_scoped_release unlocked;
    run_ = answer_simulate(scenario_, name_, progress);
  }
  if (!has_result(run_.result.report)) throw_deadlock(run_.result.report);
}

py::dict HeldRun::numbers() const {
  const Report& report = run_.result.report;
  py::list devices;
  Bytes peak = 0;
  for (const DeviceReport& device : report.devices) {
    devices.append(device_row(device));
    peak = std::max(peak, device.peak_memory);
  }
  py::list findings;
  for (const Finding& finding : report.findings) findings.append(finding_row(finding, report));
  NanosecondsByCause idle{};
  for (std::size_t k = 0; k < idle.size(); ++k) idle[k] = idle_by(report, static_cast<IdleCause>(k));
  using namespace py::literals;
  return py::dict(
      "schedule"_a = report.schedule.name, "devices"_a = report.schedule.devices, "stages"_a = report.schedule.stages,
      "chunks"_a = report.schedule.chunks, "microbatches"_a = report.schedule.microbatches,
      "makespan_ns"_a = report.makespan, "ideal_ns"_a = report.ideal, "bubble_ratio"_a = report.bubble_ratio,
      "bubble_over_ideal"_a = report.bubble_over_ideal, "span_bubble_ratio"_a = report.span_bubble_ratio,
      "idle_by_cause_ns"_a = by_cause(idle), "peak_memory_bytes"_a = peak,
      "fits"_a = report.memory_fit ? py::cast(report.memory_fit->spare >= 0) : py::none(),
      "samples_per_second"_a = or_none(report.samples_per_second),
      "tokens_per_second"_a = or_none(report.tokens_per_second), "mfu"_a = or_none(report.mfu),
      "p2p_bytes"_a = report.p2p_bytes, "per_device"_a = std::move(devices), "findings"_a = std::move(findings));
}

std::string HeldRun::title() const {
  const Report& report = run_.result.report;
  return schedule_title(report.schedule) + "\n" + run_verdict(report);
}

std::string HeldRun::json() {
  const py::gil_scoped_release unlocked;
  const std::lock_guard lock(asked_);
  if (!more_) more_ = more_for(scenario_, name_, run_);
  return simulate_json(run_, *more_, command_);
}

py::array HeldRun::spans() const { return spans_array(run_.result.timeline); }
py::array HeldRun::transfers() const { return transfers_array(run_.result.timeline); }

py::list HeldRun::memory() const {
  std::vector<std::vector<MemoryPoint>> all;
  {
    const py::gil_scoped_release unlocked;
    all = memory_curves(run_.result.timeline, run_.job.schedule, run_.job.costs);
  }
  py::list curves;
  for (const std::vector<MemoryPoint>& points : all) curves.append(memory_array(points));
  return curves;
}

std::string HeldRun::svg(const std::string& show, const std::string& width, bool mono) const {
  const std::vector<figure::RunPanel> panels = figure::parse_run_panels(show, "show");
  const figure::FigureWidth wide = figure::parse_figure_width(width, "width");
  const py::gil_scoped_release unlocked;
  return figure::figure_bytes(
      run_figure({&run_.result.timeline, &run_.job.schedule, &run_.job.costs, &run_.result.report, command_}, panels,
                 wide.length, mono),
      figure::FigureType::kSvg, wide, "width");
}

std::string HeldRun::run_file() const {
  const std::string reason = not_in_run_files(run_);
  if (!reason.empty())
    fail("T054", "save_run", "a run file cannot hold this run: " + reason, "its arrays and .json have it");
  const py::gil_scoped_release unlocked;
  refuse_what_cannot_be_read_back(run_.job.schedule, "save_run");
  std::string text;
  write_run_file(record_of(run_, command_), [&](std::string_view piece) { text += piece; });
  return text;
}

void bind_run(py::module_& module) {
  py::class_<HeldRun>(module, "Run")
      .def(py::init<const CallRequest&, const py::dict&>())
      .def_property_readonly("command", &HeldRun::command)
      .def("numbers", &HeldRun::numbers)
      .def("title", &HeldRun::title)
      .def("json", &HeldRun::json)
      .def("spans", &HeldRun::spans)
      .def("transfers", &HeldRun::transfers)
      .def("memory", &HeldRun::memory)
      .def("svg", &HeldRun::svg)
      .def("run_file", [](const HeldRun& run) { return py::bytes(run.run_file()); });
}

}  // namespace debubble::python
