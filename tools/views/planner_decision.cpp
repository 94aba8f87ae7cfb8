#include "tools/views/planner_decision.hpp"

#include <fmt/format.h>

#include "sim/core/quantities.hpp"
#include "sim/core/words.hpp"
#include "tools/views/ansi.hpp"
#include "tools/views/table.hpp"

namespace debubble {

namespace {

// "[0,18)x15 [18,25)x1"
std::string stages_text(const std::vector<PlannerStage>& stages) {
  std::string text;
  for (const PlannerStage& stage : stages) {
    text += fmt::format("{}[{},{})", text.empty() ? "" : " ", stage.begin, stage.end);
    if (stage.replicas != 1) text += fmt::format("x{}", stage.replicas);
  }
  return text;
}

// The same where there are many: "18 of 2 layers, 46 of 1"
std::string stages_in_short(const std::vector<PlannerStage>& stages) {
  constexpr std::size_t kShown = 12;
  if (stages.size() <= kShown) return stages_text(stages);
  std::string text;
  for (std::size_t first = 0; first < stages.size();) {
    const int size = stages[first].end - stages[first].begin;
    const int replicas = stages[first].replicas;
    std::size_t last = first;
    while (last < stages.size() && stages[last].end - stages[last].begin == size && stages[last].replicas == replicas) {
      ++last;
    }
    text += fmt::format("{}{} of {}", text.empty() ? "" : ", ", last - first,
                        text.empty() ? counted(size, "layer") : std::to_string(size));
    if (replicas != 1) text += fmt::format(" x{}", replicas);
    first = last;
  }
  return text;
}

std::string predicted_text(const PlannerDecision& decision) {
  if (decision.unit.starts_with("ns ")) {
    return format_duration(static_cast<Nanoseconds>(decision.predicted)) + decision.unit.substr(2);
  }
  if (decision.unit.starts_with("bytes ")) {
    return format_size(static_cast<Bytes>(decision.predicted)) + decision.unit.substr(5);
  }
  return fmt::format("{:.6g} {}", decision.predicted, decision.unit);
}

}  // namespace

std::string planner_job_text(const PlannerJob& job) {
  std::string devices = counted(job.device_count(), "device");
  if (const Bytes memory = least_memory(job); memory > 0) {
    devices += " with " + std::string(equal_types(job) ? "" : "at least ") + format_size(memory) + " each";
  }
  std::string links;
  for (const PlannerLevel& level : job.levels) {
    const std::string rate = level.bandwidth >= kUnlimitedLink
                                 ? "without a limit"
                                 : "of " + format_with_unit(level.bandwidth, scale_of("GB/s", 1));
    links += (links.empty() ? "links " : fmt::format(" among {} and ", job.levels.front().members)) + rate;
  }
  return fmt::format("{}, {}; {}, {}; {} per step", job.model, counted(job.layer_count(), "layer"), devices, links,
                     counted(job.microbatches, "microbatch"));
}

std::string planner_decision_text(const PlannerDecision& decision, const std::optional<DecisionWorth>& worth,
                                  const ViewStyle& style) {
  Table table({{"", Table::Side::kLeft}, {"", Table::Side::kLeft}});
  if (!decision.stages.empty()) table.add_row({"stages", stages_in_short(decision.stages)});
  table.add_row({"predicts", predicted_text(decision)});
  for (const auto& [what, value] : decision.choices) table.add_row({what, value});
  if (worth) {
    table.add_row({"simulated", format_duration(worth->step) +
                                    (decision.planner == "optpipe" ? " per step of its order" : " per step of 1F1B") +
                                    ", at most " + format_size(worth->peak_memory) + " on a device" +
                                    (worth->fits ? "" : ", which is more than it has")});
  }
  for (const std::string& note : decision.notes) table.add_row({"note", note});
  return paint(style.color, kBold, decision.planner + (decision.as_published ? " as published" : "")) + "\n" +
         table.text(static_cast<std::size_t>(style.width), 2);
}

}  // namespace debubble
