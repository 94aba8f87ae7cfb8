#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "sim/core/quantities.hpp"
#include "sim/core/words.hpp"
#include "tools/figures/font.hpp"
#include "tools/figures/sheet.hpp"
#include "tools/figures/study_figures.hpp"

namespace debubble::figure {

namespace {

constexpr std::size_t kMostNamed = 12;
constexpr Length kApart = 900;  // of two points with letters, where there are many
constexpr Length kMark = 180;   // from the middle of a mark to its corners

// Room around the points, so that none lies on an axis.
void widen(std::int64_t& smallest, std::int64_t& largest) {
  const std::int64_t room = std::max<std::int64_t>((largest - smallest) / 12, largest / 50 + 1);
  smallest = std::max<std::int64_t>(smallest - room, 0);
  largest += room;
}

struct FrontPlot {
  Span1D time;
  Span1D memory;  // from the foot up, as if it lay
  Length foot = 0;

  [[nodiscard]] Point place(const FrontPoint& point) const {
    return {time.x_of(point.step), foot - memory.x_of(point.peak)};
  }
};

FrontPlot plot_of(const std::vector<FrontPoint>& points, const FigureFrame& frame, Length top) {
  Nanoseconds least_step = points.front().step;
  Nanoseconds most_step = least_step;
  Bytes least_peak = points.front().peak;
  Bytes most_peak = least_peak;
  for (const FrontPoint& point : points) {
    least_step = std::min(least_step, point.step);
    most_step = std::max(most_step, point.step);
    least_peak = std::min(least_peak, point.peak);
    most_peak = std::max(most_peak, point.peak);
  }
  widen(least_step, most_step);
  widen(least_peak, most_peak);
  FrontPlot plot;
  const Length height = frame.width * 45 / 100;
  plot.foot = top + height;
  plot.memory = {0, height, most_peak, least_peak};
  plot.time = {3000, frame.width - 600, most_step, least_step};
  return plot;
}

void draw_memory_axis(const FrontPlot& plot, Sheet& sheet) {
  const Length room = 1800;
  const SizeSteps steps =
      size_steps(plot.memory.smallest, plot.memory.largest, std::max<std::int64_t>(plot.memory.width() / room, 1));
  Layer lines{.name = "axis", .fill = {}, .stroke = kText, .stroke_width = 50};
  lines.shapes.push_back({{{plot.time.left, plot.foot}, {plot.time.left, plot.foot - plot.memory.width()}}});
  for (std::int64_t at = 0; steps.bytes(at) <= plot.memory.largest; at += steps.step) {
    if (steps.bytes(at) < plot.memory.smallest) continue;
    const Length y = plot.foot - plot.memory.x_of(steps.bytes(at));
    lines.shapes.push_back({{{plot.time.left - 200, y}, {plot.time.left, y}}});
    sheet.write("numbers", {{plot.time.left - 350, y + 230}, in_thousandths(at), kFontSize, Align::kRight});
  }
  sheet.write("numbers", {{200, sheet.top() + 500}, "peak memory (" + steps.unit + ")", kFontSize, Align::kLeft});
  sheet.add(std::move(lines));
}

Shape diamond(Point middle, Length size) {
  return {{{middle.x - size, middle.y},
           {middle.x, middle.y - size},
           {middle.x + size, middle.y},
           {middle.x, middle.y + size}},
          true};
}

// Letters beside their points; one that would lie upon another is put elsewhere, or above all where there is no room.
class Letters {
 public:
  explicit Letters(const std::vector<Point>& marks) {
    for (const Point& mark : marks) taken_.push_back({mark.x - kMark, mark.y - kMark, 2 * kMark, 2 * kMark});
  }

  [[nodiscard]] Point place(Point mark, const std::string& letter) {
    const Length wide = text_width(letter, kFontSize);
    const Length high = kFontSize * kDigitHeight / 100;
    const std::vector<Point> corners{{mark.x + 280, mark.y - 150},
                                     {mark.x - 280 - wide, mark.y + high + 150},
                                     {mark.x + 280, mark.y + high + 150},
                                     {mark.x - 280 - wide, mark.y - 150}};
    Point chosen = corners.front();
    for (const Point& corner : corners) {
      const Box box{corner.x, corner.y - high, wide, high};
      const bool free =
          std::none_of(taken_.begin(), taken_.end(), [&box](const Box& other) { return meet(box, other); });
      if (!free) continue;
      chosen = corner;
      break;
    }
    taken_.push_back({chosen.x, chosen.y - high, wide, high});
    return chosen;
  }

 private:
  static bool meet(const Box& a, const Box& b) {
    return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
  }

  std::vector<Box> taken_;
};

// Which points of the front have letters: all of a few; of many the ends, and between them what is far enough apart.
std::vector<std::size_t> lettered(const std::vector<Point>& places) {
  std::vector<std::size_t> named(places.size());
  std::iota(named.begin(), named.end(), std::size_t{0});
  for (Length apart = kApart; named.size() > kMostNamed; apart += kApart) {
    const auto far = [&](std::size_t a, std::size_t b) {
      return std::max(std::abs(places[a].x - places[b].x), std::abs(places[a].y - places[b].y)) >= apart;
    };
    named = {0};
    for (std::size_t k = 1; k + 1 < places.size(); ++k) {
      if (far(k, named.back()) && far(k, places.size() - 1)) named.push_back(k);
    }
    named.push_back(places.size() - 1);
  }
  return named;
}

// A number and its unit stay on one line.
std::string unbroken(std::string quantity) {
  const std::size_t blank = quantity.find(' ');
  if (blank != std::string::npos) quantity.replace(blank, 1, "\u00a0");
  return quantity;
}

std::string letter_of(std::size_t place) { return {static_cast<char>('a' + place)}; }

const char* front_color(const FigureFrame& frame) { return frame.mono ? kText : "#0072b2"; }

// The marks of the points that are not on the front, below all else.
void mark_others(const std::vector<FrontPoint>& points, const std::vector<std::size_t>& front, const FrontPlot& plot,
                 Sheet& sheet) {
  Layer others{.name = "point",
               .fill = sheet.mono() ? kPaper : "#c4c4c4",
               .stroke = sheet.mono() ? kFaint : "",
               .stroke_width = 30};
  for (std::size_t k = 0; k < points.size(); ++k) {
    if (std::find(front.begin(), front.end(), k) != front.end()) continue;
    others.shapes.push_back(diamond(plot.place(points[k]), kMark * 2 / 3));
  }
  if (!others.shapes.empty()) sheet.add(std::move(others));
}

// The line of the front, which falls in steps, and its marks.
void mark_front(const std::vector<Point>& places, const FigureFrame& frame, Sheet& sheet) {
  Layer steps{.name = "front-line", .fill = {}, .stroke = front_color(frame), .stroke_width = 60};
  Layer marks{.name = "front", .fill = front_color(frame), .stroke = {}};
  Shape line;
  for (const Point& place : places) {
    if (!line.points.empty()) line.points.push_back({place.x, line.points.back().y});
    line.points.push_back(place);
    marks.shapes.push_back(diamond(place, kMark));
  }
  if (line.points.size() > 1) {
    steps.shapes.push_back(std::move(line));
    sheet.add(std::move(steps));
  }
  sheet.add(std::move(marks));
}

std::string front_note(std::size_t points, std::size_t front, std::size_t named, const FigureFrame& frame) {
  std::string words = "On the line: no other run is as fast with as little memory.";
  if (named < front) words += " " + std::to_string(named) + " of these " + std::to_string(front) + " have a letter.";
  if (points > front) {
    words += std::string(frame.mono ? " Open: " : " Grey: ") + counted(points - front, "other run") + ".";
  }
  if (frame.limit) words += " The limit is " + format_size(*frame.limit) + ".";
  return words;
}

}  // namespace

std::vector<std::size_t> on_front(const std::vector<FrontPoint>& points) {
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&points](std::size_t a, std::size_t b) {
    return points[a].step != points[b].step ? points[a].step < points[b].step : points[a].peak < points[b].peak;
  });
  std::vector<std::size_t> front;
  for (const std::size_t k : order) {
    if (front.empty() || points[k].peak < points[front.back()].peak) front.push_back(k);
  }
  return front;
}

Drawing front_figure(const std::vector<FrontPoint>& points, const FigureFrame& frame) {
  constexpr Length kTitleRoom = 900;  // the title of the memory axis is above it
  Sheet sheet(frame.width, frame.mono);
  const FrontPlot plot = plot_of(points, frame, sheet.top() + kTitleRoom);
  const std::vector<std::size_t> front = on_front(points);
  std::vector<Point> places;
  for (const std::size_t k : front) places.push_back(plot.place(points[k]));
  mark_others(points, front, plot, sheet);
  mark_front(places, frame, sheet);
  Letters letters(places);
  std::vector<LegendItem> items;
  for (const std::size_t k : lettered(places)) {
    const FrontPoint& point = points[front[k]];
    const std::string letter = letter_of(items.size());
    sheet.write("letter", {letters.place(places[k], letter), letter, kFontSize, Align::kLeft});
    items.push_back({letter + "  " + point.label + ": " + unbroken(format_duration(point.step)) + ", " +
                     unbroken(format_size(point.peak))});
  }
  draw_memory_axis(plot, sheet);
  sheet.move_down(plot.foot - sheet.top());
  sheet.time_axis(plot.time, "step");
  sheet.legend(items);
  sheet.note(front_note(points.size(), front.size(), items.size(), frame));
  return sheet.take(frame.title, frame.description);
}

}  // namespace debubble::figure
