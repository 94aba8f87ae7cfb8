// Memory does not grow with the number of records. Every allocation of this program is counted.
#include <malloc.h>

#include <atomic>
#include <new>

#include "profiler/attribution/attribution.hpp"
#include "tests/support/test.hpp"

namespace {
std::atomic<std::int64_t> live_bytes{0};
}  // namespace

void* operator new(std::size_t size) {
  void* memory = std::malloc(size == 0 ? 1 : size);  // NOLINT(*-no-malloc)
  if (memory == nullptr) throw std::bad_alloc();
  live_bytes += static_cast<std::int64_t>(malloc_usable_size(memory));
  return memory;
}
void operator delete(void* memory) noexcept {
  live_bytes -= static_cast<std::int64_t>(malloc_usable_size(memory));
  std::free(memory);  // NOLINT(*-no-malloc)
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }

namespace debubble::test {
namespace {

// More than any window holds.
constexpr std::uint32_t kRecords = (1U << 20U) + 50'000;

// Twice as many records leave as many bytes behind.
void check_bounded(const std::function<void(Attributor&, std::uint32_t)>& feed, std::uint32_t records = kRecords) {
  Attributor attributor({});
  const std::int64_t before = live_bytes;
  attributor.on(RangePush{1, 1, 1, "debubble.layer:a", -1, 0, {}});
  for (std::uint32_t k = 2; k < records; ++k) feed(attributor, k);
  const std::int64_t first = live_bytes - before;
  for (std::uint32_t k = records; k < 2 * records; ++k) feed(attributor, k);
  const std::int64_t second = live_bytes - before;
  CHECK(first > 0);
  CHECK(first < 256 * kMebibyte);
  CHECK(second == first);
}

KernelRecord kernel(std::uint32_t correlation) {
  KernelRecord record;
  record.correlation = correlation;
  record.begin = correlation;
  record.end = record.begin + 5;
  record.name = "kernel";
  return record;
}

TEST_CASE("complete calls leave nothing behind") {
  check_bounded([](Attributor& attributor, std::uint32_t k) {
    attributor.on(LinkRecord{k, 1});
    attributor.on(LaunchRecord{k, 1, k, k});
    attributor.on(kernel(k));
  });
}

TEST_CASE("kernels that never find their link wait in a bounded window") {
  check_bounded([](Attributor& attributor, std::uint32_t k) { attributor.on(kernel(k)); });
}

TEST_CASE("links and launches whose kernels never come are forgotten") {
  check_bounded([](Attributor& attributor, std::uint32_t k) {
    attributor.on(LinkRecord{k, 1});
    attributor.on(LaunchRecord{k + kRecords, 1, k, k});
  });
}

TEST_CASE("kernels of one correlation without a link are bounded") {
  check_bounded([](Attributor& attributor, std::uint32_t) { attributor.on(kernel(7)); });
}

TEST_CASE("ranges, sequence numbers, launches by time and unbalanced pops are bounded") {
  check_bounded([](Attributor& attributor, std::uint32_t k) {
    attributor.on(RangePush{k, 2, k, "aten::mul", k, 0, {}});
    attributor.on(LaunchRecord{k, 2, k, k});
    attributor.on(RangePop{2, k});
    attributor.on(RangePop{3 + k % 100'000, k});
  });
}

TEST_CASE("ranges that are never popped are bounded") {
  check_bounded([](Attributor& attributor, std::uint32_t k) {
    attributor.on(RangePush{k, 2, k, "left open", -1, 0, {}});
  });
}

TEST_CASE("numbers far apart on many threads take little memory") {
  Attributor attributor({});
  const std::int64_t before = live_bytes;
  std::uint64_t range = 0;
  for (std::uint32_t thread = 1; thread <= 200; ++thread) {
    for (const std::int64_t sequence : {0, 1 << 16}) {
      attributor.on(RangePush{++range, thread, 1, "op", sequence, 0, {}});
      attributor.on(RangePop{thread, 2});
    }
  }
  CHECK(live_bytes - before < 256 * kMebibyte);
}

TEST_CASE("facts, losses, switches and loading that never end are bounded") {
  constexpr std::uint32_t kMoreThanMarks = 100'000;
  check_bounded(
      [](Attributor& attributor, std::uint32_t k) {
        const std::string made_up = "x" + std::to_string(k);
        attributor.on(FactRecord{"device.0.name", made_up});
        attributor.on(FactRecord{made_up, "1"});
        attributor.on(LossRecord{made_up, 1});
        attributor.on(SwitchRecord{k, k % 2 == 0});
        attributor.on(OverheadRecord{OverheadKind::kCompiler, 1, k, k});
        attributor.on(ClockRecord{0, k, 1000, 0});
      },
      kMoreThanMarks);
}

TEST_CASE("made-up names of kernels and ranges are bounded") {
  constexpr std::uint32_t kMoreThanNames = 140'000;
  check_bounded(
      [](Attributor& attributor, std::uint32_t k) {
        const std::string made_up = "x" + std::to_string(k);
        attributor.on(RangePush{k % 1000 + 2, 2, k, made_up, -1, 0, {}});
        attributor.on(RangePop{2, k});
        attributor.on(LinkRecord{k % 1000, 1});
        attributor.on(LaunchRecord{k % 1000, 1, k, k});
        KernelRecord record = kernel(k % 1000);
        record.begin += k;
        record.end += k;
        record.name = made_up;
        attributor.on(record);
      },
      kMoreThanNames);
}

}  // namespace
}  // namespace debubble::test
