#include "tools/views/stream_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/core/quantities.hpp"
#include "tools/views/ansi.hpp"
#include "tools/views/paragraph.hpp"
#include "tools/views/table.hpp"

namespace debubble {
namespace {

constexpr std::size_t kMostStageRows = 16;
constexpr std::size_t kStagesAtEnds = 4;  // rows shown at each end when there are more

// "0.75 (0..1)": the mean, and the range where there is one.
std::string updates_text(const UpdateCount& count) {
  const std::string mean = fmt::format("{:.4g}", count.mean);
  return count.least == count.most ? mean : fmt::format("{} ({}..{})", mean, count.least, count.most);
}

bool predicts(const StreamReport& stream) {
  return std::any_of(stream.stages.begin(), stream.stages.end(),
                     [](const StageVersions& stage) { return stage.forward_ahead + stage.backward_ahead > 0; });
}

std::vector<std::string> version_row(const StageVersions& stage, bool ahead) {
  std::vector<std::string> row = {fmt::format("s{}", stage.stage), updates_text(stage.forward_late),
                                  updates_text(stage.backward_late)};
  if (ahead) row.push_back(fmt::format("{} / {}", stage.forward_ahead, stage.backward_ahead));
  row.insert(row.end(), {updates_text(stage.inconsistent), fmt::format("{}", stage.live_versions),
                         fmt::format("{}", stage.extra_copies), fmt::format("{}", stage.in_flight),
                         format_percent(stable_step_ratio(stage))});
  return row;
}

std::string stream_legend(const StreamReport& stream, bool ahead) {
  std::string text = fmt::format(
      "no flush: weights {}, an update every {}; late: updates between the weights that F or B read and the update "
      "that takes their gradient; ",
      stream.versions, stream.update_every == 1 ? "microbatch" : fmt::format("{} microbatches", stream.update_every));
  if (ahead) text += "ahead: updates that F / B predict; ";
  return text +
         "F against B: versions between them; versions and buffers: copies of the stage's weights; stable step: "
         "largest learning rate that is stable on a quadratic, as a share of the one without delay";
}

}  // namespace

std::string stream_table(const Report& report, const ViewStyle& style) {
  const StreamReport& stream = *report.stream;
  const bool ahead = predicts(stream);
  std::vector<Table::Column> columns = {
      {"stage", Table::Side::kLeft}, {"F late", Table::Side::kRight}, {"B late", Table::Side::kRight}};
  if (ahead) columns.push_back({"ahead\nF / B", Table::Side::kRight});
  for (const char* heading : {"F against\nB", "versions", "buffers", "in\nflight", "stable\nstep"}) {
    columns.push_back({heading, Table::Side::kRight});
  }
  Table table(std::move(columns));
  const std::size_t stages = stream.stages.size();
  for (std::size_t s = 0; s < stages; ++s) {
    if (stages > kMostStageRows && s == kStagesAtEnds) {
      table.add_row({"..."});
      s = stages - kStagesAtEnds;
    }
    table.add_row(version_row(stream.stages[s], ahead));
  }
  return table.folded(static_cast<std::size_t>(style.width)) + paragraph(stream_legend(stream, ahead), style);
}

std::string stream_pace(const StreamReport& stream) {
  if (!stream.period) return "";
  const auto each = static_cast<Nanoseconds>(std::llround(stream.period->per_microbatch()));
  std::string text = fmt::format("one microbatch per {} once the pipeline is full", format_duration(each));
  if (stream.samples_per_second) text += fmt::format(": {:.4g} samples/s", *stream.samples_per_second);
  if (stream.tokens_per_second) text += fmt::format(", {:.0f} tokens/s", *stream.tokens_per_second);
  return text;
}

}  // namespace debubble
