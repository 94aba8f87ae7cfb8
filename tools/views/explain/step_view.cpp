#include "tools/views/explain/step_view.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "formats/text/shell.hpp"
#include "sim/core/quantities.hpp"
#include "sim/core/share.hpp"
#include "tools/views/ansi.hpp"
#include "tools/views/paragraph.hpp"
#include "tools/views/table.hpp"

namespace debubble {
namespace {

constexpr std::size_t kMostGroups = 16;  // of the critical path in text; of a longer one the two ends
constexpr std::size_t kStepHead = 9;
constexpr std::size_t kChanges = 5;
constexpr Nanoseconds kFinerStep = 10;  // so that short stretches of a long step show
constexpr double kTight = 0.05;         // of the memory to spare

// In addition to `limit`.
std::vector<std::string> other_limits(const Simulated& run, const Limit& limit) {
  const Report& report = run.result.report;
  std::vector<std::string> also;
  const auto [busiest, least_busy, uneven] = work_spread(report);
  if (limit.kind != Limit::Kind::kDevice && uneven) {
    also.push_back(fmt::format("uneven work: device {} is busy {} of the step, device {} {}", busiest->device,
                               format_percent(share(busiest->busy, report.makespan)), least_busy->device,
                               format_percent(share(least_busy->busy, report.makespan))));
  }
  Nanoseconds busy = 0;
  for (const DeviceReport& device : report.devices) busy += device.busy;
  if (report.inside_collectives > 0) {
    also.push_back(fmt::format("collectives inside stages: {} of the time that devices are busy",
                               format_percent(share(report.inside_collectives, busy))));
  }
  if (report.memory_fit &&
      static_cast<double>(report.memory_fit->spare) < kTight * static_cast<double>(report.memory_fit->capacity)) {
    const MemoryFit& fit = *report.memory_fit;
    also.push_back(fit.spare < 0 ? fmt::format("memory: device {} lacks {}", fit.device, format_size(-fit.spare))
                                 : fmt::format("memory: device {} has {} to spare of {}", fit.device,
                                               format_size(fit.spare), format_size(fit.capacity)));
  }
  return also;
}

std::string path_text(const std::vector<PathGroup>& path, const Simulated& run, std::size_t width) {
  Table table(
      {{"", Table::Side::kRight}, {"", Table::Side::kLeft}, {"", Table::Side::kRight}, {"", Table::Side::kLeft}});
  const Scale scale = duration_scale(run.result.timeline.makespan / kFinerStep);
  for (std::size_t k = 0; k < path.size(); ++k) {
    if (path.size() > kMostGroups && k == kStepHead) {
      const std::size_t last = path.size() - (kMostGroups - kStepHead - 1);
      table.add_row(
          {"...", "", "",
           fmt::format("{} more stretches until {} {}", last - k, format_scaled(path[last].begin, scale), scale.unit)});
      k = last - 1;
      continue;
    }
    const PathGroup& group = path[k];
    std::string text = group.what;
    if (group.compute > 0 && group.transfer > 0) {
      text += fmt::format(": {} compute, {} transfer", format_duration(group.compute), format_duration(group.transfer));
    }
    table.add_row({format_scaled(group.begin, scale), "to", format_scaled(group.end, scale) + " " + scale.unit, text});
  }
  return table.text(width, 2);
}

std::string shares_text(const StepStory& story, const Simulated& run, std::size_t width) {
  Table table({{"", Table::Side::kRight}, {"", Table::Side::kRight}, {"", Table::Side::kLeft}});
  for (const PathShare& one : story.shares) {
    table.add_row({format_duration(one.time), format_percent(share(one.time, run.result.report.makespan)), one.what});
  }
  return table.text(width, 2);
}

std::string changes_text(const StepStory& story, const Simulated& run, std::size_t width) {
  std::string text;
  for (std::size_t k = 0; k < std::min(kChanges, story.improvements.size()); ++k) {
    const Improvement& one = story.improvements[k];
    std::string line = fmt::format("{}. {}: {}", k + 1, one.what, format_percent(one.gain));
    line += one.microbatches == run.job.schedule.microbatches ? " shorter" : " less per microbatch";
    line +=
        fmt::format(" (step {} instead of {})", format_duration(one.step), format_duration(run.result.report.makespan));
    if (!one.price.empty()) line += "; " + one.price;
    if (!one.runs_in.empty()) line += fmt::format("; runs today in {}", fmt::join(one.runs_in, ", "));
    text += paragraph_after("  ", line, width, 5);
    if (one.command.empty()) continue;
    std::string margin = "     ";
    for (const std::string& part : command_lines(one.command, width - 7)) {
      text += margin + part + "\n";
      margin = "       ";
    }
  }
  return text.empty() ? "  none of the changes tried makes it shorter\n" : text;
}

}  // namespace

StepStory story_of_step(const ImprovementBase& base, const AdviceContext& context) {
  StepStory story;
  story.path = path_groups(base.run.result.timeline);
  story.shares = path_shares(base.run);
  story.limit = find_limit(base.run.result.report, context.more_microbatches);
  story.advice = advise(base.run.result.report, story.limit, context);
  story.also = other_limits(base.run, story.limit);
  story.improvements = improvements(base);
  return story;
}

std::string step_story_text(const StepStory& story, const Simulated& run, const ViewStyle& style) {
  const auto width = static_cast<std::size_t>(style.width);
  const auto head = [&](const std::string& text) { return paint(style.color, kBold, text) + "\n"; };
  std::string text = head("what limits it");
  std::vector<std::string> limits{story.advice.limit};
  limits.insert(limits.end(), story.also.begin(), story.also.end());
  for (const std::string& limit : limits) text += paragraph_after("  ", limit, width, 4);
  text += "\n" + head("what would help most, each simulated") + changes_text(story, run, width);
  text += "\n" + head("what its critical path consists of") + shares_text(story, run, width);
  return text + "\n" + head("the critical path") + path_text(story.path, run, width);
}

}  // namespace debubble
