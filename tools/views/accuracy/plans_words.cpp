// Words and numbers that all views of plans against published layouts share.
#include <fmt/format.h>

#include <algorithm>

#include "formats/text/quantities.hpp"
#include "sim/core/words.hpp"
#include "tools/views/accuracy/plans_views.hpp"

namespace debubble {

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

std::string layout_kind(const PublishedLayout& layout) {
  const int recompute = layout.choice.recompute;
  std::string kind = fmt::format("{} recomputation", recompute == 0 ? "no" : kRecomputeWords[recompute]);
  kind += layout.choice.zero > 0 ? fmt::format(", ZeRO-{}", layout.choice.zero) : ", no ZeRO";
  return kind + (layout.choice.sequence ? ", sequence parallel" : "");
}

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
  return fmt::format("{} ways to run it, {} simulated; none is faster by more than {:.2f} %", job.space, job.simulated,
                     100 * job.remaining_gap);
}

}  // namespace debubble
