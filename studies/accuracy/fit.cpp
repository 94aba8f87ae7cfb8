// The fit of a source's constants: a descent on a fixed lattice, the same on every machine.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "sim/core/error.hpp"
#include "studies/accuracy/accuracy.hpp"
#include "studies/parallel.hpp"

namespace debubble {
namespace {

// A point of the lattice: multiples of the finest steps. Whole numbers, so that no point is ever slightly off.
using Point = std::pair<int, int>;  // compute, network
constexpr double kComputeStep = 0.005;
constexpr double kNetworkStep = 0.05;
constexpr Point kStart{200, 20};      // 1, 1
constexpr Point kLeast{40, 4};        // 0.2, 0.2
constexpr Point kMostPoint{600, 80};  // 3, 4

Calibration calibration_at(Point point) {
  // Through text-sized decimals: 195 x 0.005 shall print as 0.975.
  return {std::round(point.first * kComputeStep * 1000) / 1000, std::round(point.second * kNetworkStep * 100) / 100};
}

class Fit {
 public:
  explicit Fit(std::vector<const ResultRecord*> records, bool compute, bool network)
      : records_(std::move(records)), compute_(compute), network_(network) {}

  Calibration best() {
    Point here = kStart;
    for (const int step : {32, 16, 8, 4, 2, 1}) here = descend(here, {step, std::max(1, step / 4)});
    return calibration_at(here);
  }

 private:
  // One constant after the other, as long as a step makes the error less.
  Point descend(Point here, Point step) {
    for (bool moved = true; moved;) {
      moved = false;
      for (const Point& by :
           {Point{step.first, 0}, Point{-step.first, 0}, Point{0, step.second}, Point{0, -step.second},
            Point{step.first, -step.second}, Point{-step.first, step.second}}) {
        if ((by.first != 0 && !compute_) || (by.second != 0 && !network_)) continue;
        const Point next{std::clamp(here.first + by.first, kLeast.first, kMostPoint.first),
                         std::clamp(here.second + by.second, kLeast.second, kMostPoint.second)};
        if (error(next) >= error(here)) continue;
        here = next;
        moved = true;
      }
    }
    return here;
  }

  double error(Point point) {
    const auto known = errors_.find(point);
    if (known != errors_.end()) return known->second;
    const Calibration calibration = calibration_at(point);
    std::vector<double> each(records_.size(), 0);
    for_each_index(records_.size(), threads_for(records_.size(), 0), [&](std::size_t k) {
      for (const MeasuredQuantity& measured : records_[k]->measured) {
        if (measured.quantity != Quantity::kStepTime) continue;
        each[k] = std::abs(predict(*records_[k], &calibration).step_seconds / measured.value - 1);
      }
    });
    double sum = 0;
    for (const double one : each) sum += one;
    return errors_.emplace(point, sum).first->second;
  }

  std::vector<const ResultRecord*> records_;
  bool compute_, network_;
  std::map<Point, double> errors_;
};

bool has_constant(const ResultSource& source, const char* constant) {
  return std::find(source.constants.begin(), source.constants.end(), constant) != source.constants.end();
}

}  // namespace

Calibrations fit_constants(const ResultsFile& results, const std::string& only) {
  Calibrations calibrations;
  for (const ResultSource& source : results.sources) {
    if (source.constants.empty() || (!only.empty() && source.name != only)) continue;
    std::vector<const ResultRecord*> records;
    for (const ResultRecord& record : results.records) {
      if (record.source == source.name) records.push_back(&record);
    }
    const std::vector<Half> half = halves(source, records);
    std::vector<const ResultRecord*> fitted;
    for (std::size_t k = 0; k < records.size(); ++k) {
      if (half[k] == Half::kFitted) fitted.push_back(records[k]);
    }
    if (fitted.empty()) continue;
    calibrations[source.name] =
        Fit(std::move(fitted), has_constant(source, "compute"), has_constant(source, "network")).best();
  }
  return calibrations;
}

}  // namespace debubble
