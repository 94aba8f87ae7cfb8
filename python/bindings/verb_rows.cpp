#include "python/bindings/verb_rows.hpp"

#include <stdexcept>
#include <string_view>
#include <variant>

#include "scenario/check_scenario.hpp"
#include "scenario/request/catalog_names.hpp"
#include "scenario/request/flag_row.hpp"

namespace debubble::python {

namespace py = pybind11;

namespace {

const char* kind_of(const Flag& flag) {
  if (is_switch(flag)) return "switch";
  if (takes_list(flag)) return "list";
  const bool text = std::holds_alternative<std::string*>(flag.target) ||
                    std::holds_alternative<std::vector<std::string>*>(flag.target);
  return text ? "text" : "integer";
}

py::dict flag_facts(const Flag& flag) {
  py::list aliases;
  for (const std::string_view name : aliases_of(flag)) aliases.append(std::string(name.substr(2)));
  using namespace py::literals;
  return py::dict("name"_a = std::string(key_of(flag)),
                  "short"_a = std::string(flag.short_name.empty() ? "" : flag.short_name.substr(1)),
                  "aliases"_a = aliases, "kind"_a = kind_of(flag), "type"_a = std::string(type_of(flag)),
                  "help"_a = help_of(flag), "unit"_a = std::string(unit_of(flag)));
}

template <typename Flags>
py::list facts_of_rows(FlagRows (*rows_of)(Flags&)) {
  Flags flags;
  py::list facts;
  for (const Flag& flag : rows_of(flags)) {
    if (!is_positional(flag)) facts.append(flag_facts(flag));
  }
  return facts;
}

py::list flags_of_verb(const std::string& verb) {
  if (verb == "simulate") return facts_of_rows(simulate_call_rows);
  if (verb == "compare") return facts_of_rows(compare_call_rows);
  if (verb == "plan") return facts_of_rows(plan_call_rows);
  if (verb == "diff") return facts_of_rows(diff_call_rows);
  throw std::invalid_argument("no function of the module: " + verb);
}

}  // namespace

FlagRows simulate_call_rows(ScenarioFlags& flags) { return flag_rows(flags); }

FlagRows compare_call_rows(CompareFlags& flags) {
  FlagRows rows = asked_rows(flags);
  add_rows(rows, terms_rows(flags));
  return rows;
}

FlagRows plan_call_rows(PlanCallFlags& flags) {
  const FlagGroup row;
  FlagRows rows = flag_rows(flags.plan);
  rows.push_back(row("--top", "N", "runs in the result", &flags.top, Default{"5"}));
  add_rows(rows, flag_rows(flags.planners));
  rows.push_back(row("--schedule-only", "only the best order of a given pipeline (p, m)", &flags.schedule_only));
  add_rows(rows, flag_rows(flags.scenario, ScenarioVerb::kPlan));
  return rows;
}

FlagRows diff_call_rows(DiffFlags& flags) {
  const FlagGroup row;
  return {
      row("FILE", "the runs", &flags.files, FlagCount::kAll),
      row("--log", "FILE", "measured: a training log of Megatron-LM", &flags.log),
      row("--hardware", "NAME", "of log: its GPU", &flags.hardware, hardware_names, Default{"as nvidia-smi says"}),
      row("--iteration", "N", "measured iteration: median or 1, 2, ...", &flags.iteration, Preset{"median"}),
      row("--replica", "N", "of several data-parallel pipelines: which, from 0", &flags.replica, Preset{"0"}),
  };
}

void bind_flag_lists(py::module_& module) { module.def("flags", flags_of_verb); }

}  // namespace debubble::python
