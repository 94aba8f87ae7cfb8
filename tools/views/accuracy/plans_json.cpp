#include "formats/json/json.hpp"
#include "formats/version.hpp"
#include "tools/views/accuracy/plans_views.hpp"

namespace debubble {
namespace {

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
