#include "tools/views/plan/front_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "formats/text/columns.hpp"
#include "sim/core/quantities.hpp"
#include "sim/core/words.hpp"
#include "tools/views/plan/plan_view.hpp"
#include "tools/views/table.hpp"

namespace debubble {
namespace {

constexpr std::size_t kMostLettered = 12;  // points with a letter and a line in the table
constexpr std::size_t kChartRows = 10;
constexpr std::size_t kLeastColumns = 30;

// The ends, and between them what is left when the point that saves least memory goes, again and again.
std::vector<std::size_t> named_points(const std::vector<PlannedRun>& points) {
  std::vector<std::size_t> kept(points.size());
  for (std::size_t k = 0; k < kept.size(); ++k) kept[k] = k;
  const auto saved = [&](std::size_t place) {
    return static_cast<double>(points[kept[place]].peak) / static_cast<double>(points[kept[place - 1]].peak);
  };
  while (kept.size() > kMostLettered) {
    std::size_t least = 1;
    for (std::size_t place = 2; place + 1 < kept.size(); ++place) {
      if (saved(place) > saved(least)) least = place;
    }
    kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(least));
  }
  return kept;
}

char letter_of_point(std::size_t place) { return static_cast<char>('a' + place); }

class FrontChart {
 public:
  FrontChart(const std::vector<PlannedRun>& points, std::size_t width)
      : points_(points),
        most_(format_size(points.front().peak)),
        least_(format_size(points.back().peak)),
        margin_(std::max(most_.size(), least_.size()) + 1),
        columns_(std::max(width, margin_ + 2 + kLeastColumns) - margin_ - 2),
        rows_(kChartRows, std::string(columns_, ' ')) {}

  std::string text(const std::vector<std::size_t>& named) {
    for (const PlannedRun& point : points_) mark(point, '.');
    for (std::size_t place = named.size(); place-- > 0;) mark(points_[named[place]], letter_of_point(place));
    std::string text = "memory\n";
    for (std::size_t row = 0; row < kChartRows; ++row) {
      text += pad_right(row == 0 ? most_ : row + 1 == kChartRows ? least_ : "", margin_) + "|" + trimmed(rows_[row]);
    }
    const std::string begin = format_duration(points_.front().step);
    const std::string end = format_duration(points_.back().step) + " step";
    text += std::string(margin_, ' ') + "+" + std::string(columns_, '-') + "\n";
    const std::size_t between = columns_ - begin.size();
    return text + std::string(margin_ + 1, ' ') + begin + (points_.size() > 1 ? pad_left(end, between) : " step") +
           "\n";
  }

 private:
  static std::string trimmed(std::string row) {
    row.erase(row.find_last_not_of(' ') + 1);
    return row + "\n";
  }

  static std::size_t place_of(std::int64_t value, std::int64_t from, std::int64_t to, std::size_t places) {
    if (from == to) return 0;
    const double share = static_cast<double>(value - from) / static_cast<double>(to - from);
    return static_cast<std::size_t>(share * static_cast<double>(places - 1) + 0.5);
  }

  void mark(const PlannedRun& point, char glyph) {
    const PlannedRun& first = points_.front();
    const PlannedRun& last = points_.back();
    rows_[place_of(point.peak, first.peak, last.peak, kChartRows)]
         [place_of(point.step, first.step, last.step, columns_)] = glyph;
  }

  const std::vector<PlannedRun>& points_;
  std::string most_, least_;
  std::size_t margin_, columns_;
  std::vector<std::string> rows_;
};

std::string change_text(const PlanChoice& from, const PlanChoice& to) {
  std::string text;
  for (const std::string& one : changed_words(from, to)) text += (text.empty() ? "" : ", ") + one;
  return text.empty() ? to_string(to) : text;
}

}  // namespace

std::string front_certainty(const PlanFront& front) {
  const std::string within = front.gap > 0 ? ", by more than " + format_percent_to(front.gap, 2) + " of each" : "";
  if (!front.proven_to) return "proven: nothing in this space beats a point in both time and memory" + within;
  if (front.points.empty() || !front.proven(front.points.front())) {
    return "the budget ended it: the best that was found, nothing is proven";
  }
  return "the budget ended it: proven for steps below " + format_duration(*front.proven_to) + within +
         "; the rest is the best that was found";
}

std::string front_view(const PlanFront& front, std::size_t width) {
  const std::vector<PlannedRun>& points = front.points;
  const std::vector<std::size_t> named = named_points(points);
  using Side = Table::Side;
  Table table({{"", Side::kRight},
               {"memory", Side::kRight},
               {"saved", Side::kRight},
               {"step", Side::kRight},
               {"slower", Side::kRight},
               {"what changes", Side::kLeft}});
  for (std::size_t place = 0; place < named.size(); ++place) {
    const PlannedRun& point = points[named[place]];
    const PlannedRun& before = points[named[place == 0 ? 0 : place - 1]];
    const double longer = static_cast<double>(point.step) / static_cast<double>(before.step) - 1;
    table.add_row({std::string(1, letter_of_point(place)) + (front.proven(point) ? "" : "?"), format_size(point.peak),
                   place == 0 ? "" : format_size(before.peak - point.peak), format_duration(point.step),
                   place == 0 ? "" : format_change(longer),
                   place == 0 ? to_string(point.choice) : change_text(before.choice, point.choice)});
  }
  std::string text = FrontChart(points, width).text(named) + "\n" + table.text(width);
  if (named.size() < points.size()) {
    text += fmt::format("{} of {}: --format csv has all\n", named.size(), counted(points.size(), "point"));
  }
  return text;
}

std::string front_csv(const Plan& plan) {
  std::string csv = plan_csv_head() + ",proven\n";
  if (!plan.front) return csv;
  std::size_t rank = 0;
  for (const PlannedRun& point : plan.front->points) {
    csv += plan_csv_line(plan, point, ++rank) + (plan.front->proven(point) ? ",1\n" : ",0\n");
  }
  return csv;
}

}  // namespace debubble
