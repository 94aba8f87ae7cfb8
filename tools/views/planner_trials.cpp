#include "tools/views/planner_trials.hpp"

#include <fmt/format.h>

#include "formats/json/json.hpp"
#include "sim/core/quantities.hpp"
#include "sim/core/words.hpp"
#include "tools/views/ansi.hpp"
#include "tools/views/table.hpp"

namespace debubble {

namespace {

std::string trial_name(const PlannerTrial& trial) {
  return trial.planner + (trial.as_published ? " as published" : "");
}

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

Json trial_json(const PlannerTrial& trial) {
  Json stages = Json::array();
  for (const PlannerStage& stage : trial.decision.stages) {
    stages.push_back(
        {{"begin", stage.begin}, {"end", stage.end}, {"replicas", stage.replicas}, {"devices", Json(stage.devices)}});
  }
  Json choices = Json::array();
  for (const auto& [what, value] : trial.decision.choices) choices.push_back({{"what", what}, {"value", value}});
  const bool decided = !trial.decision.unit.empty();
  const bool simulated = trial.refusal.empty();
  return {{"planner", trial.planner},
          {"as_published", trial.as_published},
          {"refusal", simulated ? Json(nullptr) : Json(trial.refusal)},
          {"stages", std::move(stages)},
          {"predicted", decided ? Json(trial.decision.predicted) : Json(nullptr)},
          {"unit", decided ? Json(trial.decision.unit) : Json(nullptr)},
          {"choices", std::move(choices)},
          {"notes", trial.decision.notes},
          {"makespan_ns", simulated ? Json(trial.worth.step) : Json(nullptr)},
          {"step_ns", simulated ? Json(trial.worth.step) : Json(nullptr)},
          {"regret_ppm", trial.regret_ppm ? Json(*trial.regret_ppm) : Json(nullptr)},
          {"peak_memory_bytes", simulated ? Json(trial.worth.peak_memory) : Json(nullptr)},
          {"fits", simulated ? Json(trial.worth.fits) : Json(nullptr)}};
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

std::string planner_trials_text(const std::vector<PlannerTrial>& trials, const ViewStyle& style) {
  using Side = Table::Side;
  Table table({{"planner", Side::kLeft},
               {"step", Side::kRight},
               {"regret", Side::kRight},
               {"memory", Side::kRight},
               {"fits", Side::kLeft},
               {"stages (layers, x replicas)", Side::kLeft}});
  std::string refusals;
  for (const PlannerTrial& trial : trials) {
    if (!trial.refusal.empty()) {
      refusals += trial_name(trial) + ": " + trial.refusal + "\n";
      continue;
    }
    table.add_row({trial_name(trial), format_duration(trial.worth.step),
                   trial.regret_ppm ? format_percent(static_cast<double>(*trial.regret_ppm) / 1e6) : "-",
                   format_size(trial.worth.peak_memory), trial.worth.fits ? "yes" : "no",
                   stages_in_short(trial.decision.stages)});
  }
  std::string text = table.text(static_cast<std::size_t>(style.width));
  if (!refusals.empty()) text += "\n" + paint(style.color, kDim, "not simulated") + "\n" + refusals;
  return text;
}

std::string planner_trials_json(const std::vector<PlannerTrial>& trials) {
  Json list = Json::array();
  for (const PlannerTrial& trial : trials) list.push_back(trial_json(trial));
  return Json{{"schema_version", 1}, {"planners", std::move(list)}}.text(2) + "\n";
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
