// Attribution done the slow, obvious way: the whole program in memory, every kernel traced back through its ancestors.
//
// Shares no code with profiler/attribution.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "sim/core/units.hpp"
#include "tests/attribution/random_program.hpp"

namespace debubble::test {

struct ReferenceSum {
  std::int64_t count = 0;
  Nanoseconds total = 0;
  friend bool operator==(const ReferenceSum&, const ReferenceSum&) = default;
};

struct ReferenceAttribution {
  // By layer or category of the rest, phase ("" for the rest), rule and kernel.
  std::map<std::tuple<std::string, std::string, std::string, std::string>, ReferenceSum> sums;
  // Forward time of every execution of a layer, by layer; also the weight gradients'.
  std::map<std::string, std::vector<Nanoseconds>> forward;
  std::map<std::string, std::vector<Nanoseconds>> weight_grad;
  std::int64_t accepted = 0;
  Nanoseconds total = 0;
  std::map<std::string, std::int64_t> losses;
};

[[nodiscard]] ReferenceAttribution reference_attribution(const RandomProgram& program);

}  // namespace debubble::test
