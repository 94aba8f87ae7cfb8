#include "tools/views/diff/durations_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "sim/core/quantities.hpp"
#include "tools/views/diff/words.hpp"
#include "tools/views/table.hpp"

namespace debubble {
namespace {

using Side = Table::Side;

constexpr std::size_t kShownOpGroups = 6;
constexpr std::size_t kShownLinks = 4;

std::string relative(Nanoseconds predicted, Nanoseconds measured) {
  if (predicted <= 0) return "";
  return format_change(static_cast<double>(measured) / static_cast<double>(predicted) - 1);
}

std::string op_group_words(const OpDurations& ops) {
  const std::string first = fmt::format("{} of stage {}", letter(ops.op.kind), ops.op.stage);
  return ops.paired ? fmt::format("{} with {} of stage {}", first, letter(ops.partner.kind), ops.partner.stage) : first;
}

void add_durations(Table& table, const std::string& name, const Figure<Nanoseconds>& duration) {
  table.add_row({name, format_duration(duration.predicted), format_duration(duration.measured),
                 relative(duration.predicted, duration.measured),
                 fmt::format("{} .. {}", format_duration(duration.low), format_duration(duration.high))});
}

// The largest first, as many as `most`.
template <typename One, typename Size>
std::vector<One> largest_first(std::vector<One> all, std::size_t most, Size size) {
  std::stable_sort(all.begin(), all.end(), [&](const One& a, const One& b) { return size(a) > size(b); });
  all.resize(std::min(all.size(), most));
  return all;
}

Nanoseconds median_gap(const Figure<Nanoseconds>& duration) { return std::abs(duration.gap()); }

}  // namespace

std::string levels_text(const Diff& diff, std::size_t width) {
  if (diff.levels.empty()) return "";
  Table table({{"level", Side::kLeft},
               {"step", Side::kRight},
               {"measured", Side::kRight},
               {"bubble/step", Side::kRight},
               {"measured", Side::kRight},
               {"from", Side::kLeft}});
  const BubbleAndStep measured = diff.measured_step();
  for (const LevelPrediction& level : diff.levels) {
    table.add_row({to_string(level.level), format_duration(static_cast<Nanoseconds>(level.predicted.step)),
                   format_change(measured.step / level.predicted.step - 1), format_percent(level.predicted.bubble),
                   format_change(measured.bubble - level.predicted.bubble, "pp"), level_words(level.level, diff)});
  }
  return table.text(width) + "\n";
}

std::string durations_text(const Diff& diff, std::size_t width) {
  if (!diff.measured_timeline().measured || diff.comparison.ops_by_stage.empty()) return "";
  const std::vector<OpDurations>& ops = diff.comparison.ops_by_stage;
  const std::vector<LinkDurations>& links = diff.comparison.links;
  Table table({{"medians", Side::kLeft},
               {"assumed", Side::kRight},
               {"this step", Side::kRight},
               {"gap", Side::kRight},
               {"p10 .. p90", Side::kLeft}});
  const auto moves = [](const OpDurations& one) { return median_gap(one.duration) * one.count; };
  for (const OpDurations& one : largest_first(ops, kShownOpGroups, moves))
    add_durations(table, op_group_words(one), one.duration);
  const auto slow = [](const LinkDurations& one) { return one.duration.measured; };
  for (const LinkDurations& one : largest_first(links, kShownLinks, slow)) {
    add_durations(table, fmt::format("transfer d{} to d{}", one.from, one.to), one.duration);
  }
  std::string text = table.text(width);
  const std::size_t hidden =
      ops.size() - std::min(ops.size(), kShownOpGroups) + links.size() - std::min(links.size(), kShownLinks);
  if (hidden > 0) text += fmt::format("medians of {} more stages and links: --format json\n", hidden);
  return text + "\n";
}

}  // namespace debubble
