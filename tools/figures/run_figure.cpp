#include "tools/figures/run_figure.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "sim/core/error.hpp"
#include "sim/core/quantities.hpp"
#include "sim/core/words.hpp"
#include "tools/figures/panels.hpp"
#include "tools/views/summary.hpp"

namespace debubble::figure {

namespace {

constexpr std::array<std::pair<std::string_view, RunPanel>, 4> kPanelWords{{{"pipeline", RunPanel::kPipeline},
                                                                            {"causes", RunPanel::kCauses},
                                                                            {"idle", RunPanel::kIdle},
                                                                            {"memory", RunPanel::kMemory}}};

void draw(RunPanel panel, const RunToDraw& run, Sheet& sheet) {
  switch (panel) {
    case RunPanel::kPipeline:
    case RunPanel::kCauses:
      draw_pipeline(run, panel == RunPanel::kCauses, sheet);
      break;
    case RunPanel::kIdle:
      draw_idle(run, sheet);
      break;
    case RunPanel::kMemory:
      draw_memory(run, sheet);
      break;
  }
}

}  // namespace

std::string run_panel_words() {
  std::string words;
  for (const auto& [word, panel] : kPanelWords) words += (words.empty() ? "" : "|") + std::string(word);
  return words;
}

std::vector<RunPanel> parse_run_panels(const std::string& text, const std::string& place) {
  if (text.empty()) return {RunPanel::kPipeline};
  std::vector<RunPanel> panels;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string word = text.substr(at, end - at);
    const auto* const found =
        std::find_if(kPanelWords.begin(), kPanelWords.end(), [&word](const auto& row) { return row.first == word; });
    if (found == kPanelWords.end()) {
      fail("C002", place, "\"" + word + "\" is nothing that a figure of a run shows",
           "one or several of " + run_panel_words() + ", like pipeline,memory");
    }
    if (std::find(panels.begin(), panels.end(), found->second) != panels.end()) {
      fail("C007", place, word + " is there twice", "name each once");
    }
    panels.push_back(found->second);
    at = end + 1;
  }
  return panels;
}

Drawing run_figure(const RunToDraw& run, const std::vector<RunPanel>& panels, Length width, bool mono) {
  Sheet sheet(width, mono);
  for (const RunPanel panel : panels) {
    if (panel != panels.front()) sheet.move_down(400);
    draw(panel, run, sheet);
  }
  const Report& report = *run.report;
  return sheet.take(
      schedule_title(report.schedule),
      run_verdict(report) + (run.timeline->measured ? "; measured" : "; simulated") + ". Made by: " + run.command_line);
}

}  // namespace debubble::figure
