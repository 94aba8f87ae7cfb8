// Figures of one run in the style of the papers: the pipeline op by op, idle time by cause, memory over time.
#pragma once

#include <string>
#include <vector>

#include "sim/analysis/report.hpp"
#include "sim/core/schedule.hpp"
#include "sim/core/stage_costs.hpp"
#include "sim/core/timeline.hpp"
#include "tools/figures/drawing.hpp"

namespace debubble::figure {

enum class RunPanel : std::uint8_t {
  kPipeline,  // every op in a box with its microbatch
  kCauses,    // the same, and idle times by cause
  kIdle,      // each device's idle time by cause, as bars
  kMemory,    // each device's memory, by category
};

// "pipeline,memory" as panels; "" is the pipeline alone. Throws InputError C002 for another word, C007 for one that is
// there twice, at the flag `place`.
[[nodiscard]] std::vector<RunPanel> parse_run_panels(const std::string& text, const std::string& place);
// "pipeline|causes|idle|memory"
[[nodiscard]] std::string run_panel_words();

// All must outlive the drawing's making. The report has a result, the timeline is there.
struct RunToDraw {
  const Timeline* timeline = nullptr;
  const Schedule* schedule = nullptr;
  const StageCosts* costs = nullptr;
  const Report* report = nullptr;
  std::string command_line;
};

[[nodiscard]] Drawing run_figure(const RunToDraw& run, const std::vector<RunPanel>& panels, Length width, bool mono);

}  // namespace debubble::figure
