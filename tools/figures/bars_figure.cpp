#include <algorithm>

#include "sim/core/quantities.hpp"
#include "tools/figures/font.hpp"
#include "tools/figures/sheet.hpp"
#include "tools/figures/study_figures.hpp"

namespace debubble::figure {

namespace {

constexpr Length kComparedPitch = 1100;
constexpr Length kComparedHeight = 850;
constexpr Length kColumnGap = 900;
constexpr Length kLeastBars = 3000;
constexpr Length kLeastNames = 1500;

// Where names, bars of time and bars of memory are.
struct BarColumns {
  Length label_width = 0;
  Span1D time;
  Span1D memory;
};

Length widest(const std::vector<ComparedBar>& runs, std::string (*words)(const ComparedBar&)) {
  Length width = 0;
  for (const ComparedBar& run : runs) width = std::max(width, text_width(words(run), kFontSize));
  return width;
}

BarColumns columns_of(const std::vector<ComparedBar>& runs, const FigureFrame& frame) {
  BarColumns columns;
  const Length labels = widest(runs, [](const ComparedBar& run) { return run.label; });
  const Length times = widest(runs, [](const ComparedBar& run) { return format_duration(run.step); }) + 300;
  const Length sizes = widest(runs, [](const ComparedBar& run) { return format_size(run.peak); }) + 300;
  // Names are cut before bars become too short to see.
  const Length room = frame.width - 700 - times - sizes - kColumnGap - kLeastBars;
  columns.label_width = std::min(labels, std::max(room, kLeastNames));
  const Length left = 200 + columns.label_width + 300;
  const Length bars = frame.width - 200 - left - times - sizes - kColumnGap;
  Nanoseconds longest = 1;
  Bytes most = 1;
  for (const ComparedBar& run : runs) {
    longest = std::max(longest, run.step);
    most = std::max(most, run.peak);
  }
  if (frame.limit && *frame.limit / 3 <= most) most = std::max(most, *frame.limit);
  columns.time = {left, left + bars * 6 / 10, longest};
  columns.memory = {columns.time.right + times + kColumnGap, frame.width - 200 - sizes, most};
  return columns;
}

Look busy_look(bool mono) { return {mono ? "#777777" : "#0072b2", kPaper, Hatch::kNone}; }
Look bubble_look(bool mono) { return {mono ? kPaper : "#f8d58c", kText, mono ? Hatch::kUp : Hatch::kNone}; }
Look peak_look(bool mono) { return {mono ? "#c4c4c4" : "#56b4e9", kText, Hatch::kNone}; }

// On paper of their own: the line of the limit may pass below.
void write_values(std::vector<Text> values, Sheet& sheet) {
  Layer paper{.name = "paper", .fill = kPaper, .stroke = {}};
  for (const Text& value : values) {
    paper.boxes.push_back({value.at.x - 50, value.at.y - 600, text_width(value.words, value.size) + 100, 750});
  }
  sheet.add(std::move(paper));
  for (Text& value : values) sheet.write("value", std::move(value));
}

}  // namespace

Drawing bars_figure(const std::vector<ComparedBar>& runs, const FigureFrame& frame) {
  Sheet sheet(frame.width, frame.mono);
  const BarColumns columns = columns_of(runs, frame);
  Painted busy{busy_look(frame.mono), {}};
  Painted bubble{bubble_look(frame.mono), {}};
  Painted memory{peak_look(frame.mono), {}};
  std::vector<Text> values;
  Length head = sheet.top();
  for (const ComparedBar& run : runs) {
    const Length base = head + (kComparedHeight + kFontSize * kDigitHeight / 100) / 2;
    const auto ratio = static_cast<Nanoseconds>(run.bubble_ratio * 1e6 + 0.5);  // millionths
    const Length end = columns.time.x_of(run.step);
    const Length work = end - (end - columns.time.left) * ratio / 1'000'000;
    busy.boxes.push_back({columns.time.left, head, work - columns.time.left, kComparedHeight});
    bubble.boxes.push_back({work, head, end - work, kComparedHeight});
    const Length peak = columns.memory.x_of(run.peak);
    memory.boxes.push_back({columns.memory.left, head, peak - columns.memory.left, kComparedHeight});
    sheet.write("run", {{200, base}, cut_to(run.label, columns.label_width, kFontSize), kFontSize, Align::kLeft});
    values.push_back({{end + 200, base}, format_duration(run.step), kFontSize, Align::kLeft});
    values.push_back({{peak + 200, base}, format_size(run.peak), kFontSize, Align::kLeft});
    head += kComparedPitch;
  }
  sheet.paint("busy", busy, Edge::kWide);
  sheet.paint("bubble", bubble, Edge::kWide);
  sheet.paint("memory", memory, Edge::kWide);
  const bool limit_shown = frame.limit && *frame.limit <= columns.memory.largest;
  if (limit_shown) {
    const Length x = columns.memory.x_of(*frame.limit);
    Layer& line = sheet.add(
        {.name = "limit", .fill = {}, .stroke = frame.mono ? kText : kLimit, .stroke_width = 60, .dashed = true});
    line.shapes.push_back({{{x, sheet.top() - 100}, {x, head}}});
  }
  write_values(std::move(values), sheet);
  sheet.move_down(head - sheet.top() + 50);
  const Length axis = sheet.top();
  sheet.time_axis(columns.time, "step");
  const Length below = sheet.top();
  sheet.move_down(axis - below);
  sheet.size_axis(columns.memory, "peak memory");
  std::vector<LegendItem> items{{"compute, mean over devices", {busy_look(frame.mono)}},
                                {"bubble", {bubble_look(frame.mono)}},
                                {"peak memory of a device", {peak_look(frame.mono)}}};
  sheet.legend(items);
  if (limit_shown) {
    sheet.note("Dashed: the limit, " + format_size(*frame.limit) + ".");
  } else if (frame.limit) {
    sheet.note("The limit, " + format_size(*frame.limit) + ", is far above.");
  }
  return sheet.take(frame.title, frame.description);
}

}  // namespace debubble::figure
