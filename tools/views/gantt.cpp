#include "tools/views/gantt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sim/core/op_words.hpp"
#include "sim/core/quantities.hpp"
#include "tools/views/ansi.hpp"
#include "tools/views/gantt_canvas.hpp"

namespace debubble {
namespace {

using gantt_detail::Grid;
using gantt_detail::Ink;
using gantt_detail::Row;

std::string render(const Row& row, const ViewStyle& style) {
  std::string text;
  for (std::size_t begin = 0; begin < row.size();) {
    std::size_t end = begin;
    std::string run;
    for (; end < row.size() && row[end].ink == row[begin].ink; ++end) {
      const char glyph = row[end].glyph;
      run += glyph == '-' && style.color ? ' ' : glyph;  // the colour already shows how far the op goes
    }
    text += paint(style.color, gantt_detail::ansi_codes(row[begin].ink), run);
    begin = end;
  }
  return text;
}

// "33.00" without what says nothing: "33".
std::string trimmed_number(std::string number) {
  if (number.find('.') == std::string::npos) return number;
  number.erase(number.find_last_not_of('0') + 1);
  if (number.back() == '.') number.pop_back();
  return number;
}

// The smallest of 1, 2, 5, 10, ... ns that is at least `shortest`.
Nanoseconds round_step(Nanoseconds shortest) {
  for (Nanoseconds power = 1;; power *= 10) {
    for (const Nanoseconds factor : {1, 2, 5}) {
      if (factor * power >= shortest || power > kLongestDuration) return factor * power;
    }
  }
}

// "|0 ms     |5        |10       33|": a bar at each tick, the end of the run at the right.
std::string axis(const Timeline& timeline, const Grid& grid) {
  constexpr Nanoseconds kApart = 10;  // columns between ticks, at least
  const auto columns = static_cast<Nanoseconds>(grid.columns);
  const Scale scale = duration_scale(timeline.makespan);
  const std::string end = trimmed_number(format_scaled(timeline.makespan, scale)) + "|";
  std::string line = fmt::format("|0 {}", scale.unit);
  const bool end_fits = line.size() + 1 + end.size() <= grid.columns;
  const std::size_t limit = end_fits ? grid.columns - end.size() : grid.columns;
  Scale fine = scale;
  fine.decimals = 9;
  const Nanoseconds step =
      round_step(timeline.makespan / columns * kApart + timeline.makespan % columns * kApart / columns);
  for (Nanoseconds at = step; at < timeline.makespan; at += step) {
    const std::size_t column = grid.column_of(at);
    const std::string tick = "|" + trimmed_number(format_scaled(at, fine));
    if (column <= line.size() || column + tick.size() >= limit) continue;
    line = pad_right(line, column) + tick;
  }
  return end_fits ? pad_right(line, limit) + end : shorten(line, grid.columns);
}

struct LegendItem {
  std::string sign;
  std::string meaning;
  Ink ink = Ink::kIdle;
};

// How much time a column is.
void add_time_scale(std::vector<LegendItem>& items, const Timeline& timeline, const Grid& grid) {
  if (grid.exact) {
    const char* plural = grid.per_unit == 1 ? "" : "s";
    items.push_back({"", fmt::format("{} column{} = {}", grid.per_unit, plural, format_duration_exact(grid.unit))});
  } else {
    const auto columns = static_cast<Nanoseconds>(grid.columns);
    items.push_back({"", fmt::format("1 column = {}", format_duration(timeline.makespan / columns))});
    items.push_back({"", "letters in proportion to time"});
  }
}

// What the chart's numbers count.
std::string digits_text(const Schedule* schedule, bool last_digit_only) {
  std::string what = "microbatch";
  if (schedule != nullptr && schedule->pieces > 1) {
    what = std::string(schedule->sliced ? "slice" : "piece") + ", numbered over all microbatches";
  }
  return last_digit_only ? "digit: last digit of the " + what : "digits: " + what;
}

// What lower case tells apart.
std::string lower_case_text(const Timeline& timeline, const Schedule* schedule) {
  if (gantt_detail::shades_replicas(schedule)) {
    return schedule->placement.replicas() == 2 ? "lower case: the second replica's stage"
                                               : "lower case: every second replica's stage";
  }
  return gantt_detail::most_stages_on_a_device(timeline) == 2 ? "lower case: a device's second stage"
                                                              : "lower case: every second stage";
}

// Where copies go: to the host, or to a device that has room (BPipe).
std::string copy_out_text(const Timeline& timeline) {
  const auto to_peer = [](const CopySpan& copy) { return copy.peer >= 0; };
  if (std::all_of(timeline.copies.begin(), timeline.copies.end(), to_peer)) return "copy to its partner";
  return std::any_of(timeline.copies.begin(), timeline.copies.end(), to_peer) ? "copy out" : "copy to the host";
}

std::vector<LegendItem> legend_items(const std::vector<Row>& rows, const Timeline& timeline, const Grid& grid,
                                     const Schedule* schedule) {
  std::vector<const char*> meanings;  // in the order of Ink
  for (int kind = 0; kind < kOpKinds; ++kind) meanings.push_back(word_of(static_cast<OpKind>(kind)));
  meanings.insert(meanings.end(), {"overlapped pair", "transfer"});
  std::set<Ink> used;
  bool digits = false;
  bool light = false;
  bool pair_letter = false;  // there is an X; pairs with room show their ops instead: F3B1
  for (const Row& row : rows) {
    for (const auto& pixel : row) {
      used.insert(pixel.ink);
      pair_letter = pair_letter || pixel.glyph == 'X' || pixel.glyph == 'x';
      digits = digits || (pixel.glyph >= '0' && pixel.glyph <= '9');
      light = light || (pixel.glyph >= 'a' && pixel.glyph <= 'z');
    }
  }
  std::vector<LegendItem> items;
  for (std::size_t kind = 0; kind < meanings.size(); ++kind) {
    const Ink ink = static_cast<Ink>(1 + 2 * kind);
    const bool lighter = ink != Ink::kTransfer && used.contains(static_cast<Ink>(2 + 2 * kind));
    const bool spelled_out = ink == Ink::kPair && !pair_letter;
    const std::string sign = spelled_out ? "FB" : std::string(1, letter_of(ink));
    if (used.contains(ink) || lighter) items.push_back({sign, meanings[kind], ink});
  }
  if (used.contains(Ink::kOut)) items.push_back({">", copy_out_text(timeline), Ink::kOut});
  if (used.contains(Ink::kBack)) items.push_back({"<", "copy back", Ink::kBack});
  if (used.contains(Ink::kStep)) items.push_back({"O", "optimizer", Ink::kStep});
  if (used.contains(Ink::kCollective)) {
    items.push_back({"=", "collective that nothing hides", Ink::kCollective});
  }
  if (used.contains(Ink::kIdle)) items.push_back({".", "idle", Ink::kIdle});
  if (light) items.push_back({"", lower_case_text(timeline, schedule)});
  if (digits) items.push_back({"", digits_text(schedule, grid.last_digit_only)});
  add_time_scale(items, timeline, grid);
  return items;
}

// The items in as many lines as the width asks for. One that is longer than a line goes on in the next.
std::string gantt_legend(const std::vector<LegendItem>& items, std::size_t margin, const ViewStyle& style) {
  const std::string gap = "   ";
  const auto width = static_cast<std::size_t>(style.width);
  std::string text;
  std::size_t used = 0;
  for (const LegendItem& item : items) {
    const std::size_t sign = columns_of(item.sign) + (item.sign.empty() ? 0 : 1);
    const bool fits = used > 0 && used + gap.size() + sign + item.meaning.size() <= width;
    text += fits ? gap : (used == 0 ? "" : "\n") + std::string(margin, ' ');
    used = (fits ? used + gap.size() : margin) + sign;
    if (!item.sign.empty()) text += paint(style.color, gantt_detail::ansi_codes(item.ink), item.sign) + " ";
    const std::vector<std::string> lines = wrap(item.meaning, fits ? item.meaning.size() : width - margin - sign);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (i > 0) text += "\n" + std::string(margin, ' ');
      text += lines[i];
      used = (i > 0 ? margin : used) + lines[i].size();
    }
  }
  return text + "\n";
}

}  // namespace

std::string gantt(const Timeline& timeline, const ViewStyle& style, const GanttFacts& facts) {
  if (timeline.makespan <= 0 || timeline.spans.empty()) return "nothing to draw: no op takes any time\n";
  if (std::any_of(timeline.spans.begin(), timeline.spans.end(),
                  [&](const Span& span) { return gantt_detail::is_late_recompute(span, timeline); })) {
    return gantt(gantt_detail::with_members_apart(timeline, facts.costs), style, facts);
  }
  const std::size_t margin = fmt::format("d{} ", timeline.devices - 1).size();
  const Grid grid = gantt_detail::choose_grid(timeline, static_cast<std::size_t>(style.width) - margin);
  std::vector<Row> rows = gantt_detail::draw(timeline, grid, facts.schedule);
  const std::vector<Row> copies = gantt_detail::draw_copies(timeline, grid);
  const bool all = style.max_rows <= 0 || timeline.devices <= style.max_rows;
  const int head = all ? timeline.devices : (style.max_rows + 1) / 2;
  const int tail = all ? 0 : style.max_rows / 2;
  const auto row = [&](int device) {
    const auto d = static_cast<std::size_t>(device);
    std::string lines = pad_right(fmt::format("d{}", device), margin) + render(rows[d], style) + "\n";
    if (!copies.empty() && !copies[d].empty()) lines += pad_right("cp", margin) + render(copies[d], style) + "\n";
    return lines;
  };
  std::string text;
  for (int device = 0; device < head; ++device) text += row(device);
  if (!all) {
    const int hidden = timeline.devices - head - tail;
    text += pad_right("...", margin) + fmt::format("{} more devices, d{} to d{}\n", hidden, head, head + hidden - 1);
  }
  for (int device = timeline.devices - tail; device < timeline.devices; ++device) text += row(device);
  text += std::string(margin, ' ') + axis(timeline, grid) + "\n";
  rows.insert(rows.end(), copies.begin(), copies.end());
  return text + gantt_legend(legend_items(rows, timeline, grid, facts.schedule), margin, style);
}

}  // namespace debubble
