#include "tests/support/catalog_requests.hpp"

#include <map>
#include <sstream>
#include <stdexcept>

#include "schedules/catalog.hpp"
#include "sim/core/error.hpp"

namespace debubble::testing {
namespace {

using Params = std::map<std::string, std::string>;

// The choices of "a|b|c"; for a number, some numbers; and always the default, by not naming the parameter.
std::vector<std::string> values_of(const ParamSpec& spec) {
  std::vector<std::string> values{""};
  if (spec.values.find('|') == std::string::npos) {
    for (const char* number : {"1", "2", "3", "4", "6"}) values.emplace_back(number);
    return values;
  }
  std::istringstream choices(spec.values);
  for (std::string choice; std::getline(choices, choice, '|');) values.push_back(choice);
  return values;
}

std::vector<Params> combinations(const std::vector<ParamSpec>& specs) {
  std::vector<Params> all{{}};
  for (const ParamSpec& spec : specs) {
    std::vector<Params> longer;
    for (const Params& params : all) {
      for (const std::string& value : values_of(spec)) {
        Params with = params;
        if (!value.empty()) with[spec.name] = value;
        longer.push_back(with);
      }
    }
    all = longer;
  }
  return all;
}

}  // namespace

std::vector<ScheduleRequest> requests_for(const ScheduleEntry& entry) {
  std::vector<ScheduleRequest> requests;
  const auto params = combinations(entry.params);
  for (const int devices : {1, 2, 3, 4, 6, 8}) {
    for (const int microbatches : {1, 2, 3, 4, 5, 6, 8, 9, 12, 16}) {
      for (const int chunks : {0, 1, 2, 3}) {
        for (const Params& each : params) requests.push_back({devices, microbatches, chunks, each});
      }
    }
  }
  return requests;
}

std::vector<Schedule> schedules_of(const ScheduleEntry& entry) {
  std::vector<Schedule> schedules;
  for (const ScheduleRequest& request : requests_for(entry)) {
    try {
      schedules.push_back(build_schedule(entry.name, request));
    } catch (const InputError& error) {
      for (const Diagnostic& problem : error.diagnostics()) {
        if (problem.code.empty() || problem.message.empty() || problem.help.empty()) {
          throw std::logic_error(entry.name + " refuses without code, message or help: " + error.what());
        }
      }
      if (error.diagnostics().empty()) throw std::logic_error(entry.name + " refuses without saying why");
    }
  }
  return schedules;
}

std::string describe(const Schedule& schedule) {
  std::string text = schedule.name + " p=" + std::to_string(schedule.devices) +
                     " m=" + std::to_string(schedule.microbatches) + " v=" + std::to_string(schedule.chunks);
  for (const auto& [name, value] : schedule.params) text += " " + name + "=" + value;
  return text;
}

}  // namespace debubble::testing
