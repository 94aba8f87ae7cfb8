#include "scenario/request/factors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "formats/files/read_file.hpp"
#include "scenario/request/draws.hpp"
#include "scenario/request/factors_file.hpp"
#include "sim/core/error.hpp"
#include "sim/core/numbers.hpp"
#include "sim/core/suggest.hpp"

namespace debubble {

namespace {

using DrawKind = FactorSource::Kind;

const std::array<std::string, 4> kFactorNames{"lognormal", "uniform", "zipf", "experts"};
constexpr int kMostExperts = 4096;
constexpr double kWidestSpread = 4;  // sigma: beyond it one draw in twenty is off by a factor of 2500

[[noreturn]] void refuse_factors(const char* code, std::string message, std::string help) {
  throw InputError(Diagnostic{code, "--factors", std::move(message), std::move(help)});
}

double spread_of(const std::string& text, const std::string& example) {
  const std::optional<double> value = number_of(text);
  if (value && *value > 0 && *value <= kWidestSpread) return *value;
  refuse_factors("C012", fmt::format("\"{}\" is not a number above 0 and up to {}", text, kWidestSpread),
                 "write it like " + example);
}

void read_uniform(const std::string& text, FactorSource& source) {
  const std::size_t dash = text.find('-');
  const auto low = number_of(text.substr(0, dash));
  const auto high = dash == std::string::npos ? std::nullopt : number_of(text.substr(dash + 1));
  if (!low || !high || !is_factor(*low) || !is_factor(*high) || *low >= *high) {
    refuse_factors("C012",
                   fmt::format("\"{}\" is not a range of two factors from 0.001 to 1000, the lower one first", text),
                   "write it like --factors uniform:0.5-1.5");
  }
  source.low = *low;
  source.high = *high;
}

void read_experts(const std::string& text, FactorSource& source) {
  const std::size_t colon = text.find(':');
  const auto experts = count_of(text.substr(0, colon), kMostExperts);
  if (!experts || *experts < 2 || colon == std::string::npos) {
    refuse_factors(
        "C012", fmt::format("\"{}\" is not a number of experts, 2 to {}, and how uneven they are", text, kMostExperts),
        "write it like --factors experts:8:0.5");
  }
  source.experts = static_cast<int>(*experts);
  source.spread = spread_of(text.substr(colon + 1), "--factors experts:8:0.5");
}

bool is_file(const std::string& text) {
  return text.ends_with(".csv") || text.ends_with(".json") || text.find('/') != std::string::npos;
}

void divide_by_mean(std::vector<double>& factors) {
  const double mean = std::accumulate(factors.begin(), factors.end(), 0.0) / static_cast<double>(factors.size());
  for (double& factor : factors) factor /= mean;
}

// k^-s in an order drawn by Fisher and Yates' shuffle.
std::vector<double> zipf(const FactorSource& source, int microbatches, std::uint64_t seed) {
  std::vector<double> factors;
  for (int k = 1; k <= microbatches; ++k) factors.push_back(std::pow(k, -source.spread));
  for (std::size_t k = factors.size(); k > 1; --k) {
    const auto other = static_cast<std::size_t>(uniform_draw(seed, k) * static_cast<double>(k));
    std::swap(factors[k - 1], factors[std::min(other, k - 1)]);
  }
  return factors;
}

double busiest_expert(const FactorSource& source, std::uint64_t seed, std::uint64_t microbatch) {
  const auto experts = static_cast<std::uint64_t>(source.experts);
  double most = 0;
  double sum = 0;
  for (std::uint64_t e = 0; e < experts; ++e) {
    const double popularity = std::exp(source.spread * normal_draw(seed, microbatch * experts + e));
    most = std::max(most, popularity);
    sum += popularity;
  }
  return most * static_cast<double>(experts) / sum;
}

double drawn_factor(const FactorSource& source, std::uint64_t seed, std::uint64_t microbatch) {
  if (source.kind == DrawKind::kExperts) return busiest_expert(source, seed, microbatch);
  if (source.kind == DrawKind::kLognormal) return std::exp(source.spread * normal_draw(seed, microbatch));
  return source.low + (source.high - source.low) * uniform_draw(seed, microbatch);
}

}  // namespace

FactorSource parse_factors(const std::string& text) {
  FactorSource source;
  source.text = text;
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  const auto found = std::find(kFactorNames.begin(), kFactorNames.end(), name);
  if (found == kFactorNames.end()) {
    if (is_file(text)) {
      source.kind = DrawKind::kFile;
      source.factors = read_factors_file(read_file(text, "--factors"), text);
      return source;
    }
    const std::string guess = closest_name(name, kFactorNames);
    refuse_factors(
        "C002",
        fmt::format("\"{}\" is neither a .csv or .json file nor one of: lognormal, uniform, zipf, experts", text),
        guess.empty() ? "write it like --factors lognormal:0.3" : "did you mean " + guess + "?");
  }
  if (colon == std::string::npos) {
    refuse_factors("C006", fmt::format("\"{}\" does not say how much the microbatches differ", text),
                   "write it like --factors lognormal:0.3, uniform:0.5-1.5, zipf:1.2 or experts:8:0.5");
  }
  source.kind = static_cast<DrawKind>(static_cast<int>(DrawKind::kLognormal) + (found - kFactorNames.begin()));
  const std::string rest = text.substr(colon + 1);
  if (source.kind == DrawKind::kUniform) {
    read_uniform(rest, source);
  } else if (source.kind == DrawKind::kExperts) {
    read_experts(rest, source);
  } else {
    source.spread = spread_of(rest, "--factors " + name + (source.kind == DrawKind::kZipf ? ":1.2" : ":0.3"));
  }
  return source;
}

std::vector<double> microbatch_factors(const FactorSource& source, int microbatches, std::uint64_t seed) {
  if (source.kind == DrawKind::kNone) return {};
  if (source.kind == DrawKind::kFile) {
    if (source.factors.size() == static_cast<std::size_t>(microbatches)) return source.factors;
    refuse_factors(
        "P012",
        fmt::format("{} has {} microbatches, and the run has {}", source.text, source.factors.size(), microbatches),
        fmt::format("give one line for each, or run it with -m {}", source.factors.size()));
  }
  if (source.kind == DrawKind::kZipf) {
    std::vector<double> factors = zipf(source, microbatches, seed);
    divide_by_mean(factors);
    return factors;
  }
  std::vector<double> factors;
  for (int k = 0; k < microbatches; ++k) factors.push_back(drawn_factor(source, seed, static_cast<std::uint64_t>(k)));
  if (source.kind != DrawKind::kExperts) divide_by_mean(factors);
  return factors;
}

}  // namespace debubble
