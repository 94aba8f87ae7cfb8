#include <fmt/format.h>

#include "formats/text/quantities.hpp"
#include "tools/views/accuracy/accuracy_views.hpp"
#include "tools/views/accuracy/plans_views.hpp"
#include "tools/views/table.hpp"

namespace debubble {
namespace {

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

}  // namespace debubble
