#include "scenario/request/step_times.hpp"

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "sim/core/error.hpp"
#include "sim/core/quantities.hpp"
#include "sim/core/suggest.hpp"

namespace debubble {

namespace {

const std::array<std::string, 5> kStepKeys{"reduce", "embedding", "norm", "optimizer", "gather"};

std::optional<Nanoseconds>* time_of(std::string_view key, StepTimes& times) {
  const std::array<std::optional<Nanoseconds>*, 5> all{&times.reduce, &times.embedding, &times.norm, &times.optimizer,
                                                       &times.gather};
  for (std::size_t k = 0; k < kStepKeys.size(); ++k) {
    if (kStepKeys.at(k) == key) return all.at(k);
  }
  return nullptr;
}

Diagnostic unknown_key(const std::string& key, const std::string& place) {
  const std::string guess = closest_name(key, kStepKeys);
  return {
      "C017", place, "a step has no \"" + key + "\"",
      guess.empty() ? "its parts are reduce, embedding, norm, optimizer and gather" : "did you mean " + guess + "?"};
}

void read_step_time(std::string_view item, const std::string& place, StepTimes& times,
                    std::vector<Diagnostic>& problems) {
  const std::size_t equals = item.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    problems.push_back({"C006", place, "\"" + std::string(item) + "\" is neither on, off nor KEY=TIME",
                        "write it like " + place + " reduce=2,optimizer=0.5"});
    return;
  }
  const std::string key(item.substr(0, equals));
  std::optional<Nanoseconds>* time = time_of(key, times);
  if (time == nullptr) return problems.push_back(unknown_key(key, place));
  if (*time) {
    problems.push_back({"C007", place, "\"" + key + "\" is given twice", "give each part once"});
    return;
  }
  try {
    *time = parse_duration(item.substr(equals + 1), place, BareNumber::kToyUnits);
  } catch (const InputError& error) {
    problems.insert(problems.end(), error.diagnostics().begin(), error.diagnostics().end());
  }
}

}  // namespace

StepTimes parse_step_times(std::string_view text, const std::string& place) {
  StepTimes times;
  std::vector<Diagnostic> problems;
  for (;;) {
    const std::size_t comma = text.find(',');
    read_step_time(text.substr(0, comma), place, times, problems);
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  if (!problems.empty()) throw InputError(std::move(problems));
  return times;
}

}  // namespace debubble
