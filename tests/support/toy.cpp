#include "tests/support/toy.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <stdexcept>

#include "schedules/catalog.hpp"

namespace debubble::testing {
namespace {

// Stages per device share: fewer than one where devices share a stage.
double stages_per_share(const Schedule& schedule) {
  if (!schedule.replicas_share_weights) return schedule.chunks;
  return static_cast<double>(schedule.stages) / schedule.devices;
}

StageCosts even_stages(const Schedule& schedule, StageCost cost) {
  StageCosts costs;
  costs.stages.assign(static_cast<std::size_t>(schedule.stages), cost);
  return costs;
}

// A peak in whole chunks (or pieces of them), as the schedule counts them.
std::string peak_mismatch(const std::string& who, const Schedule& schedule, std::size_t device, Bytes got,
                          double expected) {
  const double parts = stages_per_share(schedule) * schedule.pieces;
  const double whole = std::round(expected * parts);
  if (std::abs(whole - expected * parts) > 0.001) return "the table's peak is not a whole number of chunks";
  if (std::abs(static_cast<double>(got) - whole * static_cast<double>(kShare) / parts) < 0.5) return "";
  return who + " finds a peak of " + std::to_string(static_cast<double>(got) / static_cast<double>(kShare)) +
         " on device " + std::to_string(device) + ", not " + std::to_string(expected);
}

std::string makespan_mismatch(const std::string& who, Nanoseconds got, Nanoseconds expected) {
  return got == expected ? ""
                         : who + " finds a makespan of " + std::to_string(got) + ", not " + std::to_string(expected);
}

}  // namespace

Nanoseconds units(double count) { return std::llround(count * static_cast<double>(kUnit)); }

StageCosts toy_costs(const Schedule& schedule, double forward, double backward) {
  StageCost cost;
  const double stages = stages_per_share(schedule);
  cost.forward = units(forward / stages);
  cost.backward = units(backward / stages);
  cost.activation = std::llround(static_cast<double>(kShare) / stages);
  return even_stages(schedule, cost);
}

StageCosts split_costs(const Schedule& schedule, double forward, double input_grad, double weight_grad, double held) {
  StageCost cost;
  const double stages = stages_per_share(schedule);
  cost.forward = units(forward / stages);
  cost.input_grad = units(input_grad / stages);
  cost.weight_grad = units(weight_grad / stages);
  cost.activation = std::llround(static_cast<double>(kShare) / stages);
  cost.weight_grad_held = std::llround(held * static_cast<double>(cost.activation));
  return even_stages(schedule, cost);
}

Schedule build(const std::string& name, int devices, int microbatches, int chunks, const Params& params) {
  return build_schedule(name, {devices, microbatches, chunks, params});
}

Totals totals_of(const Schedule& schedule, const StageCosts& costs, const HopFigures& link) {
  const auto lowered = lower(schedule);
  if (!std::holds_alternative<Program>(lowered)) throw std::logic_error(schedule.name + " deadlocks");
  return simulate_totals(std::get<Program>(lowered), costs, Topology::ideal(link.latency, link.bandwidth));
}

std::string mismatch(const Schedule& schedule, const StageCosts& costs, const HopFigures& link, Nanoseconds makespan,
                     const std::vector<double>& peaks) {
  const auto rules = reference::simulate(schedule, costs, link.latency, link.bandwidth, reference::Mode::kOverlapped);
  if (rules.deadlock) return "the reference simulator deadlocks";
  if (auto text = makespan_mismatch("the reference simulator", rules.makespan, makespan); !text.empty()) return text;
  const Totals totals = totals_of(schedule, costs, link);
  if (auto text = makespan_mismatch("the engine", totals.makespan, makespan); !text.empty()) return text;
  if (!peaks.empty() && peaks.size() != totals.devices.size()) return "the table has another number of devices";
  for (std::size_t d = 0; d < peaks.size(); ++d) {
    auto text = peak_mismatch("the reference simulator", schedule, d, rules.peak_activation[d], peaks[d]);
    if (text.empty()) text = peak_mismatch("the engine", schedule, d, totals.devices[d].peak_activation, peaks[d]);
    if (!text.empty()) return text;
  }
  return "";
}

std::string order_of(const Schedule& schedule, int device, bool with_chunks) {
  std::string text;
  for (const Op& op : schedule.rows.at(static_cast<std::size_t>(device))) {
    text += (text.empty() ? "" : " ") + std::string(1, letter(op.kind)) + std::to_string(op.microbatch);
    if (with_chunks) text += "." + std::to_string(op.stage / schedule.devices);
  }
  return text;
}

std::string order_by_pipe(const Schedule& schedule, int device) {
  std::string text;
  for (const Op& op : schedule.rows.at(static_cast<std::size_t>(device))) {
    const bool up = schedule.replica_of.at(static_cast<std::size_t>(op.microbatch)) == 1;
    const auto first = std::find(schedule.replica_of.begin(), schedule.replica_of.end(), up ? 1 : 0);
    const auto number = op.microbatch - (first - schedule.replica_of.begin());
    text += (text.empty() ? "" : " ") + std::string(1, letter(op.kind)) + (up ? "u" : "d") + std::to_string(number);
  }
  return text;
}

std::string order_by_stage(const Schedule& schedule, int device) {
  const auto& row = schedule.rows.at(static_cast<std::size_t>(device));
  std::istringstream words(schedule.placement.replicas() == 2 ? order_by_pipe(schedule, device)
                                                              : order_of(schedule, device));
  std::string text;
  for (const Op& op : row) {
    std::string word;
    words >> word;
    text += (text.empty() ? "" : " ") + word + "@" + std::to_string(op.stage);
  }
  return text;
}

std::string swapped_directions(std::string order) {
  for (char& c : order) c = c == 'd' ? 'u' : c == 'u' ? 'd' : c;
  return order;
}

}  // namespace debubble::testing
