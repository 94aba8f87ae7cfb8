// Clocks of several ranks, laid over each other.
#include <chrono>
#include <thread>

#include "live/mpi/clock_alignment.hpp"
#include "tests/live/mpi/thread_world.hpp"
#include "tests/support/test.hpp"

namespace debubble::live {
namespace {

constexpr Nanoseconds kHour = 3600 * std::int64_t{1'000'000'000};

Nanoseconds steady() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

TEST_CASE("A reading is never wrong by more than it says") {
  testing::ThreadWorld world(3);
  std::vector<ClockReading> readings;
  world.run([&](MessagePassing& passing) {
    ControlChannel channel(passing);
    const auto now = [&passing] { return steady() - passing.rank() * kHour; };
    std::vector<ClockReading> read = read_clocks(passing, channel, now);
    if (passing.rank() == 0) readings = std::move(read);
  });
  REQUIRE(readings.size() == 3);
  for (int rank = 0; rank < 3; ++rank) {
    const ClockReading& reading = readings[static_cast<std::size_t>(rank)];
    CHECK(std::abs(reading.offset - rank * kHour) <= reading.error);
    CHECK((rank == 0) == (reading.error == 0));
  }
}

TEST_CASE("Between two readings the offset is interpolated") {
  // A clock that loses 1 us in each second.
  const ClockReading before{1'000'000'000, 500'000, 0};
  const ClockReading after{3'000'000'000, 502'000, 0};
  CHECK(aligned(1'000'000'000, before, after) == 1'000'500'000);
  CHECK(aligned(2'000'000'000, before, after) == 2'000'501'000);
  CHECK(aligned(3'000'000'000, before, after) == 3'000'502'000);
  CHECK(aligned(7, before, before) == 500'007);  // no time has passed
}

TEST_CASE("The residual is what the two worst clocks may be apart") {
  const std::vector<ClockReading> before{{0, 0, 0}, {0, 5, 100}, {0, 6, 30}, {0, 7, 10}};
  std::vector<ClockReading> after = before;
  after[3].error = 80;
  const ClockAlignment alignment = alignment_of(before, after);
  CHECK(alignment.method == "ping-pong");
  CHECK(alignment.residual == 180);
  CHECK(alignment.offsets == std::vector<Nanoseconds>{0, 5, 6, 7});
  // Told with the offsets of before, a time is also wrong by what clocks drifted since.
  CHECK(leaving_error(before, after) == 180);
  after[1].offset = -35;
  after[2].offset = 8;
  CHECK(leaving_error(before, after) == 180 + 40 + 2);
}

}  // namespace
}  // namespace debubble::live
