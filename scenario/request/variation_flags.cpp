#include "scenario/request/variation_flags.hpp"

#include <fmt/format.h>

#include <limits>
#include <optional>
#include <utility>

#include "scenario/request/checks.hpp"
#include "scenario/request/flag_row.hpp"
#include "sim/core/error.hpp"
#include "sim/core/numbers.hpp"

namespace debubble {

namespace {

constexpr double kWidestJitter = 2;

double parse_jitter(const std::string& text) {
  constexpr std::string_view kName = "lognormal:";
  const bool named = text.starts_with(kName);
  const std::optional<double> sigma = named ? number_of(text.substr(kName.size())) : std::nullopt;
  if (sigma && *sigma > 0 && *sigma <= kWidestJitter) return *sigma;
  fail("C006", "--jitter", fmt::format("\"{}\" is not lognormal:SIGMA, with SIGMA above 0 and up to 2", text),
       "write it like --jitter lognormal:0.05, about 5 % up and down");
}

std::uint64_t parse_seed(const std::string& text) {
  if (const auto seed = count_of(text, std::numeric_limits<std::int64_t>::max())) {
    return static_cast<std::uint64_t>(*seed);
  }
  fail("C011", "--seed", fmt::format("\"{}\" is not a whole number of at least 0", text), "write it like --seed 7");
}

}  // namespace

FlagRows flag_rows(VariationFlags& flags) {
  const FlagGroup row("Variation");
  return {
      row("--slow", "WHAT=N:FACTOR|FILE", "slowdown: device=3:2, stage=0:1.1, or a run file", &flags.slow,
          FlagCount::kAll, FlagForm::kCommas),
      row("--factors", "FILE|NAME:N", "microbatch sizes: lognormal:0.3, zipf:1.2, file", &flags.factors),
      row("--jitter", "NAME:SIGMA", "jitter of every op: lognormal:0.05", &flags.jitter),
      row("--seed", "N", "random seed", &flags.seed, Default{"1"}),
  };
}

VariationScenario check_variation(const VariationFlags& flags) {
  VariationScenario scenario;
  Checks checks;
  checks.run([&] { scenario.slow = parse_slow(flags.slow); });
  checks.run([&] {
    if (!flags.factors.empty()) scenario.factors = parse_factors(flags.factors);
  });
  checks.run([&] {
    if (!flags.jitter.empty()) scenario.jitter = parse_jitter(flags.jitter);
  });
  checks.run([&] {
    if (flags.seed.empty()) return;
    scenario.seed = parse_seed(flags.seed);
    if (!checks.found_none() || scenario.random()) return;
    fail("C004", "--seed", "nothing of this run is drawn", "add --jitter lognormal:0.05, or leave --seed out");
  });
  checks.finish();
  return scenario;
}

}  // namespace debubble
