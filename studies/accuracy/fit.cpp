// The fit of one constant per hardware and number format: a descent on a fixed lattice, the same on every machine.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "sim/core/error.hpp"
#include "studies/accuracy/accuracy.hpp"
#include "studies/parallel.hpp"

namespace debubble {
namespace {

// Multiples of the finest step. Whole numbers, so that no point is ever slightly off.
constexpr double kComputeStep = 0.005;
constexpr int kStart = 200;         // 1
constexpr int kLowestPoint = 40;    // 0.2
constexpr int kHighestPoint = 600;  // 3

double compute_at(int point) {
  // Through text-sized decimals: 195 x 0.005 shall print as 0.975.
  return std::round(point * kComputeStep * 1000) / 1000;
}

// A step time that was measured, and what it is predicted to be at points of the lattice.
struct FittedStep {
  const ResultRecord* record = nullptr;
  double measured = 0;
  std::map<int, double> errors;  // absolute, by point
};

class MachineFit {
 public:
  MachineFit(HardwareFormat machine, std::vector<FittedStep> steps)
      : machine_(std::move(machine)), steps_(std::move(steps)) {}

  // Over all sources, then without each of them where others remain.
  void append_to(Calibrations& calibrations) {
    std::set<std::string> sources;
    for (const FittedStep& step : steps_) sources.insert(step.record->source);
    calibrations.push_back(fitted(""));
    if (sources.size() < 2) return;
    for (const std::string& source : sources) calibrations.push_back(fitted(source));
  }

 private:
  FittedConstant fitted(const std::string& left_out) {
    FittedConstant constant{machine_, left_out, 1, 0, 0};
    std::set<std::string> sources;
    for (const FittedStep& step : steps_) {
      if (step.record->source == left_out) continue;
      ++constant.records;
      sources.insert(step.record->source);
    }
    constant.sources = static_cast<int>(sources.size());
    int here = kStart;
    for (const int step : {32, 16, 8, 4, 2, 1}) {
      for (bool moved = true; moved;) {
        moved = false;
        for (const int by : {step, -step}) {
          const int next = std::clamp(here + by, kLowestPoint, kHighestPoint);
          if (error(next, left_out) >= error(here, left_out)) continue;
          here = next;
          moved = true;
        }
      }
    }
    constant.compute = compute_at(here);
    return constant;
  }

  // The mean over sources, but for one, of the mean absolute error of their steps.
  double error(int point, const std::string& left_out) {
    predict_at(point);
    std::map<std::string, std::pair<double, int>> sums;
    for (const FittedStep& step : steps_) {
      if (step.record->source == left_out) continue;
      auto& [sum, steps] = sums[step.record->source];
      sum += step.errors.at(point);
      ++steps;
    }
    double total = 0;
    for (const auto& [source, sum] : sums) total += sum.first / sum.second;
    return total / static_cast<double>(sums.size());
  }

  void predict_at(int point) {
    if (steps_.front().errors.contains(point)) return;
    const FittedConstant constant{machine_, "", compute_at(point), 0, 0};
    for_each_index(steps_.size(), threads_for(steps_.size(), 0), [&](std::size_t k) {
      const double predicted = predict(*steps_[k].record, &constant).step_seconds;
      steps_[k].errors[point] = std::abs(predicted / steps_[k].measured - 1);
    });
  }

  HardwareFormat machine_;
  std::vector<FittedStep> steps_;
};

// A record that cannot be predicted plays no part, as it plays none in a summary.
bool can_be_predicted(const ResultRecord& record) {
  try {
    (void)predict(record, nullptr);
    return true;
  } catch (const InputError&) {
    return false;
  }
}

}  // namespace

Calibrations fit_constants(const ResultsFile& results) {
  std::map<std::pair<std::string, std::string>, std::vector<FittedStep>> by_machine;
  for (const ResultRecord& record : results.records) {
    const HardwareFormat machine = machine_of(record);
    if (machine.empty()) continue;
    for (const MeasuredQuantity& measured : record.measured) {
      if (measured.quantity != Quantity::kStepTime || !can_be_predicted(record)) continue;
      by_machine[{machine.hardware, machine.format}].push_back({&record, measured.value, {}});
    }
  }
  Calibrations calibrations;
  for (auto& [key, steps] : by_machine) {
    MachineFit({key.first, key.second}, std::move(steps)).append_to(calibrations);
  }
  return calibrations;
}

}  // namespace debubble
