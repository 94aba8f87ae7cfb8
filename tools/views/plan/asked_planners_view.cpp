#include "tools/views/plan/asked_planners_view.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "formats/json/json.hpp"
#include "formats/text/csv.hpp"
#include "formats/text/printable.hpp"
#include "formats/text/shell.hpp"
#include "sim/core/quantities.hpp"
#include "sim/core/words.hpp"
#include "tools/views/ansi.hpp"
#include "tools/views/paragraph.hpp"
#include "tools/views/planner_decision.hpp"
#include "tools/views/table.hpp"

namespace debubble {
namespace {

constexpr std::size_t kFewAnswers = 4;  // more of them are shown without their notes

std::string answer_name(const PlannerAnswer& row) { return row.planner + (row.as_published ? " *" : ""); }

// "11, 6 x 10, 9": layers of each stage.
std::string cut_text(const std::vector<PlannerStage>& stages) {
  std::string text;
  for (std::size_t first = 0; first < stages.size();) {
    const int size = stages[first].end - stages[first].begin;
    std::size_t last = first;
    while (last < stages.size() && stages[last].end - stages[last].begin == size) ++last;
    if (!text.empty()) text += ", ";
    if (last - first > 1) text += fmt::format("{} x ", last - first);
    text += std::to_string(size);
    first = last;
  }
  return text;
}

// Devices in the order of the stages, where that is not their own: " on 2, 0, 1".
std::string placed_on(const PlannerAnswers& answers, const std::vector<PlannerStage>& stages) {
  if (answers.plan) return "";
  std::string text;
  bool in_order = true;
  int next = 0;
  for (const PlannerStage& stage : stages) {
    for (const int device : stage.devices) {
      in_order = in_order && device == next++;
      text += (text.empty() ? " on " : ", ") + std::to_string(device);
    }
  }
  return in_order && next == answers.job.device_count() ? "" : text;
}

std::string answer_command(const PlannerAnswers& answers, const PlannerAnswer& row) {
  ScenarioFlags job = answers.plan->asked.request.job;
  if (!row.partition.empty()) job.partition = row.partition;
  return command_of(*row.choice, job);
}

// What a run takes that the plan has otherwise.
std::string differences(const PlanChoice& run, const PlanChoice& plan) {
  std::string text;
  if (run.expert != plan.expert) text += fmt::format(", ep {}", run.expert);
  if (run.zero != plan.zero) text += run.zero == 0 ? ", no ZeRO" : fmt::format(", ZeRO-{}", run.zero);
  if (run.microbatch != plan.microbatch) text += ", microbatch " + std::to_string(run.microbatch);
  if (run.recompute != plan.recompute) text += fmt::format(", {} recomputation", kRecomputeWords[run.recompute]);
  return text;
}

std::string decided_text(const PlannerAnswers& answers, const PlannerAnswer& row) {
  if (answers.plan && row.own) return to_string(*row.choice);
  const std::vector<PlannerStage>& stages = row.decision.stages;
  if (row.choice) {
    return fmt::format("pp {}, dp {}{}: {}", row.choice->pipeline, row.choice->data,
                       differences(*row.choice, row.cuts_only ? answers.cut : *answers.rows.front().choice),
                       cut_text(stages));
  }
  std::string text;
  for (const PlannerStage& stage : stages) {
    text += (text.empty() ? "" : ", ") + std::to_string(stage.end - stage.begin);
    if (stage.replicas > 1) text += fmt::format(" (x{})", stage.replicas);
  }
  return text + placed_on(answers, stages) + (answers.plan ? "; shares" : "");
}

std::string devices_text(const PlannerJob& job) {
  std::string text;
  int first = 0;
  for (std::size_t k = 0; k < job.types.size(); ++k) {
    const PlannerDeviceType& type = job.types[k];
    const auto count = static_cast<int>(std::count(job.devices.begin(), job.devices.end(), static_cast<int>(k)));
    text += fmt::format("{}{} {} (d{}{})", text.empty() ? "" : "; ", count, printable(type.name), first,
                        count > 1 ? fmt::format(" to d{}", first + count - 1) : "");
    if (type.time_factor != 1) text += fmt::format(", {:.3g} times as slow", type.time_factor);
    if (type.memory > 0) text += ", " + format_size(type.memory);
    first += count;
  }
  return text;
}

// What planners run that know one stage per device.
std::string schedule_text(const PlanChoice& plan) {
  return plan.pipeline < 2 || straight_schedule(plan) == plan.schedule
             ? ""
             : ", but the schedule: 1f1b, with one stage per device";
}

void add_plan_lines(const PlannerAnswers& answers, std::vector<std::string>& lines) {
  const PlanChoice& best = *answers.rows.front().choice;
  std::string cuts;
  for (const PlannerAnswer& row : answers.rows) {
    if (row.cuts_only && !row.as_published) cuts += (cuts.empty() ? "" : ", ") + row.planner;
  }
  lines.push_back("All else is as in the plan" + schedule_text(best) + ".");
  if (!cuts.empty()) {
    lines.push_back(cuts + " decide nothing but cuts, and got " +
                    (answers.cut == best ? fmt::format("pp {} and dp {} of the plan.", best.pipeline, best.data)
                                         : "the best plan with a pipeline: " + to_string(answers.cut) +
                                               schedule_text(answers.cut) + "."));
  }
  const bool shares = std::any_of(answers.rows.begin(), answers.rows.end(),
                                  [](const PlannerAnswer& row) { return row.refusal.empty() && !row.choice; });
  if (shares) {
    lines.push_back(
        "shares: simulated as 1F1B in which replicas take shares of each microbatch, without contention and ZeRO.");
  }
}

std::vector<std::string> introduction(const PlannerAnswers& answers) {
  std::vector<std::string> lines;
  lines.push_back("asked about " + planner_job_text(answers.job) + ", each of " + counted(answers.samples, "sample") +
                  (answers.ranks > 1 ? fmt::format("; a device is {} GPUs", answers.ranks) : ""));
  if (!answers.plan) {
    if (!equal_types(answers.job)) lines.push_back("devices: " + devices_text(answers.job));
    lines.push_back(
        "Every row is simulated as a step of 1F1B, optpipe's in its own order, in which replicas take shares of each "
        "microbatch; the update of the weights is left out.");
  } else {
    add_plan_lines(answers, lines);
  }
  if (std::any_of(answers.rows.begin(), answers.rows.end(),
                  [](const PlannerAnswer& row) { return row.as_published; })) {
    lines.emplace_back("*: as published, with the faults of its program.");
  }
  return lines;
}

std::string title(const PlannerAnswers& answers) {
  if (!answers.plan) {
    return fmt::format("planners for {} on {}{}", printable(answers.job.model),
                       counted(answers.job.device_count(), "device"), equal_types(answers.job) ? "" : " that differ");
  }
  return fmt::format("planners for {} on {}, {} per step", printable(answers.job.model),
                     counted(answers.plan->asked.request.gpus, "GPU"),
                     counted(answers.plan->asked.request.global_batch, "sample"));
}

std::string answers_table(const PlannerAnswers& answers, const ViewStyle& style) {
  using Side = Table::Side;
  Table table({{"planner", Side::kLeft},
               {"predicted", Side::kRight},
               {"simulated", Side::kRight},
               {"regret", Side::kRight},
               {"memory", Side::kRight},
               {"decides: layers of stages", Side::kLeft}});
  for (const PlannerAnswer& row : answers.rows) {
    if (!row.refusal.empty()) continue;
    table.add_row({answer_name(row), row.predicted ? format_duration(*row.predicted) : "-", format_duration(row.step),
                   row.regret_ppm ? format_percent(static_cast<double>(*row.regret_ppm) / 1e6) : "too big",
                   format_size(row.peak), decided_text(answers, row)});
  }
  return table.text(static_cast<std::size_t>(style.width));
}

// Of a few planners: what else they say.
std::string remarks(const PlannerAnswers& answers, const ViewStyle& style) {
  std::string text;
  if (answers.rows.size() > kFewAnswers) return text;
  for (const PlannerAnswer& row : answers.rows) {
    for (const auto& [what, value] : row.decision.choices) {
      text += paragraph(row.planner + ": " + what + " " + value, style);
    }
    for (const std::string& note : row.decision.notes) text += paragraph(row.planner + ": " + note, style);
    if (row.choice && !row.own) text += paragraph("next: " + answer_command(answers, row), style);
  }
  return text.empty() ? text : "\n" + text;
}

Json decided_stages_json(const std::vector<PlannerStage>& stages) {
  return json_list(stages, [](const PlannerStage& stage) -> Json {
    return {{"begin", stage.begin}, {"end", stage.end}, {"replicas", stage.replicas}, {"devices", Json(stage.devices)}};
  });
}

Json answer_json(const PlannerAnswers& answers, const PlannerAnswer& row) {
  const bool simulated = row.refusal.empty();
  Json choices = Json::array();
  for (const auto& [what, value] : row.decision.choices) choices.push_back({{"what", what}, {"value", value}});
  Json own = nullptr;
  if (!row.decision.unit.empty()) own = {{"value", row.decision.predicted}, {"unit", row.decision.unit}};
  return {{"planner", row.planner},
          {"as_published", row.as_published},
          {"cuts_only", row.cuts_only},
          {"refusal", simulated ? Json(nullptr) : Json(row.refusal)},
          {"stages", decided_stages_json(row.decision.stages)},
          {"predicted", std::move(own)},
          {"choices", std::move(choices)},
          {"notes", row.decision.notes},
          {"simulated_as", simulated ? Json(row.choice ? "run" : "shares") : Json(nullptr)},
          {"run", row.choice ? Json(to_string(*row.choice)) : Json(nullptr)},
          {"command", row.choice ? Json(answer_command(answers, row)) : Json(nullptr)},
          {"predicted_makespan_ns", row.predicted},
          {"makespan_ns", simulated ? Json(row.step) : Json(nullptr)},
          {"predicted_step_ns", row.predicted},
          {"step_ns", simulated ? Json(row.step) : Json(nullptr)},
          {"regret_ppm", row.regret_ppm},
          {"peak_memory_bytes", simulated ? Json(row.peak) : Json(nullptr)},
          {"fits", simulated ? Json(row.fits) : Json(nullptr)}};
}

Json asked_job_json(const PlannerAnswers& answers) {
  const PlannerJob& job = answers.job;
  Json types = json_list(job.types, [](const PlannerDeviceType& type) -> Json {
    return {{"name", type.name},
            {"time_factor", type.time_factor},
            {"memory_bytes", type.memory},
            {"bandwidth_bytes_per_s", type.bandwidth}};
  });
  Json levels = json_list(job.levels, [](const PlannerLevel& level) -> Json {
    return {{"members", level.members}, {"bandwidth_bytes_per_s", level.bandwidth}};
  });
  return {{"model", job.model},
          {"layers", job.layer_count()},
          {"gpus_per_device", answers.ranks},
          {"microbatches", job.microbatches},
          {"samples_per_microbatch", answers.samples},
          {"types", std::move(types)},
          {"devices", Json(job.devices)},
          {"levels", std::move(levels)}};
}

}  // namespace

std::string planner_answers_text(const PlannerAnswers& answers, const ViewStyle& style) {
  std::string text = paint(style.color, kBold, title(answers)) + "\n\n";
  for (const std::string& line : introduction(answers)) text += paragraph(line, style);
  text += "\n" + answers_table(answers, style);
  std::string refusals;
  for (const PlannerAnswer& row : answers.rows) {
    if (row.refusal.empty()) continue;
    refusals += paragraph(answer_name(row) + ": " + row.refusal, style);
  }
  if (!refusals.empty()) text += "\n" + paint(style.color, kDim, "not simulated") + "\n" + refusals;
  return text + remarks(answers, style);
}

std::string planner_answers_json(const PlannerAnswers& answers, const ToolFacts& tool) {
  Json json = json_head(1, tool);
  json["job"] = asked_job_json(answers);
  json["planners"] = json_list(answers.rows, [&](const PlannerAnswer& row) { return answer_json(answers, row); });
  return json.text(2) + "\n";
}

std::string planner_answers_csv(const PlannerAnswers& answers) {
  std::string csv =
      "planner,as_published,cuts_only,simulated_as,predicted_step_ns,step_ns,regret_ppm,peak_memory_bytes,fits,stages,"
      "refusal\n";
  const auto number = [](const std::optional<std::int64_t>& value) { return value ? std::to_string(*value) : ""; };
  for (const PlannerAnswer& row : answers.rows) {
    std::string stages;
    for (const PlannerStage& stage : row.decision.stages) {
      stages += fmt::format("{}{}x{}", stages.empty() ? "" : " ", stage.end - stage.begin, stage.replicas);
    }
    const bool simulated = row.refusal.empty();
    csv += fmt::format("{},{},{},{},{},{},{},{},{},{},{}\n", csv_cell(row.planner, true), row.as_published ? 1 : 0,
                       row.cuts_only ? 1 : 0,
                       !simulated   ? ""
                       : row.choice ? "run"
                                    : "shares",
                       number(row.predicted), simulated ? std::to_string(row.step) : "", number(row.regret_ppm),
                       simulated ? std::to_string(row.peak) : "",
                       !simulated ? ""
                       : row.fits ? "1"
                                  : "0",
                       stages, csv_cell(row.refusal, true));
  }
  return csv;
}

}  // namespace debubble
