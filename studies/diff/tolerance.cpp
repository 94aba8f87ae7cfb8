#include "studies/diff/tolerance.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/core/error.hpp"
#include "sim/core/keyed_list.hpp"
#include "sim/core/numbers.hpp"

namespace debubble {
namespace {

constexpr const char* kExample = "write it like --tolerance bubble=2pp,step=5%,memory=5%";

struct ToleranceKey {
  const char* name;
  const char* unit;
  std::optional<double> Tolerance::*value;
};
constexpr std::array<ToleranceKey, 3> kToleranceKeys{
    {{"step", "%", &Tolerance::step}, {"bubble", "pp", &Tolerance::bubble}, {"memory", "%", &Tolerance::memory}}};

std::optional<double> hundredths(std::string_view text, std::string_view unit) {
  if (!text.ends_with(unit)) return std::nullopt;
  text.remove_suffix(unit.size());
  const auto value = text.find_first_of("-eE") == std::string_view::npos ? number_of(text) : std::nullopt;
  if (!value) return std::nullopt;
  return *value / 100;
}

// |median - predicted| / predicted; a gap from nothing is infinite.
double apart(const Figure<std::int64_t>& figure) {
  if (figure.median == figure.predicted) return 0;
  return std::abs(static_cast<double>(figure.median - figure.predicted)) /
         static_cast<double>(std::max<std::int64_t>(figure.predicted, 0));
}

}  // namespace

Tolerance parse_tolerance(std::string_view text) {
  const KeyedForm form{.place = "--tolerance",
                       .example = kExample,
                       .twice = "{} is given twice",
                       .keys = {"step", "bubble", "memory"},
                       .unknown = "\"{}\" is not one of: step, bubble, memory",
                       .known = kExample};
  Tolerance result;
  read_keyed_list(text, form, [&](const std::string& name, const std::string& value) {
    const auto* const key = std::find_if(kToleranceKeys.begin(), kToleranceKeys.end(),
                                         [&](const ToleranceKey& one) { return name == one.name; });
    result.*key->value = hundredths(value, key->unit);
    if (result.*key->value) return;
    fail("C012", form.place, "\"" + value + "\" is not a tolerance of " + name,
         "write it like " + name + "=2" + key->unit);
  });
  return result;
}

void require_judgeable(const Tolerance& tolerance, const Diff& diff) {
  if (!tolerance.memory || diff.activation_source() != MemorySource::kComputed) return;
  throw InputError(Diagnostic{"D013", "--tolerance",
                              "memory was not counted in " + diff.measured_name + ", so there is nothing to judge",
                              "leave memory out, or compare a run file that counted it: debubble live --save-run"});
}

std::vector<Excess> exceeded(const Tolerance& tolerance, const Diff& diff) {
  const Comparison& comparison = diff.comparison;
  std::vector<Excess> found;
  const double step = apart(comparison.makespan);
  if (tolerance.step && step > *tolerance.step) found.push_back({Excess::Kind::kStep, -1, step, *tolerance.step});
  const double bubble = std::abs(comparison.bubble_ratio.median - comparison.bubble_ratio.predicted);
  if (tolerance.bubble && bubble > *tolerance.bubble) {
    found.push_back({Excess::Kind::kBubble, -1, bubble, *tolerance.bubble});
  }
  const bool all = diff.memory_source() == MemorySource::kModelled;
  for (std::size_t d = 0; tolerance.memory && d < comparison.devices.size(); ++d) {
    const DeviceFigures& device = comparison.devices[d];
    const double differs = std::max(apart(device.peak_activation), all ? apart(device.peak_memory) : 0.0);
    if (differs <= *tolerance.memory) continue;
    found.push_back({Excess::Kind::kMemory, static_cast<int>(d), differs, *tolerance.memory});
  }
  return found;
}

}  // namespace debubble
