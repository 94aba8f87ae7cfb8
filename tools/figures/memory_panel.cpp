#include <algorithm>
#include <array>

#include "sim/analysis/analyse.hpp"
#include "sim/analysis/memory.hpp"
#include "sim/core/at.hpp"
#include "sim/core/quantities.hpp"
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

class MemoryPanel {
 public:
  MemoryPanel(const RunToDraw& run, Sheet& sheet)
      : run_(run),
        sheet_(sheet),
        rows_(device_rows(run.timeline->devices, kCurvePitch)),
        curves_(memory_curves(*run.timeline, *run.schedule, *run.costs)),
        capacity_(capacity_of(*run.report)) {
    for (const Curve& curve : curves_) {
      Bytes peak = 0;
      for (const MemoryPoint& point : curve) peak = std::max(peak, total(point.bytes));
      peaks_.push_back(peak);
    }
    set_scale();
    make_layers();
  }

  void draw() {
    for (int row = 0; row < rows_.shown; ++row) draw_row(row);
    const std::vector<LegendItem> items = put_layers();
    write_device_labels(rows_, labelled() ? plot_.height - 900 : plot_.height, sheet_);
    sheet_.move_down(rows_.shown * rows_.pitch + 50);
    sheet_.time_axis(plot_.span, "time");
    sheet_.legend(items);
    sheet_.note(items.empty() ? "No memory is counted." : note());
  }

 private:
  // Whether rows have room for the peak below the device's name.
  [[nodiscard]] bool labelled() const { return rows_.pitch >= kLabelledFrom; }

  // All rows have one scale. The limit is on it where that leaves the curves a third of the height.
  void set_scale() {
    const Bytes most = std::max<Bytes>(*std::max_element(peaks_.begin(), peaks_.end()), 1);
    limit_shown_ = capacity_ > 0 && capacity_ / 3 <= most;
    plot_ = {time_span(run_, sheet_), 0, rows_.pitch * 9 / 10, limit_shown_ ? std::max(most, capacity_) : most};
  }

  void make_layers() {
    for (std::size_t k = 0; k < kMemoryCategories; ++k) {
      const auto category = static_cast<MemoryCategory>(k);
      areas_[k] = {.name = "memory-" + std::string(to_string(category)),
                   .fill = look_of(category, sheet_.mono()).fill,
                   .stroke = sheet_.mono() ? kText : "",
                   .stroke_width = 25};
      hatches_[k] = {.name = "hatch", .fill = {}, .stroke = kText, .stroke_width = 20};
    }
    bases_ = {.name = "axis", .fill = {}, .stroke = kFaint, .stroke_width = 30};
    limit_ = {
        .name = "limit", .fill = {}, .stroke = sheet_.mono() ? kText : kLimit, .stroke_width = 60, .dashed = true};
  }

  void draw_row(int row) {
    const Curve curve = thinned(at(curves_, rows_.device(row)), plot_.span);
    plot_.foot = sheet_.top() + row * rows_.pitch + plot_.height;
    for (std::size_t k = 0; k < kMemoryCategories; ++k) {
      const bool holds =
          std::any_of(curve.begin(), curve.end(), [k](const MemoryPoint& point) { return point.bytes[k] > 0; });
      if (!holds) continue;
      areas_[k].shapes.push_back(plot_.area(curve, k));
      add_hatches(plot_, curve, k, look_of(static_cast<MemoryCategory>(k), sheet_.mono()).hatch, hatches_[k]);
    }
    const auto across = [this](Length y) { return Shape{{{plot_.span.left, y}, {plot_.span.right, y}}}; };
    bases_.shapes.push_back(across(plot_.foot));
    if (limit_shown_) limit_.shapes.push_back(across(plot_.y_of(capacity_)));
    if (!labelled()) return;
    const Point place{200, plot_.foot - plot_.height / 2 + 650};
    sheet_.write("peak", {place, format_size(at(peaks_, rows_.device(row))), kSmallFont, Align::kLeft}, kFaint);
  }

  // Puts the layers on the sheet; returns the legend.
  std::vector<LegendItem> put_layers() {
    std::vector<LegendItem> items;
    // Every area reaches down to the base line, so that the last category, which is the highest, is painted first.
    for (std::size_t k = kMemoryCategories; k-- > 0;) {
      if (!areas_[k].shapes.empty()) sheet_.add(areas_[k]);
    }
    for (std::size_t k = 0; k < kMemoryCategories; ++k) {
      if (areas_[k].shapes.empty()) continue;
      if (!hatches_[k].shapes.empty()) sheet_.add(std::move(hatches_[k]));
      const auto category = static_cast<MemoryCategory>(k);
      items.push_back({words_of(category), {look_of(category, sheet_.mono())}});
    }
    sheet_.add(std::move(bases_));
    if (limit_shown_) sheet_.add(std::move(limit_));
    return items;
  }

  [[nodiscard]] std::string note() const {
    std::string words = "Rows reach to " + format_size(plot_.largest);
    words += labelled() ? "; below a device's name its peak." : ".";
    if (limit_shown_) words += " Dashed: the limit, " + format_size(capacity_) + ".";
    if (capacity_ > 0 && !limit_shown_) words += " The limit, " + format_size(capacity_) + ", is far above.";
    if (run_.timeline->measured) words += " Memory follows from the measured times and what the schedule holds.";
    return words;
  }

  const RunToDraw& run_;
  Sheet& sheet_;
  DeviceRows rows_;
  std::vector<Curve> curves_;  // by device
  std::vector<Bytes> peaks_;   // the same
  Bytes capacity_ = 0;         // of a device; 0: unknown
  CurvePlot plot_;
  bool limit_shown_ = false;
  std::array<Layer, kMemoryCategories> areas_;
  std::array<Layer, kMemoryCategories> hatches_;
  Layer bases_;
  Layer limit_;
};

}  // namespace

void draw_memory(const RunToDraw& run, Sheet& sheet) { MemoryPanel(run, sheet).draw(); }

}  // namespace debubble::figure
