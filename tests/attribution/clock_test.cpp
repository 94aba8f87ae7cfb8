// Whether a GPU kept its pace: its clock, as NVML samples it, and the steps' own times.
#include "tests/attribution/script.hpp"
#include "tests/support/test.hpp"

namespace debubble::test {
namespace {

TEST_CASE("work that slows down by more than 3 % was throttled") {
  for (const Nanoseconds last : {100'000, 103'000, 103'100, 96'000}) {
    Script script;
    for (int k = 0; k < 9; ++k) step(script, k < 6 ? 100'000 : last);
    const ClockState clock = script.attributed().profile.measurement->clock;
    CHECK(clock.drift_ppm == (last - 100'000) * 10);
    CHECK(clock.throttled == (last == 103'100));
  }
  Script few;
  for (int k = 0; k < 5; ++k) step(few, 100'000);
  CHECK_FALSE(few.attributed().profile.measurement->clock.drift_ppm);
}

TEST_CASE("a clock that is slowed in more than a tenth of the samples was throttled") {
  constexpr std::uint64_t kHeat = 0x40;
  constexpr std::uint64_t kChosen = 0x2;
  for (const int slowed : {2, 3}) {
    Script script;
    step(script, 100);
    for (int k = 0; k < 20; ++k) {
      script.attributor.on(ClockRecord{0, script.now, 1500 + k, k < slowed ? kHeat : kChosen});
    }
    script.attributor.on(ClockRecord{0, script.now, 210, 1});  // idle
    const Attribution found = script.attributed();
    CHECK(found.profile.measurement->clock == ClockState{1500, 1519, 20, slowed, {}, slowed == 3});
    CHECK(noted(found, "throttled: the clock was slowed down in 3 of 20 samples") == (slowed == 3));
  }
}

TEST_CASE("the power cap is no heat") {
  constexpr std::uint64_t kPowerCap = 0x4;
  Script script;
  step(script, 100);
  for (int k = 0; k < 20; ++k) script.attributor.on(ClockRecord{0, script.now, 1500, k < 18 ? kPowerCap : 0});
  const Attribution found = script.attributed();
  CHECK(found.profile.measurement->clock == ClockState{1500, 1500, 20, 0, {}, false, 18});
  CHECK(noted(found, "the GPU was at its power cap in 18 of 20 samples, as in any long run of matmuls"));
  CHECK_FALSE(noted_in_part(found, "throttled"));
}

}  // namespace
}  // namespace debubble::test
