// Medians and intervals, and the verdicts made from them.
#include "studies/check/estimate.hpp"
#include "tests/support/test.hpp"

#include <random>

namespace debubble {
namespace {

using Values = std::vector<double>;

TEST_CASE("the median of an odd number is the middle value, of an even number the mean of two") {
  CHECK(median(Values{3}) == 3.0);
  CHECK(median(Values{5, 1, 3}) == 3.0);
  CHECK(median(Values{4, 1, 3, 2}) == 2.5);
  CHECK(median(Values{-1, 7}) == 3.0);
}

TEST_CASE("one repetition has no interval, few have all they span") {
  const ErrorEstimate one = estimate(Values{0.7});
  CHECK(one.low == 0.7);
  CHECK(one.high == 0.7);
  const ErrorEstimate four = estimate(Values{1, -2, 0.5, 3});
  CHECK(four.median == 0.75);
  CHECK(four.low == -2.0);
  CHECK(four.high == 3.0);
}

TEST_CASE("the interval holds the median and lies within the values") {
  std::mt19937_64 random(7);
  for (int round = 0; round < 50; ++round) {
    Values values;
    for (int k = 0; k < 5 + round % 20; ++k) values.push_back(static_cast<double>(random() % 1000));
    const ErrorEstimate error = estimate(values);
    CHECK(error.low <= error.median);
    CHECK(error.median <= error.high);
    CHECK(error.low >= *std::min_element(values.begin(), values.end()));
    CHECK(error.high <= *std::max_element(values.begin(), values.end()));
  }
}

TEST_CASE("the same errors give the same interval each time") {
  const Values values{1, 4, 2, 8, 5, 7, 3};
  const ErrorEstimate a = estimate(values);
  const ErrorEstimate b = estimate(values);
  CHECK(a.low == b.low);
  CHECK(a.high == b.high);
}

TEST_CASE("more repetitions narrow the interval") {
  std::mt19937_64 random(11);
  Values few;
  Values many;
  for (int k = 0; k < 400; ++k) {
    const double value = static_cast<double>(random() % 100000) / 100000;
    if (k < 10) few.push_back(value);
    many.push_back(value);
  }
  const ErrorEstimate wide = estimate(few);
  const ErrorEstimate narrow = estimate(many);
  CHECK(narrow.high - narrow.low < (wide.high - wide.low) / 2);
}

// The true median of the uniform errors is 0.5; it must be inside nearly always.
TEST_CASE("the interval of 20 values holds the true median in about 95 of 100 cases") {
  std::mt19937_64 random(13);
  int held = 0;
  for (int round = 0; round < 400; ++round) {
    Values values;
    for (int k = 0; k < 20; ++k) values.push_back(static_cast<double>(random() >> 11) / 9007199254740992.0);
    const ErrorEstimate error = estimate(values);
    if (error.low <= 0.5 && 0.5 <= error.high) ++held;
  }
  CHECK(held >= 365);  // 91 %
  CHECK(held <= 398);
}

// Errors of `groups` calibrations: each has an error of its own, which its repetitions share.
std::vector<Values> calibrated_errors(std::mt19937_64& random, int groups, double centre, double of_costs,
                                      double of_repetitions) {
  const auto normal = [&] {  // nearly: the sum of twelve uniform values
    double sum = -6;
    for (int k = 0; k < 12; ++k) sum += static_cast<double>(random() >> 11) / 9007199254740992.0;
    return sum;
  };
  std::vector<Values> errors;
  for (int g = 0; g < groups; ++g) {
    const double shared = centre + of_costs * normal();
    Values& group = errors.emplace_back();
    for (int k = 0; k < 2; ++k) group.push_back(shared + of_repetitions * normal());
  }
  return errors;
}

int failures(double centre, double of_costs, int groups) {
  std::mt19937_64 random(17);
  int found = 0;
  for (int round = 0; round < 300; ++round) {
    const std::vector<Values> errors = calibrated_errors(random, groups, centre, of_costs, 0.2);
    if (judge(estimate(errors), 1) == Verdict::kFail) ++found;
  }
  return found;
}

TEST_CASE("the error of calibrations is in the interval of several, and not in that of one") {
  // As large as the tolerance: about one in three calibrations alone is outside of it.
  CHECK(failures(0, 1, 1) > 40);
  CHECK(failures(0, 1, 6) <= 1);
  CHECK(failures(0, 0.5, 6) == 0);
  CHECK(failures(0.5, 0.5, 6) <= 1);
}

TEST_CASE("a regression beyond the calibrations' own error is found") {
  CHECK(failures(2, 0.3, 6) >= 295);
  CHECK(failures(2, 0.5, 6) >= 240);
  CHECK(failures(-2, 0.3, 6) >= 295);
}

TEST_CASE("the interval of six calibrations holds the true median in at least 95 of 100 cases") {
  std::mt19937_64 random(19);
  int held = 0;
  for (int round = 0; round < 400; ++round) {
    const ErrorEstimate error = estimate(calibrated_errors(random, 6, 0, 1, 0.2));
    if (error.low <= 0 && 0 <= error.high) ++held;
  }
  CHECK(held >= 380);
}

TEST_CASE("groups count alike, whatever their size, and one group is as without groups") {
  const std::vector<Values> groups{{1, 1, 1, 1, 1}, {3}, {2, 4}};
  const ErrorEstimate error = estimate(groups);
  CHECK(error.median == 3.0);
  CHECK(error.low <= 1.0);
  CHECK(error.high >= 3.0);
  const std::vector<Values> one{{1, 4, 2, 8, 5, 7, 3}};
  CHECK(estimate(one).low == estimate(one.front()).low);
  CHECK(estimate(one).high == estimate(one.front()).high);
  CHECK(estimate(one).median == 4.0);
}

TEST_CASE("a verdict fails only when the whole interval is outside, and warns when the median is") {
  CHECK(judge({0.5, 0.1, 0.9}, 1) == Verdict::kPass);
  CHECK(judge({0.5, -3, 4}, 1) == Verdict::kPass);
  CHECK(judge({1.5, 0.9, 2.1}, 1) == Verdict::kWarn);
  CHECK(judge({1.5, 1.1, 2.1}, 1) == Verdict::kFail);
  CHECK(judge({-1.5, -2.1, -0.9}, 1) == Verdict::kWarn);
  CHECK(judge({-1.5, -2.1, -1.1}, 1) == Verdict::kFail);
  CHECK(judge({1, 1, 1}, 1) == Verdict::kPass);
  CHECK(judge({0, 0, 0}, 0) == Verdict::kPass);
}

}  // namespace
}  // namespace debubble
