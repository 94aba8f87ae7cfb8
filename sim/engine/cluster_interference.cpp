#include "sim/engine/cluster_interference.hpp"

#include <stdexcept>

#include "sim/engine/tables.hpp"

namespace debubble {

namespace {

// A number of devices at work at which all times are known.
struct Point {
  std::int32_t devices = 0;
  std::vector<CellCost> cells;
};

std::vector<Point> points_of(const Program& program, const StageCosts& costs) {
  std::vector<Point> points;
  for (const TimesAtWork& times : costs.at_work) {
    const std::int32_t before = points.empty() ? 0 : points.back().devices;
    if (times.devices <= before || times.devices >= program.devices || times.stages.size() != costs.stages.size()) {
      throw std::logic_error("StageCosts::at_work: ascending, fewer than all devices, and every stage");
    }
    StageCosts fewer = costs;
    fewer.stages = times.stages;
    points.push_back({times.devices, cell_costs(program, fewer)});
  }
  points.push_back({program.devices, cell_costs(program, costs)});
  return points;
}

// Linear between the two points around so many devices; before the first point, as at it.
double time_at(const std::vector<Point>& points, std::size_t cell, std::int32_t devices) {
  std::size_t next = 0;
  while (points[next].devices < devices) ++next;
  const auto time = [&](std::size_t point) { return static_cast<double>(points[point].cells[cell].duration); };
  if (next == 0) return time(0);
  const double share = static_cast<double>(devices - points[next - 1].devices) /
                       static_cast<double>(points[next].devices - points[next - 1].devices);
  return time(next - 1) + share * (time(next) - time(next - 1));
}

}  // namespace

Interference::Interference(const Program& program, const StageCosts& costs) {
  if (costs.at_work.empty()) return;
  const std::vector<Point> points = points_of(program, costs);
  const std::vector<CellCost>& all = points.back().cells;
  cells_ = all.size();
  for (std::int32_t devices = 1; devices <= program.devices; ++devices) {
    for (std::size_t cell = 0; cell < cells_; ++cell) {
      const auto usual = static_cast<double>(all[cell].duration);
      factors_.push_back(usual > 0 ? time_at(points, cell, devices) / usual : 1);
    }
  }
}

}  // namespace debubble
