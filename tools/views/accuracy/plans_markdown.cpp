#include <fmt/format.h>

#include <algorithm>

#include "formats/text/quantities.hpp"
#include "tools/views/accuracy/accuracy_views.hpp"
#include "tools/views/accuracy/plans_views.hpp"
#include "tools/views/escape.hpp"

namespace debubble {
namespace {

constexpr std::string_view kPlansIntroduction =
    "# Plans against published layouts\n\n"
    "Written by `debubble accuracy --plans --format markdown` with the sources below as `--source`, which takes "
    "minutes; tests compare it with what the binary prints. The records of "
    "[traces/published/results.json](../traces/published/results.json) say how their authors split a model over GPUs, "
    "and how long a step took. For the same model, GPUs and batch, with the same kernels, number formats and network "
    "(see [accuracy.md](accuracy.md)), `debubble plan` looks for a better way to run it. Both sides are simulated, "
    "without any fitted constant. Nothing else in the space of a plan is faster by more than 1 %.\n\n"
    "- **simulated**: the published layout, with its own cut of the layers.\n"
    "- **alike**: the step of the best plan with the same recomputation, ZeRO stage and sequence parallelism, by a "
    "schedule that Megatron-LM runs today, over that of the layout: what remains is how ranks, stages and microbatches "
    "are chosen.\n"
    "- **plan**: the same of the best plan of the whole space. Layouts that fit are candidates, too, so that it is "
    "at most 1 for a layout that fits by our model of memory.\n\n"
    "A plan that is faster here is faster in the model. The lists after a plan compare it with the layout of the job "
    "that was fastest when it was measured, and say what its authors may have known that the model does not. Other "
    "sources that state layouts take longer: `--source vtrain` or `bloom`, for instance.\n\n";

std::string plans_overview(const std::vector<PlannedSource>& sources) {
  std::string text =
      "| source | jobs | layouts | that fit | mean plan / simulated | plan is a published layout | mean error of the "
      "model |\n"
      "|---|--:|--:|--:|--:|--:|--:|\n";
  for (const PlannedSource& source : sources) {
    int layouts = 0;
    int fit = 0;
    int same = 0;
    double sum = 0;
    for (const PublishedJob& job : source.jobs) {
      same += job.plan_record != nullptr ? 1 : 0;
      for (const PublishedLayout& layout : job.layouts) {
        ++layouts;
        if (!layout.fits() || !job.plan) continue;
        ++fit;
        sum += static_cast<double>(job.plan->step) / static_cast<double>(layout.run->step);
      }
    }
    text +=
        fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", source.source->name, source.jobs.size(), layouts, fit,
                    fit > 0 ? fmt::format("{:.3f}", sum / fit) : "", same, source.error ? percent(*source.error) : "");
  }
  return text;
}

std::string layout_rows(const PublishedJob& job) {
  std::string text = "| record | layout | measured | simulated | alike | plan |\n|---|---|--:|--:|--:|--:|\n";
  for (const PublishedLayout& layout : job.layouts) {
    text += fmt::format("| {} | {} | {} | {} | {} | {} |\n", layout.record->id, to_string(layout.choice),
                        with_unit(Quantity::kStepTime, layout.measured), markdown_escaped(simulated_step(layout)),
                        plan_ratio(layout.alike, layout), plan_ratio(job.plan, layout));
  }
  return text;
}

std::string job_section(const PublishedJob& job) {
  std::string text = fmt::format("\n### {}\n\n{}\n", job_title(job), layout_rows(job));
  for (const AlikePlan& plan : alike_plans(job))
    text += fmt::format("Alike, {}: {}.\n\n", plan.kind, plan_line(plan.run));
  if (!job.plan) return text + "Plan: nothing fits.\n";
  if (job.plan_record != nullptr) {
    text += fmt::format("Plan: the layout of {} itself: {}.\n", job.plan_record->id, plan_line(*job.plan));
  } else {
    text += fmt::format("Plan: **{}**.\n", plan_line(*job.plan));
  }
  if (!job.notes.empty()) text += "\n";
  for (const std::string& note : job.notes) text += fmt::format("- {}\n", note);
  return text;
}

}  // namespace

std::string plans_markdown(const std::vector<PlannedSource>& sources) {
  std::string text = std::string(kPlansIntroduction) + plans_overview(sources);
  for (const PlannedSource& source : sources) {
    text += fmt::format("\n## {}\n\n{}.\n", source.source->name, source.source->title);
    if (!source.source->not_modelled.empty()) {
      text += "\nNot modelled, on either side:\n\n";
      for (const std::string& effect : source.source->not_modelled) text += fmt::format("- {}\n", effect);
    }
    for (const PublishedJob& job : source.jobs) text += job_section(job);
  }
  return text;
}

}  // namespace debubble
