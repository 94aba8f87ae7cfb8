// Attribution parts all GPU time, whatever the program and the order of its records.
#include "profiler/attribution/attribution.hpp"
#include "tests/attribution/random_program.hpp"
#include "tests/attribution/reference_attribution.hpp"
#include "tests/support/test.hpp"

namespace debubble::test {
namespace {

constexpr int kSeeds = 600;

Attribution attributed(const RandomProgram& program) {
  AttributionRules rules;
  rules.explain = true;
  rules.warm_up_steps = 0;
  Attributor attributor(rules);
  feed(program, attributor);
  attributor.end_of_stream();
  return attributor.finish();
}

std::string demangled_by_hand(const std::string& name) {
  return name == "_ZN2at6native12GammaBetaBwdEv" ? "at::native::GammaBetaBwd()" : name;
}

using Sums = std::map<std::string, ReferenceSum>;

// Every line of one that the other has not, or has otherwise.
std::string difference(const Sums& found, const Sums& expected) {
  std::string text;
  const auto differing = [&](const char* who, const Sums& these, const Sums& those) {
    for (const auto& [key, sum] : these) {
      const auto other = those.find(key);
      if (other != those.end() && other->second == sum) continue;
      text += std::string(who) + key + ": " + std::to_string(sum.count) + " kernels, " + std::to_string(sum.total) +
              " ns\n";
    }
  };
  differing("found    ", found, expected);
  differing("expected ", expected, found);
  return text;
}

Sums sums_of(const Attribution& found) {
  Sums sums;
  for (const Explanation& line : found.explanations) {
    sums[line.layer + " " + line.phase + " " + line.rule + " " + line.kernel] = {line.count, line.total};
  }
  return sums;
}

Sums sums_of(const ReferenceAttribution& reference) {
  Sums sums;
  for (const auto& [key, sum] : reference.sums) {
    const auto& [layer, phase, rule, kernel] = key;
    sums[layer + " " + phase + " " + rule + " " + demangled_by_hand(kernel)] = sum;
  }
  return sums;
}

TimeStatistics sorted_statistics(std::vector<Nanoseconds> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const auto n = values.size();
  const auto at_rank = [&](double share) {
    std::size_t rank = 1;
    while (static_cast<double>(rank) < share * static_cast<double>(n) - 1e-9) ++rank;
    return values[rank - 1];
  };
  return {at_rank(0.5), at_rank(0.1), at_rank(0.9), static_cast<std::int64_t>(n)};
}

void check_profile(const Profile& profile, const ReferenceAttribution& reference) {
  REQUIRE(profile.measurement);
  const Measurement& measurement = *profile.measurement;
  CHECK(measurement.kernels == reference.accepted);
  CHECK(measurement.kernel_time == reference.total);
  Nanoseconds sum = 0;
  for (const RestItem& item : measurement.rest) sum += item.total;
  for (const ProfileLayer& layer : profile.layers) {
    for (const KernelSummary& kernel : layer.kernels) sum += kernel.total;
    const auto forward = reference.forward.find(layer.name);
    CHECK(layer.forward ==
          sorted_statistics(forward == reference.forward.end() ? std::vector<Nanoseconds>{} : forward->second));
    if (!layer.weight_grad) continue;
    const auto weight = reference.weight_grad.find(layer.name);
    CHECK(*layer.weight_grad ==
          sorted_statistics(weight == reference.weight_grad.end() ? std::vector<Nanoseconds>{} : weight->second));
  }
  CHECK(sum == measurement.kernel_time);
  std::map<std::string, std::int64_t> losses;
  for (const LossItem& loss : measurement.losses) losses[loss.what] = loss.count;
  CHECK(losses == reference.losses);
}

TEST_CASE("layers and rest are all accepted kernel time, and every sum is the reference's, for 600 random programs") {
  int attributions = 0;
  std::int64_t kernels = 0;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    CAPTURE(seed);
    const RandomProgram program = random_program(static_cast<std::uint64_t>(seed));
    const ReferenceAttribution reference = reference_attribution(program);
    try {
      const Attribution found = attributed(program);
      CHECK(difference(sums_of(found), sums_of(reference)) == "");
      check_profile(found.profile, reference);
      ++attributions;
      kernels += reference.accepted;
    } catch (const InputError& error) {
      const bool none_in_layers = std::none_of(reference.sums.begin(), reference.sums.end(), [](const auto& entry) {
        return !std::get<1>(entry.first).empty() && entry.second.total > 0;
      });
      CHECK(none_in_layers);
      CHECK(error.diagnostics()[0].code == "A004");
    }
  }
  CHECK(attributions > kSeeds * 9 / 10);
  CHECK(kernels > 20'000);
}

}  // namespace
}  // namespace debubble::test
