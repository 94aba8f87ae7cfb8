#include "tests/support/catalog_requests.hpp"

#include <map>
#include <numeric>
#include <regex>
#include <sstream>
#include <stdexcept>

#include "schedules/catalog.hpp"
#include "sim/core/error.hpp"

namespace debubble::testing {
namespace {

using Params = std::map<std::string, std::string>;

// Values for "a|b|c": these; for a memory limit: its forms; for a list ("r0,r1,..."): some lists; else some numbers,
// and "auto" and an example like 7,5,4 where the text names them. And always the default, by not naming the parameter.
std::vector<std::string> values_of(const ParamSpec& spec) {
  if (spec.name == "memory_limit") return {"", "1", "2", "3", "4", "5", "7", "10", "2.5", "1p", "1.5p", "2p"};
  // The MILP's solver is a plugin, which not every build has; tests/property/solved_order_test.cpp is about it.
  if (spec.name == "solver" || spec.name == "offload") return {""};
  if (spec.values.find(",...") != std::string::npos) {
    return {"", "1,1", "2,1", "1,2", "1,1,1", "2,1,1", "3,1", "2,2", "1,1,1,1", "4,2,2", "3,2,1", "1,5", "5,2,1"};
  }
  std::vector<std::string> values{""};
  if (spec.values.find('|') == std::string::npos) {
    for (const char* number : {"0", "1", "2", "3", "4", "6"}) values.emplace_back(number);
    if (spec.values.find("auto") != std::string::npos) values.emplace_back("auto");
    static const std::regex example(R"(\d+(,\d+)+)");
    if (std::smatch found; std::regex_search(spec.values, found, example)) values.push_back(found.str());
    return values;
  }
  std::istringstream choices(spec.values);
  for (std::string choice; std::getline(choices, choice, '|');) values.push_back(choice);
  return values;
}

// Counts through all combinations: the digits of a number of which each has a base of its own.
class Digits {
 public:
  explicit Digits(std::size_t number) : rest_(number) {}
  std::size_t next(std::size_t base) {
    const std::size_t digit = rest_ % base;
    rest_ /= base;
    return digit;
  }

 private:
  std::size_t rest_;
};

// A step that visits every number below `total` once, in an order that is even at any point.
std::size_t spreading_step(std::size_t total) {
  auto step = static_cast<std::size_t>(static_cast<double>(total) * 0.6180339887);
  while (step > 1 && std::gcd(step, total) != 1) --step;
  return step == 0 ? 1 : step;
}

void check_refusal(const ScheduleEntry& entry, const InputError& error) {
  if (error.diagnostics().empty()) throw std::logic_error(entry.name + " refuses without saying why");
  for (const Diagnostic& problem : error.diagnostics()) {
    if (problem.code.empty() || problem.message.empty() || problem.help.empty()) {
      throw std::logic_error(entry.name + " refuses without code, message or help: " + error.what());
    }
  }
}

}  // namespace

std::vector<ScheduleRequest> requests_for(const ScheduleEntry& entry) {
  const std::vector<int> devices{4, 2, 6, 8, 3, 1};
  const std::vector<int> microbatches{1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 16, 24};
  const std::vector<int> chunks{0, 1, 2, 3, 4};
  std::size_t total = devices.size() * microbatches.size() * chunks.size();
  std::vector<std::vector<std::string>> values;
  for (const ParamSpec& spec : entry.params) total *= values.emplace_back(values_of(spec)).size();

  constexpr std::size_t kMost = 3000;
  const std::size_t step = spreading_step(total);
  std::vector<ScheduleRequest> requests;
  for (std::size_t k = 0; k < std::min(total, kMost); ++k) {
    Digits digits(k * step % total);
    ScheduleRequest request;
    request.devices = devices[digits.next(devices.size())];
    request.microbatches = microbatches[digits.next(microbatches.size())];
    request.chunks = chunks[digits.next(chunks.size())];
    for (std::size_t n = 0; n < values.size(); ++n) {
      const std::string& value = values[n][digits.next(values[n].size())];
      if (!value.empty()) request.params[entry.params[n].name] = value;
    }
    requests.push_back(request);
  }
  return requests;
}

std::vector<Schedule> schedules_of(const ScheduleEntry& entry, std::size_t most) {
  std::vector<Schedule> schedules;
  for (const ScheduleRequest& request : requests_for(entry)) {
    if (schedules.size() >= most) break;
    try {
      schedules.push_back(build_schedule(entry.name, request));
    } catch (const InputError& error) {
      check_refusal(entry, error);
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

std::string describe(const ScheduleEntry& entry, const ScheduleRequest& request) {
  std::string text = entry.name + " p=" + std::to_string(request.devices) +
                     " m=" + std::to_string(request.microbatches) + " v=" + std::to_string(request.chunks);
  for (const auto& [name, value] : request.params) text += " " + name + "=" + value;
  return text;
}

}  // namespace debubble::testing
