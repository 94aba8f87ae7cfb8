#include "tests/support/planned.hpp"

#include <cmath>
#include <cstdio>

#include "schedules/catalog.hpp"

namespace debubble::testing {

StageCosts Case::costs() const {
  StageCosts costs;
  for (const Pass& pass : passes) {
    StageCost cost;
    cost.forward = pass.forward;
    cost.input_grad = pass.input_grad;
    cost.weight_grad = pass.weight_grad;
    cost.backward = pass.input_grad + pass.weight_grad;
    cost.activation = pass.activation;
    cost.weight_grad_held = pass.held;
    costs.stages.push_back(cost);
  }
  return costs;
}

PlanningCosts Case::known() const {
  PlanningCosts known;
  known.costs = costs();
  known.hops.assign(passes.size() - 1, hop);
  for (const Pass& pass : passes) known.activation_unit += pass.activation;
  known.activation_unit /= devices;
  return known;
}

Nanoseconds Case::work(int device) const {
  const Pass& pass = passes.at(static_cast<std::size_t>(device));
  return microbatches * (pass.forward + pass.input_grad + pass.weight_grad);
}

Case equal_case(int devices, int microbatches, const Pass& pass, Nanoseconds hop, int chunks) {
  return {devices, microbatches, std::vector<Pass>(static_cast<std::size_t>(devices * chunks), pass), hop};
}

Schedule plan(const std::string& name, const Case& of, const Params& params) {
  const PlanningCosts known = of.known();
  ScheduleRequest request{of.devices, of.microbatches, 0, params};
  request.costs = &known;
  return build_schedule(name, request);
}

Totals totals_of(const Schedule& schedule, const Case& of) {
  return totals_of(schedule, of.costs(), HopFigures{of.hop, 0});
}

std::string peaks_of(const Totals& totals, const Case& of, int decimals) {
  std::string text;
  for (const DeviceTotals& device : totals.devices) {
    const double peak = static_cast<double>(device.peak_activation) / static_cast<double>(of.passes.front().activation);
    std::string number(32, ' ');
    number.resize(static_cast<std::size_t>(std::snprintf(number.data(), number.size(), "%.*f", decimals, peak)));
    number.erase(number.find_last_not_of('0') + 1);
    if (number.back() == '.') number.pop_back();
    text += (text.empty() ? "" : " ") + number;
  }
  return text;
}

}  // namespace debubble::testing
