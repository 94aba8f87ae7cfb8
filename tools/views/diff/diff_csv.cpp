#include <fmt/format.h>

#include "tools/views/diff/diff_json.hpp"
#include "tools/views/diff/figures.hpp"
#include "tools/views/diff/words.hpp"

namespace debubble {
namespace {

// "op F of stage 2": words without commas.
std::string part_name(const GapPart& part) {
  std::string name = fmt::format("gap by {}", to_string(part.cause));
  if (part.cause == GapCause::kOp) name += fmt::format(" {} of stage {}", letter(part.op.kind), part.op.stage);
  if (part.paired) name += fmt::format(" with {} of stage {}", letter(part.partner.kind), part.partner.stage);
  if (part.cause == GapCause::kTransfer || part.cause == GapCause::kWait)
    name += fmt::format(" to device {}", part.to_device);
  return name;
}

std::string op_group_name(const OpDurations& ops) {
  std::string name = fmt::format("op {} of stage {}", letter(ops.op.kind), ops.op.stage);
  if (ops.paired) name += fmt::format(" with {} of stage {}", letter(ops.partner.kind), ops.partner.stage);
  return name;
}

std::string level_rows(const LevelPrediction& level, const BubbleAndStep& measured) {
  const char* const name = to_string(level.level);
  return fmt::format("makespan by {0},,ns,{1:.0f},{2:.0f},{3:.0f},,\nbubble_ratio by {0},,,{4},{5},{6},,\n", name,
                     level.predicted.step, measured.step, measured.step - level.predicted.step,
                     csv_number(level.predicted.bubble), csv_number(measured.bubble),
                     csv_number(measured.bubble - level.predicted.bubble));
}

}  // namespace

std::string diff_csv(const Diff& diff) {
  const Comparison& comparison = diff.comparison;
  std::string csv(kFigureColumns);
  csv += csv_row("makespan", "", "ns", comparison.makespan);
  csv += csv_row("bubble_ratio", "", "", comparison.bubble_ratio);
  csv += csv_row("bubble_over_ideal", "", "", comparison.bubble_over_ideal);
  const KnownSides known = memory_known(diff);
  for (std::size_t d = 0; d < comparison.devices.size(); ++d) {
    const std::string device = fmt::format("{}", d);
    csv += csv_row("busy", device, "ns", comparison.devices[d].busy);
    csv += csv_row("bubble_ratio", device, "", comparison.devices[d].bubble_ratio);
    csv += csv_row("peak_memory", device, "bytes", comparison.devices[d].peak_memory, known);
    csv += csv_row("peak_activation", device, "bytes", comparison.devices[d].peak_activation, known);
  }
  for (const OpDurations& ops : comparison.ops_by_stage) {
    csv += csv_row(op_group_name(ops), fmt::format("{}", ops.device), "ns", ops.duration);
  }
  for (const LinkDurations& link : comparison.links) {
    csv += csv_row(fmt::format("transfer to device {}", link.to), fmt::format("{}", link.from), "ns", link.duration);
  }
  for (const LevelPrediction& level : diff.levels) {
    csv += level_rows(level, diff.measured_step());
  }
  // Predicted and measured are sums over the part's ops or transfers; the gap is what it adds to the makespan.
  for (const GapPart& part : comparison.parts) {
    const bool sums = part.cause != GapCause::kOrder && part.cause != GapCause::kUnexplained;
    csv += fmt::format(
        "{},{},ns,{},{},{},,\n", part_name(part), part.device < 0 ? "" : csv_number(Nanoseconds{part.device}),
        sums ? csv_number(part.predicted) : "", sums ? csv_number(part.measured) : "", csv_number(part.gap));
  }
  return csv;
}

}  // namespace debubble
