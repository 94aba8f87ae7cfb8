// The flags of `debubble plan`.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "scenario/request/flag.hpp"
#include "scenario/request/scenario.hpp"

namespace debubble {

// The flags that only `debubble plan` has, as typed.
struct PlanFlags {
  std::optional<int> gpus;
  std::optional<std::int64_t> global_batch;
  std::vector<std::string> fix;   // KEY=VALUE,...
  std::vector<std::string> only;  // KEY=VALUE,VALUE,...
  std::string runs_in;
  std::string objective;
  std::string price;  // of a GPU hour
  std::string gap;
  std::string margin;
  std::string budget;
  bool front = false;
  std::optional<int> threads;
  std::string script;
  bool cells = false;                                                   // whether Plan::cells is made; no flag
  std::size_t rows = 5;                                                 // of Plan::rows, at most; no flag
  std::function<ScenarioFlags(const std::string& file)> read_scenario;  // of a scenario file; no flag
};
[[nodiscard]] FlagRows flag_rows(PlanFlags& flags);

}  // namespace debubble
