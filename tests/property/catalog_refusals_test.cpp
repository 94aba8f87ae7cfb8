// What the catalog refuses: every refusal can be mended, and advice that names values leads to a schedule.
#include <regex>

#include "schedules/catalog.hpp"
#include "tests/support/catalog_requests.hpp"
#include "tests/support/test.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

std::optional<Diagnostic> refusal_of(const ScheduleEntry& entry, const ScheduleRequest& request) {
  try {
    (void)build_schedule(entry.name, request);
  } catch (const InputError& error) {
    return error.diagnostics().at(0);
  }
  return std::nullopt;
}

// What one value of the advice names: a flag or a parameter, and every value for it.
struct Advice {
  std::string name;  // "-p", "-m", "-v" or the parameter's name
  std::vector<std::string> values;
};

// "nearest legal values: -m 4 or 8", "nearest legal value: --param waves=1", "legal values at p=8: 1, 2, 4" of the
// parameter that the place names, "smallest limit that works here: --param memory_limit=3"; nothing for other help.
std::optional<Advice> advice_of(const Diagnostic& problem) {
  static const std::regex flags(R"(.*: (-[pmv]) (\d+)(?: or (\d+))?)");
  static const std::regex params(R"(.*: --param (\w+)=([\w.,]+)(?: or (\w+))?)");
  static const std::regex list(R"(legal values[^:]*: (\d+(?:, \d+)*))");
  std::smatch found;
  if (std::regex_match(problem.help, found, flags) || std::regex_match(problem.help, found, params)) {
    Advice advice{found[1], {found[2]}};
    if (found[3].matched) advice.values.push_back(found[3]);
    return advice;
  }
  const std::string param = "--param ";
  if (!std::regex_match(problem.help, found, list) || problem.place.rfind(param, 0) != 0) return std::nullopt;
  Advice advice{problem.place.substr(param.size()), {}};
  const std::string values = found[1];
  static const std::regex number(R"(\d+)");
  for (auto it = std::sregex_iterator(values.begin(), values.end(), number); it != std::sregex_iterator(); ++it) {
    advice.values.push_back(it->str());
  }
  return advice;
}

ScheduleRequest advised(ScheduleRequest request, const std::string& name, const std::string& value) {
  if (name == "-p") {
    request.devices = std::stoi(value);
  } else if (name == "-m") {
    request.microbatches = std::stoi(value);
  } else if (name == "-v") {
    request.chunks = std::stoi(value);
  } else {
    request.params[name] = value;
  }
  return request;
}

// "" when every value that the advice names, and the advice that follows from it, ends in a schedule.
std::string bad_advice(const ScheduleEntry& entry, const ScheduleRequest& request, int patience, int& followed) {
  const auto problem = refusal_of(entry, request);
  if (!problem) return "";
  const auto advice = advice_of(*problem);
  if (!advice) return "";
  if (patience == 0) return describe(entry, request) + ": " + problem->code + ", and no end of advice";
  for (const std::string& value : advice->values) {
    const ScheduleRequest next = advised(request, advice->name, value);
    const auto again = refusal_of(entry, next);
    ++followed;
    const bool same_fault = again && again->code == problem->code && again->place == problem->place;
    if (same_fault && advice_of(*again)) {  // without advice it is another fault of the same family
      return describe(entry, request) + ": the advice \"" + problem->help + "\" is refused too: " + again->message;
    }
    if (auto text = bad_advice(entry, next, patience - 1, followed); !text.empty()) return text;
  }
  return "";
}

}  // namespace

TEST_CASE("the nearest legal values that a refusal names are legal") {
  int followed = 0;
  for (const ScheduleEntry& entry : schedule_catalog()) {
    const auto requests = requests_for(entry);
    constexpr std::size_t kEnough = 250;
    for (std::size_t i = 0; i < std::min(requests.size(), kEnough); ++i) {
      const std::string problem = bad_advice(entry, requests[i], 4, followed);
      CHECK_EQ(problem, "");
      if (!problem.empty()) break;
    }
  }
  CHECK(followed > 200);
}

TEST_CASE("advice is read as it is written") {
  const auto values = [](const std::string& place, const std::string& help) {
    const auto advice = advice_of({"S000", place, "", help});
    return advice ? advice->name + ":" + std::to_string(advice->values.size()) + ":" + advice->values.back() : "";
  };
  CHECK(values("--devices", "nearest legal values: -p 2 or 4") == "-p:2:4");
  CHECK(values("--microbatches", "nearest legal values at p=4: -m 8") == "-m:1:8");
  CHECK(values("--param group", "nearest legal value: --param group=4") == "group:1:4");
  CHECK(values("--param pairs", "legal values at p=8: 1, 2, 4") == "pairs:3:4");
  CHECK(values("--devices", "use -p 2 or more") == "");
}
