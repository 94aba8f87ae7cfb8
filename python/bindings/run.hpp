// One simulated run as Python holds it: numbers at once; spans, curves, JSON and figures when they are asked for.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <mutex>
#include <optional>
#include <string>

#include "python/bindings/request.hpp"
#include "scenario/request/scenario.hpp"
#include "sim/analysis/limit.hpp"
#include "studies/simulate/simulate.hpp"

namespace debubble::python {

class HeldRun {
 public:
  // Throws what the command reports, and DeadlockError. `own` has the program's own schedules by name: functions of the
  // devices and microbatches that return a table's text.
  HeldRun(const CallRequest& request, const pybind11::dict& own);

  [[nodiscard]] const std::string& command() const { return command_; }
  // Everything that is one number or a short list, by the names of the JSON.
  [[nodiscard]] pybind11::dict numbers() const;
  [[nodiscard]] std::string title() const;
  [[nodiscard]] std::string json();
  [[nodiscard]] pybind11::array spans() const;
  [[nodiscard]] pybind11::array transfers() const;
  [[nodiscard]] pybind11::list memory() const;
  [[nodiscard]] std::string svg(const std::string& show, const std::string& width, bool mono) const;
  // A run file, for `debubble diff`.
  [[nodiscard]] std::string run_file() const;

 private:
  Scenario scenario_;
  std::string name_;
  std::string command_;
  Simulated run_;
  // What follows is found when it is asked for; the lock is taken without the interpreter's.
  std::mutex asked_;
  std::optional<MoreMicrobatches> more_;
};

void bind_run(pybind11::module_& module);

// The program's schedules, made for this many devices and microbatches and read like files. Throws InputError, and
// whatever a function throws.
[[nodiscard]] OwnSchedules make_own_schedules(const pybind11::dict& own, const Scenario& scenario);

// In a notebook, as wide as its cells.
inline constexpr const char* kNotebookWidth = "180mm";

}  // namespace debubble::python
