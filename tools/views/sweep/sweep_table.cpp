#include "tools/views/sweep/sweep_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "formats/text/columns.hpp"
#include "sim/core/exit_status.hpp"
#include "sim/core/quantities.hpp"
#include "sim/core/words.hpp"
#include "tools/views/ansi.hpp"
#include "tools/views/paragraph.hpp"
#include "tools/views/table.hpp"

namespace debubble {

namespace {

std::string ending_counts(const SweepBlock& sum) {
  std::string text = fmt::format("{} ran", sum.rows_with(kExitOk));
  const auto add = [&](int status, const char* what) {
    if (const std::int64_t rows = sum.rows_with(status); rows > 0) text += fmt::format(", {} {}", rows, what);
  };
  add(kExitFinding, "out of memory or in a deadlock");
  add(kExitUsage, "refused");
  add(kExitUnavailable, "beyond this machine");
  add(kExitInternal, "ended by a bug of ours");
  return text;
}

Table best_table(const SweepBlock& sum, const SweepSpace& space) {
  using enum Table::Side;
  const std::vector<const SweepAxis*> varied = space.varied();
  std::vector<Table::Column> columns{{"row", kRight}};
  for (const SweepAxis* axis : varied) columns.push_back({"--" + axis->name, axis->whole ? kRight : kLeft});
  Nanoseconds longest = 0;
  Bytes most = 0;
  for (const SweepBest& best : sum.best) {
    longest = std::max(longest, best.makespan);
    most = std::max(most, best.peak);
  }
  const Scale time = duration_scale(longest);
  const Scale memory = size_scale(most);
  const bool fits =
      std::any_of(sum.best.begin(), sum.best.end(), [](const SweepBest& b) { return b.spare.has_value(); });
  const bool mfus = std::any_of(sum.best.begin(), sum.best.end(), [](const SweepBest& b) { return b.mfu.has_value(); });
  columns.push_back({fmt::format("step {}", time.unit), kRight});
  const bool samples = !sum.best.empty() && sum.best.front().in_samples;
  columns.push_back({samples ? "samples/s" : "microbatches/s", kRight});
  columns.push_back({"bubble", kRight});
  if (mfus) columns.push_back({"MFU", kRight});
  columns.push_back({fmt::format("peak {}", memory.unit), kRight});
  if (fits) columns.push_back({fmt::format("spare {}", memory.unit), kRight});
  columns.push_back({"limited by", kLeft});
  Table table(std::move(columns));
  for (const SweepBest& best : sum.best) {
    std::vector<std::string> fields{fmt::format("{}", best.row)};
    const std::vector<std::size_t> places = space.places(best.row);
    for (std::size_t k = 0; k < places.size(); ++k) {
      const SweepAxis& axis = space.axes()[k];
      if (axis.values.size() > 1) fields.push_back(axis.values[places[k]]);
    }
    fields.push_back(format_scaled(best.makespan, time));
    fields.push_back(fmt::format("{:.4g}", best.rate));
    fields.push_back(format_percent(best.bubble_ratio));
    if (mfus) fields.push_back(best.mfu ? format_percent(*best.mfu) : "");
    fields.push_back(format_scaled(best.peak, memory));
    if (fits) fields.push_back(best.spare ? format_scaled(*best.spare, memory) : "");
    fields.push_back(with_blanks(best.limit));
    table.add_row(std::move(fields));
  }
  return table;
}

// "3 (--schedule pipedream)"
std::string named_row(const SweepBest& best, const SweepSpace& space) {
  std::string flags;
  const std::vector<std::size_t> places = space.places(best.row);
  for (std::size_t k = 0; k < places.size(); ++k) {
    const SweepAxis& axis = space.axes()[k];
    if (axis.values.size() > 1) flags += (flags.empty() ? "--" : " --") + axis.name + " " + axis.values[places[k]];
  }
  return fmt::format("row {} ({})", best.row, flags);
}

// An asynchronous row with a better number than the best, and why it is not that.
std::string better_asynchronous(const SweepBlock& sum, const SweepSpace& space, std::string_view merit,
                                const ViewStyle& style) {
  if (!sum.asynchronous || sum.best.empty() || sum.best.front().asynchronous) return "";
  if (sum.asynchronous->merit <= sum.best.front().merit) return "";
  const std::string sentence =
      fmt::format("{} is better by {} (step {}), but asynchronous: gradients of older weights do not train the same",
                  named_row(*sum.asynchronous, space), merit, format_duration(sum.asynchronous->makespan));
  return paragraph(sentence, style);
}

std::string failures(const SweepBlock& sum, const ViewStyle& style) {
  Table table({{"", Table::Side::kLeft}, {"", Table::Side::kRight}, {"", Table::Side::kLeft}});
  bool any = false;
  for (const auto& [ending, tally] : sum.tallies) {
    if (ending.first == kExitOk) continue;
    any = true;
    table.add_row({ending.second, counted(tally.rows, "row"), (tally.rows > 1 ? "the first: " : "") + tally.reason});
  }
  if (!any) return "";
  return "\n" + paint(style.color, kBold, "did not run") + "\n" + table.text(static_cast<std::size_t>(style.width), 2);
}

}  // namespace

std::string sweep_table(const SweepBlock& sum, const SweepSpace& space, std::string_view merit,
                        const ViewStyle& style) {
  const std::int64_t done = sum.rows();
  std::string text = paint(style.color, kBold, "sweep") + "  ";
  text += done == space.rows() ? counted(done, "row")
                               : fmt::format("cut off after {} of {}", done, counted(space.rows(), "row"));
  text += ": " + ending_counts(sum) + "\n";
  if (!sum.best.empty()) {
    text += fmt::format("\nbest by {}\n", merit);
    text += best_table(sum, space).folded(static_cast<std::size_t>(style.width));
    text += better_asynchronous(sum, space, merit, style);
  }
  return text + failures(sum, style);
}

}  // namespace debubble
