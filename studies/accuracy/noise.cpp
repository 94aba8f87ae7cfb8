#include "studies/accuracy/noise.hpp"

#include <algorithm>
#include <map>
#include <string>

namespace debubble {

std::optional<double> measured_step(const ResultRecord& record) {
  for (const MeasuredQuantity& one : record.measured) {
    if (one.quantity == Quantity::kStepTime) return one.value;
  }
  return std::nullopt;
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::optional<Noise> noise_of(const std::vector<const ResultRecord*>& records) {
  Noise noise;
  std::map<std::vector<std::string>, std::size_t> known;
  for (const ResultRecord* record : records) {
    if (!measured_step(*record)) continue;
    const auto [found, fresh] = known.try_emplace(record->arguments, noise.setups.size());
    if (fresh) noise.setups.emplace_back();
    noise.setups[found->second].records.push_back(record);
  }
  std::erase_if(noise.setups, [](const RepeatedSetup& setup) { return setup.records.size() < 2; });
  if (noise.setups.empty()) return std::nullopt;
  std::vector<double> ratios;
  for (RepeatedSetup& setup : noise.setups) {
    std::vector<double> steps;
    for (const ResultRecord* record : setup.records) steps.push_back(measured_step(*record).value_or(0));
    const auto [least, most] = std::minmax_element(steps.begin(), steps.end());
    setup.ratio = *most / *least;
    ratios.push_back(setup.ratio);
  }
  noise.median = median_of(ratios);
  noise.largest = *std::max_element(ratios.begin(), ratios.end());
  return noise;
}

}  // namespace debubble
