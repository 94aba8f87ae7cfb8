// A run op by op, as the tables of an HTML page (tools/report/README.md): spans, transfers, copies, collectives, tasks
// of the step, idle gaps with their causes, the critical path, memory.
#pragma once

#include <cstddef>
#include <string>

#include "formats/json/json.hpp"
#include "sim/core/schedule.hpp"
#include "sim/core/stage_costs.hpp"
#include "sim/core/timeline.hpp"

namespace debubble {

// All must outlive the page.
struct PageRun {
  std::string label;  // of a page with several: "1f1b"
  const Timeline* timeline = nullptr;
  const Schedule* schedule = nullptr;
  const StageCosts* costs = nullptr;
  std::size_t report = 0;  // which of the runs in report.json it is
};

// Appends the columns to `bytes`; what is returned says where they are, and what their numbers are called.
[[nodiscard]] Json run_tables(const PageRun& run, std::string& bytes);

}  // namespace debubble
