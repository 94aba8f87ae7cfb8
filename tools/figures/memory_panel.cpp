#include <algorithm>
#include <array>

#include "formats/text/quantities.hpp"
#include "sim/analysis/analyse.hpp"
#include "sim/analysis/memory.hpp"
#include "sim/core/at.hpp"
#include "sim/core/wide.hpp"
#include "tools/figures/panels.hpp"

namespace debubble::figure {

namespace {

constexpr Length kCurvePitch = 2200;
constexpr Length kLabelledFrom = 1700;  // rows as high as this have room for the peak below the device's name

using Curve = std::vector<MemoryPoint>;

// Of the points that fall on one place of the axis the one that holds most: a curve has as many as the plot is wide.
Curve thinned(const Curve& curve, const Span1D& span) {
  constexpr Length kResolution = 20;
  Curve kept;
  for (const MemoryPoint& point : curve) {
    const auto place = [&span](const MemoryPoint& one) { return span.x_of(one.at) / kResolution; };
    const bool same = !kept.empty() && place(kept.back()) == place(point);
    if (!same) {
      kept.push_back(point);
    } else if (total(point.bytes) > total(kept.back().bytes)) {
      kept.back().bytes = point.bytes;
    }
  }
  return kept;
}

struct CurvePlot {
  Span1D span;
  Length foot = 0;
  Length height = 0;
  Bytes largest = 1;

  [[nodiscard]] Length y_of(Bytes bytes) const {
    return foot - static_cast<Length>(static_cast<WideUnsigned>(bytes) * static_cast<WideUnsigned>(height) /
                                      static_cast<WideUnsigned>(largest));
  }

  // The area below the first `categories + 1` categories.
  [[nodiscard]] Shape area(const Curve& curve, std::size_t categories) const {
    Shape shape;
    shape.closed = true;
    shape.points.push_back({span.left, foot});
    Length y = foot;
    for (const MemoryPoint& point : curve) {
      Bytes sum = 0;
      for (std::size_t k = 0; k <= categories; ++k) sum += point.bytes[k];
      const Length next = y_of(sum);
      if (next == y) continue;
      const Length x = span.x_of(point.at);
      if (shape.points.back().x != x || shape.points.back().y != y) shape.points.push_back({x, y});
      shape.points.push_back({x, next});
      y = next;
    }
    shape.points.push_back({span.right, y});
    if (y != foot) shape.points.push_back({span.right, foot});
    return shape;
  }
};

// Mono: hatches of an area are cut to its steps, each of which is a box.
void add_hatches(const CurvePlot& plot, const Curve& curve, std::size_t category, Hatch hatch, Layer& layer) {
  for (std::size_t k = 0; k < curve.size(); ++k) {
    Bytes below = 0;
    for (std::size_t other = 0; other < category; ++other) below += curve[k].bytes[other];
    if (curve[k].bytes[category] == 0) continue;
    const Length left = plot.span.x_of(curve[k].at);
    const Length right = k + 1 < curve.size() ? plot.span.x_of(curve[k + 1].at) : plot.span.right;
    const Length head = plot.y_of(below + curve[k].bytes[category]);
    for (Shape& line : hatch_lines({left, head, right - left, plot.y_of(below) - head}, hatch)) {
      layer.shapes.push_back(std::move(line));
    }
  }
}

Bytes capacity_of(const Report& report) { return report.memory_fit ? report.memory_fit->capacity : 0; }

}  // namespace

void draw_memory(const RunToDraw& run, Sheet& sheet) {
  const int devices = run.timeline->devices;
  const DeviceRows rows = device_rows(devices, kCurvePitch);
  const Span1D span = time_span(run, sheet);
  const std::vector<Curve> curves = memory_curves(*run.timeline, *run.schedule, *run.costs);
  std::vector<Bytes> peaks;
  for (const Curve& curve : curves) {
    Bytes peak = 0;
    for (const MemoryPoint& point : curve) peak = std::max(peak, total(point.bytes));
    peaks.push_back(peak);
  }
  CurvePlot plot{span, 0, rows.pitch * 9 / 10, std::max<Bytes>(*std::max_element(peaks.begin(), peaks.end()), 1)};
  const Bytes capacity = capacity_of(*run.report);
  const bool limit_shown = capacity > 0 && capacity / 3 <= plot.largest;
  if (limit_shown) plot.largest = std::max(plot.largest, capacity);
  std::array<Layer, kMemoryCategories> areas;
  std::array<Layer, kMemoryCategories> hatches;
  Layer bases{.name = "axis", .fill = {}, .stroke = kFaint, .stroke_width = 30};
  Layer limit{.name = "limit", .fill = {}, .stroke = sheet.mono() ? kText : kLimit, .stroke_width = 60, .dashed = true};
  std::vector<LegendItem> items;
  for (std::size_t category = 0; category < kMemoryCategories; ++category) {
    const Look look = look_of(static_cast<MemoryCategory>(category), sheet.mono());
    areas[category] = {.name = "memory-" + std::string(to_string(static_cast<MemoryCategory>(category))),
                       .fill = look.fill,
                       .stroke = {}};
    if (sheet.mono()) areas[category].stroke = kText;
    areas[category].stroke_width = 25;
    hatches[category] = {.name = "hatch", .fill = {}, .stroke = kText, .stroke_width = 20};
  }
  for (int row = 0; row < rows.shown; ++row) {
    const Curve curve = thinned(at(curves, rows.device(row)), span);
    plot.foot = sheet.top() + row * rows.pitch + plot.height;
    for (std::size_t category = 0; category < kMemoryCategories; ++category) {
      const bool holds = std::any_of(curve.begin(), curve.end(),
                                     [category](const MemoryPoint& point) { return point.bytes[category] > 0; });
      if (!holds) continue;
      areas[category].shapes.push_back(plot.area(curve, category));
      add_hatches(plot, curve, category, look_of(static_cast<MemoryCategory>(category), sheet.mono()).hatch,
                  hatches[category]);
    }
    bases.shapes.push_back({{{span.left, plot.foot}, {span.right, plot.foot}}});
    if (limit_shown) {
      limit.shapes.push_back({{{span.left, plot.y_of(capacity)}, {span.right, plot.y_of(capacity)}}});
    }
    if (rows.pitch < kLabelledFrom) continue;
    sheet.write(
        "peak",
        {{200, plot.foot - plot.height / 2 + 650}, format_size(at(peaks, rows.device(row))), kSmallFont, Align::kLeft},
        kFaint);
  }
  // Every area reaches down to the base line, so that the last category, which is the highest, is painted first.
  for (std::size_t k = kMemoryCategories; k-- > 0;) {
    if (!areas[k].shapes.empty()) sheet.add(areas[k]);
  }
  for (std::size_t k = 0; k < kMemoryCategories; ++k) {
    if (areas[k].shapes.empty()) continue;
    if (!hatches[k].shapes.empty()) sheet.add(std::move(hatches[k]));
    const auto category = static_cast<MemoryCategory>(k);
    items.push_back({words_of(category), {look_of(category, sheet.mono())}});
  }
  sheet.add(std::move(bases));
  if (limit_shown) sheet.add(std::move(limit));
  write_device_labels(rows, rows.pitch < kLabelledFrom ? plot.height : plot.height - 900, sheet);
  sheet.move_down(rows.shown * rows.pitch + 50);
  sheet.time_axis(span, "time");
  sheet.legend(items);
  if (items.empty()) {
    sheet.note("No memory is counted.");
    return;
  }
  std::string words = "Rows reach to " + format_size(plot.largest);
  words += rows.pitch < kLabelledFrom ? "." : "; below a device's name its peak.";
  if (limit_shown) words += " Dashed: the limit, " + format_size(capacity) + ".";
  if (capacity > 0 && !limit_shown) words += " The limit, " + format_size(capacity) + ", is far above.";
  if (run.timeline->measured) words += " Memory follows from the measured times and what the schedule holds.";
  sheet.note(words);
}

}  // namespace debubble::figure
