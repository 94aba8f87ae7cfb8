// Between and beyond measured sizes, one number along one dimension: against made-up truths and as properties.
#include <random>

#include "cost_models/sizes/between.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

constexpr SizeAxis kBoth[] = {SizeAxis::kMicrobatch, SizeAxis::kSequence};

// A layer on 108 multiprocessors: so many tiles per sample, 17 us a wave, 9 us beside them.
double waves_of(double samples) { return std::ceil(samples * 70 / 108); }
double staircase(double samples) { return 17'000 * waves_of(samples) + 9'000; }

MeasuredPoint stair(double samples) { return {samples, waves_of(samples), staircase(samples)}; }

TEST_CASE("sizes between: a staircase of waves is found again exactly") {
  const std::vector<MeasuredPoint> points{stair(1), stair(4), stair(12)};
  for (int whole = 1; whole <= 12; ++whole) {
    const double samples = whole;
    CAPTURE(samples);
    const double waves = waves_of(samples);
    CHECK(time_between(points, samples, waves, SizeAxis::kMicrobatch) == doctest::Approx(staircase(samples)));
  }
  CHECK(goes_by_waves(points, 5, waves_of(5)));
  CHECK_FALSE(goes_by_waves(points, 4, waves_of(4)));  // measured: no rule is needed
  // Read linearly in samples, the same two points miss the step.
  const double linear = staircase(4) + (staircase(12) - staircase(4)) * (5 - 4) / (12 - 4);
  CHECK(std::abs(linear - staircase(5)) > 3'000);
}

TEST_CASE("sizes between: beyond the largest size a wave takes as long as there") {
  const std::vector<MeasuredPoint> points{{2, 10, 120}, {4, 20, 220}};
  CHECK(time_between(points, 8, 40, SizeAxis::kMicrobatch) == doctest::Approx(440));
  CHECK(time_between(points, 5, 20, SizeAxis::kMicrobatch) == doctest::Approx(220));  // the same wave
  // Without waves it is a sample that does.
  const std::vector<MeasuredPoint> samples{{2, 0, 120}, {4, 0, 220}};
  CHECK(time_between(samples, 8, 0, SizeAxis::kMicrobatch) == doctest::Approx(440));
}

TEST_CASE("sizes between: below the smallest size there is a fixed part and a proportional one") {
  const std::vector<MeasuredPoint> points{{2, 10, 120}, {4, 20, 220}};  // 20 + 10 a wave
  CHECK(time_between(points, 1, 5, SizeAxis::kMicrobatch) == doctest::Approx(70));
  const std::vector<MeasuredPoint> samples{{2, 0, 120}, {4, 0, 220}};  // 20 + 50 a sample
  CHECK(time_between(samples, 1, 0, SizeAxis::kMicrobatch) == doctest::Approx(70));
  // Times that rise faster than the size leave no room for a fixed part, equal ones none for a proportional part.
  const std::vector<MeasuredPoint> steep{{2, 0, 100}, {4, 0, 400}};
  CHECK(time_between(steep, 1, 0, SizeAxis::kMicrobatch) == doctest::Approx(50));
  const std::vector<MeasuredPoint> flat{{2, 0, 100}, {4, 0, 100}};
  CHECK(time_between(flat, 1, 0, SizeAxis::kMicrobatch) == doctest::Approx(100));
}

TEST_CASE("sizes between: without waves the achieved rate is interpolated on logarithmic axes") {
  const std::vector<MeasuredPoint> points{{1, 0, 100}, {4, 0, 200}};  // t = 100 sqrt(n)
  CHECK(time_between(points, 2, 0, SizeAxis::kMicrobatch) == doctest::Approx(100 * std::sqrt(2.0)));
  CHECK_FALSE(goes_by_waves(points, 2, 0));
  CHECK_FALSE(goes_by_waves(points, 2, 3));  // the points' waves are not known
  // Both points in one wave: waves cannot tell them apart.
  const std::vector<MeasuredPoint> one_wave{{1, 7, 100}, {4, 7, 200}};
  CHECK_FALSE(goes_by_waves(one_wave, 2, 7));
  CHECK(time_between(one_wave, 2, 7, SizeAxis::kMicrobatch) == doctest::Approx(100 * std::sqrt(2.0)));
  // What took no time at one size has no rate.
  const std::vector<MeasuredPoint> from_nothing{{1, 0, 0}, {3, 0, 200}};
  CHECK(time_between(from_nothing, 2, 0, SizeAxis::kMicrobatch) == doctest::Approx(100));
}

TEST_CASE("sizes between: beyond the longest sequence attention grows with the square") {
  const auto truth = [](double s) { return 3.0 * s + 0.002 * s * s; };
  const std::vector<MeasuredPoint> points{{1024, 0, truth(1024)}, {2048, 0, truth(2048)}, {4096, 0, truth(4096)}};
  CHECK(time_between(points, 16'384, 0, SizeAxis::kSequence) == doctest::Approx(truth(16'384)));
  // A rate that still rises is held, never raised further.
  const std::vector<MeasuredPoint> rising{{1024, 0, 300}, {2048, 0, 400}};
  CHECK(time_between(rising, 4096, 0, SizeAxis::kSequence) == doctest::Approx(800));
}

// Rising sizes, waves and times; sometimes without waves.
std::vector<MeasuredPoint> random_points(std::mt19937& random) {
  std::uniform_real_distribution<double> step(0.1, 5);
  std::uniform_real_distribution<double> flat(0, 3);
  const bool waves = random() % 2 == 0;
  std::vector<MeasuredPoint> points;
  MeasuredPoint point{step(random), waves ? step(random) : 0, random() % 4 == 0 ? 0 : step(random)};
  for (std::size_t k = 0; k < 2 + random() % 4; ++k) {
    points.push_back(point);
    point.size += step(random);
    if (waves) point.waves += step(random);
    point.value += std::max(0.0, flat(random) - 1);
  }
  return points;
}

// Waves that go with a size: rising, and those of a point at that point.
double waves_at(const std::vector<MeasuredPoint>& points, double size) {
  if (points.front().waves <= 0) return 0;
  if (size <= points.front().size) return points.front().waves * size / points.front().size;
  for (std::size_t k = 1; k < points.size(); ++k) {
    const MeasuredPoint& low = points[k - 1];
    const MeasuredPoint& high = points[k];
    if (size > high.size) continue;
    return low.waves + (high.waves - low.waves) * (size - low.size) / (high.size - low.size);
  }
  return points.back().waves * size / points.back().size;
}

TEST_CASE("property: times between sizes are exact at measured ones, rise with the size, and do not jump") {
  std::mt19937 random(20'240'611);
  for (int run = 0; run < 2'000; ++run) {
    CAPTURE(run);
    const std::vector<MeasuredPoint> points = random_points(random);
    for (const SizeAxis axis : kBoth) {
      const auto time = [&](double size) { return time_between(points, size, waves_at(points, size), axis); };
      for (const MeasuredPoint& point : points) CHECK(time(point.size) == point.value);
      const double end = 2 * points.back().size;
      double before = 0;
      // NOLINTNEXTLINE(clang-analyzer-security.FloatLoopCounter): about 400 of them is enough
      for (double size = end / 400; size <= end; size += end / 400) {
        const double now = time(size);
        REQUIRE(now >= before - 1e-9);
        before = now;
      }
      for (const MeasuredPoint& point : points) {
        const double little = point.size * 1e-9;
        REQUIRE(std::abs(time(point.size + little) - point.value) < 1e-6);
        REQUIRE(std::abs(time(point.size - little) - point.value) < 1e-6);
      }
    }
  }
}

std::vector<MeasuredPoint> sizes_of(const std::vector<double>& at, double (*truth)(double)) {
  std::vector<MeasuredPoint> points;
  for (const double size : at) points.push_back({size, 0, truth(size)});
  return points;
}

TEST_CASE("sizes between: bytes are polynomials, exactly") {
  // b samples of 34 h s + 5 a s^2 bytes (Korthikanti et al.), h = 1024, a = 16; linear in the microbatch.
  const auto kept = [](double s) { return 34 * 1024 * s + 5 * 16 * s * s; };
  for (const double s : {512.0, 3072.0, 5000.0, 16'384.0}) {
    CAPTURE(s);
    const BytesBetween two = bytes_between(sizes_of({1024, 4096}, kept), s, SizeAxis::kSequence);
    CHECK(std::llround(two.value) == std::llround(kept(s)));
    CHECK(two.on_curve);
    const BytesBetween four = bytes_between(sizes_of({1024, 2048, 4096, 8192}, kept), s, SizeAxis::kSequence);
    CHECK(std::llround(four.value) == std::llround(kept(s)));
    CHECK(four.on_curve);
  }
  const auto with_rest = [](double n) { return 777 + 1e12 * n; };
  for (const double n : {1.0, 3.0, 5.0, 64.0}) {
    const BytesBetween found = bytes_between(sizes_of({2, 4, 8}, with_rest), n, SizeAxis::kMicrobatch);
    CHECK(std::llround(found.value) == std::llround(with_rest(n)));
    CHECK(found.on_curve);
  }
  // A constant beside a linear part: no parabola through the origin.
  const auto constant = [](double s) { return 1e6 + 100 * s; };
  CHECK(bytes_between(sizes_of({1024, 4096}, constant), 2048, SizeAxis::kSequence).value == doctest::Approx(1'204'800));
}

TEST_CASE("sizes between: bytes on no curve go straight from neighbour to neighbour, and say so") {
  const auto worst = [](double n) { return std::max(1'000.0, 400 * n); };
  const auto points = sizes_of({1, 2, 4, 8}, worst);
  const BytesBetween found = bytes_between(points, 3, SizeAxis::kMicrobatch);
  CHECK(found.value == doctest::Approx((1'000 + 1'600) / 2.0));
  CHECK_FALSE(found.on_curve);
  CHECK(bytes_between(points, 4, SizeAxis::kMicrobatch).on_curve);
  // Digits that a publication left out are no contradiction.
  const std::vector<MeasuredPoint> rounded{{1, 0, 8'016'000}, {2, 0, 16'031'000}, {4, 0, 32'062'000}};
  CHECK(bytes_between(rounded, 3, SizeAxis::kMicrobatch).on_curve);
  CHECK(bytes_between(rounded, 3, SizeAxis::kMicrobatch).value == doctest::Approx(24'046'500));
  // Never below nothing, whatever the first two sizes say.
  const std::vector<MeasuredPoint> steep{{2, 0, 10}, {3, 0, 1'000}};
  CHECK(bytes_between(steep, 1, SizeAxis::kMicrobatch).value == 0);
}

}  // namespace
}  // namespace debubble
