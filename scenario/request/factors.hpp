// --factors: what each microbatch costs, relative to the average one: sequence lengths, imbalance of experts.
//
//     FILE.csv, FILE.json     as measured (factors_file.hpp)
//     lognormal:0.3           exp(0.3 z), z normal
//     uniform:0.5-1.5         all of the range alike
//     zipf:1.2                k^-1.2 for k = 1 .. m, in random order: few long ones, many short ones
//     experts:8:0.5           the busiest of 8 experts whose popularity is exp(0.5 z), over their mean
//
// The first three are divided by their mean, so that a step has the same work whatever the seed. Experts are not: the
// mean expert costs what the stage costs, and all wait for the busiest.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace debubble {

// What a duration may be multiplied by. Beyond it a factor is a slip, not a slow device.
inline constexpr double kLeastFactor = 1e-3;
inline constexpr double kLargestFactor = 1e3;
[[nodiscard]] inline bool is_factor(double value) { return value >= kLeastFactor && value <= kLargestFactor; }

struct FactorSource {
  enum class Kind { kNone, kFile, kLognormal, kUniform, kZipf, kExperts };
  Kind kind = Kind::kNone;
  std::string text;             // as typed
  std::vector<double> factors;  // of a file: one for each microbatch
  double spread = 0;            // sigma, or Zipf's exponent
  double low = 1, high = 1;     // of uniform
  int experts = 1;

  [[nodiscard]] bool random() const { return kind != Kind::kNone && kind != Kind::kFile; }
};

// Throws InputError C002, C006 and C012, and what is wrong with a file.
[[nodiscard]] FactorSource parse_factors(const std::string& text);

// One factor for each of `microbatches`; empty for kNone. A file must have as many (P012).
[[nodiscard]] std::vector<double> microbatch_factors(const FactorSource& source, int microbatches, std::uint64_t seed);

}  // namespace debubble
