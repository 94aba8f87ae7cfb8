#include "tools/views/accuracy/plans_views.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "formats/json/json.hpp"
#include "formats/version.hpp"
#include "sim/core/quantities.hpp"
#include "sim/core/words.hpp"
#include "tools/views/accuracy/accuracy_views.hpp"
#include "tools/views/table.hpp"

namespace debubble {
namespace {

// "gpt3-175b on 64 GPUs, 64 samples of 2048 tokens".
std::string job_title(const PublishedJob& job) {
  return fmt::format("{} on {}, {} of {} tokens", job.model, counted(job.gpus, "GPU"),
                     counted(job.global_batch, "sample"), job.sequence);
}

std::string plan_line(const PlannedRun& run) {
  std::string text =
      fmt::format("{}: step {}, memory {}", to_string(run.choice), format_duration(run.step), format_size(run.peak));
  if (run.spare) text += fmt::format(", {} to spare", format_size(*run.spare));
  return text;
}

std::string plan_ratio(const std::optional<PlannedRun>& run, const PublishedLayout& layout) {
  if (!run || !layout.run || layout.run->step == 0) return "";
  return fmt::format("{:.3f}", static_cast<double>(run->step) / static_cast<double>(layout.run->step));
}

std::string simulated_step(const PublishedLayout& layout) {
  if (!layout.run) return layout.refused;
  const std::string step = format_duration(layout.run->step);
  return layout.fits() ? step : fmt::format("{}, lacks {}", step, format_size(-*layout.run->spare));
}

// "full recomputation, ZeRO-1, sequence parallel": what a layout and its best alike share.
std::string layout_kind(const PublishedLayout& layout) {
  const int recompute = layout.choice.recompute;
  std::string kind = fmt::format("{} recomputation", recompute == 0 ? "no" : kRecomputeWords[recompute]);
  kind += layout.choice.zero > 0 ? fmt::format(", ZeRO-{}", layout.choice.zero) : ", no ZeRO";
  return kind + (layout.choice.sequence ? ", sequence parallel" : "");
}

// The best plans of each kind of the layouts, each once.
struct AlikePlan {
  std::string kind;
  PlannedRun run;
};

std::vector<AlikePlan> alike_plans(const PublishedJob& job) {
  std::vector<AlikePlan> plans;
  for (const PublishedLayout& layout : job.layouts) {
    if (!layout.alike) continue;
    const std::string kind = layout_kind(layout);
    const bool known =
        std::any_of(plans.begin(), plans.end(), [&](const AlikePlan& plan) { return plan.kind == kind; });
    if (!known) plans.push_back({kind, *layout.alike});
  }
  return plans;
}

std::string plan_certainty(const PublishedJob& job) {
  return fmt::format("{} ways to run it, {} simulated; none is faster by more than {}", job.space, job.simulated,
                     format_percent_to(job.remaining_gap, 2));
}

std::string layout_table(const PublishedJob& job, const ViewStyle& style) {
  using Side = Table::Side;
  Table table({{"measured", Side::kRight},
               {"simulated", Side::kRight},
               {"alike", Side::kRight},
               {"plan", Side::kRight},
               {"record and layout", Side::kLeft}});
  for (const PublishedLayout& layout : job.layouts) {
    std::string name = layout.record->id + ": " + to_string(layout.choice);
    if (!layout.run || !layout.fits()) name += " (" + simulated_step(layout) + ")";
    table.add_row({with_unit(Quantity::kStepTime, layout.measured), layout.run ? format_duration(layout.run->step) : "",
                   plan_ratio(layout.alike, layout), plan_ratio(job.plan, layout), name});
  }
  return table.text(static_cast<std::size_t>(style.width), 2);
}

std::string plan_lines(const PublishedJob& job, const ViewStyle& style) {
  using Side = Table::Side;
  Table table({{"", Side::kLeft}, {"", Side::kLeft}});
  for (const AlikePlan& plan : alike_plans(job)) table.add_row({"alike", plan.kind + ": " + plan_line(plan.run)});
  if (job.plan) {
    const std::string whose = job.plan_record != nullptr ? "the layout of " + job.plan_record->id + " itself: " : "";
    table.add_row({"plan", whose + plan_line(*job.plan) + "; " + plan_certainty(job)});
  } else {
    table.add_row({"plan", "nothing fits"});
  }
  for (const std::string& note : job.notes) table.add_row({"note", note});
  return table.text(static_cast<std::size_t>(style.width), 2);
}

Json planned_run_json(const std::optional<PlannedRun>& run) {
  if (!run) return nullptr;
  Json json{{"plan", to_string(run->choice)},
            {"makespan_ns", run->step},
            {"step_ns", run->step},
            {"peak_memory_bytes", run->peak},
            {"peak_bytes", run->peak}};
  if (run->spare) json["spare_bytes"] = *run->spare;
  return json;
}

Json layout_json(const PublishedLayout& layout) {
  Json json{{"record", layout.record->id},
            {"layout", to_string(layout.choice)},
            {"kind", layout_kind(layout)},
            {"measured_s", layout.measured},
            {"fits", layout.fits()},
            {"simulated", planned_run_json(layout.run)},
            {"alike", planned_run_json(layout.alike)}};
  if (!layout.refused.empty()) json["refused"] = layout.refused;
  return json;
}

Json job_json(const PublishedJob& job) {
  Json layouts = Json::array();
  for (const PublishedLayout& layout : job.layouts) layouts.push_back(layout_json(layout));
  Json json{{"model", job.model},       {"gpus", job.gpus},           {"global_batch", job.global_batch},
            {"sequence", job.sequence}, {"layouts", layouts},         {"plan", planned_run_json(job.plan)},
            {"space", job.space},       {"simulated", job.simulated}, {"remaining_gap", job.remaining_gap},
            {"notes", job.notes}};
  if (job.plan_record != nullptr) json["plan_is_record"] = job.plan_record->id;
  return json;
}

}  // namespace

std::string plans_text(const std::vector<PlannedSource>& sources, const ViewStyle& style) {
  std::string text;
  for (const PlannedSource& source : sources) {
    text += (text.empty() ? "" : "\n") + fmt::format("{}  {}\n", source.source->name, source.source->title);
    for (const PublishedJob& job : source.jobs) {
      text += "\n  " + job_title(job) + "\n" + layout_table(job, style) + plan_lines(job, style);
    }
  }
  return text;
}

std::string plans_json(const std::vector<PlannedSource>& sources, const std::string& command_line) {
  Json list = Json::array();
  for (const PlannedSource& source : sources) {
    Json jobs = Json::array();
    for (const PublishedJob& job : source.jobs) jobs.push_back(job_json(job));
    Json error = nullptr;
    if (source.error) error = *source.error;
    list.push_back({{"source", source.source->name},
                    {"title", source.source->title},
                    {"mean_absolute_error", error},
                    {"not_modelled", source.source->not_modelled},
                    {"jobs", jobs}});
  }
  const Json document{
      {"schema", "debubble.plans/1"}, {"version", std::string(kVersion)}, {"command", command_line}, {"sources", list}};
  return document.text(2) + "\n";
}

}  // namespace debubble
