// The caching allocator's rules, each worked out by hand.
#include "sim/analysis/allocator.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

constexpr Bytes kKibibyte = 1024;

CachingAllocator::Block take(CachingAllocator& allocator, Bytes bytes) {
  const auto block = allocator.allocate(bytes);
  REQUIRE(block.has_value());
  return block.value_or(-1);
}

TEST_CASE("blocks are whole multiples of 512 bytes") {
  CHECK(rounded_block(1) == 512);
  CHECK(rounded_block(512) == 512);
  CHECK(rounded_block(513) == 1024);
  CHECK(rounded_block(kMebibyte + 1) == kMebibyte + 512);
}

TEST_CASE("a segment is 2 MiB for small blocks, 20 MiB for middle ones, the block's own size for large ones") {
  CHECK(segment_for(512) == 2 * kMebibyte);
  CHECK(segment_for(kMebibyte) == 2 * kMebibyte);
  CHECK(segment_for(kMebibyte + 512) == 20 * kMebibyte);
  CHECK(segment_for(10 * kMebibyte - 512) == 20 * kMebibyte);
  CHECK(segment_for(10 * kMebibyte) == 10 * kMebibyte);
  CHECK(segment_for(10 * kMebibyte + 512) == 12 * kMebibyte);
}

TEST_CASE("small blocks share a segment, and the next one needs another") {
  CachingAllocator allocator;
  take(allocator, kMebibyte);
  take(allocator, kMebibyte - 512);
  take(allocator, 100);
  CHECK(allocator.segments() == 1);
  CHECK(allocator.allocated() == 2 * kMebibyte);
  CHECK(allocator.reserved() == 2 * kMebibyte);
  take(allocator, 1);
  CHECK(allocator.segments() == 2);
  CHECK(allocator.reserved() == 4 * kMebibyte);
}

TEST_CASE("a large segment's rest is split off only above 1 MiB") {
  CachingAllocator allocator;
  take(allocator, 11 * kMebibyte);  // in 12 MiB: the rest is 1 MiB and stays with the block
  CHECK(allocator.allocated() == 12 * kMebibyte);
  take(allocator, 10 * kMebibyte + 1);  // in 12 MiB: the rest is 2 MiB less 512 bytes and is split off
  CHECK(allocator.allocated() == 22 * kMebibyte + 512);
  CHECK(allocator.reserved() == 24 * kMebibyte);
  take(allocator, 1536 * kKibibyte);  // fits into that rest; what is left of it stays with the block
  CHECK(allocator.allocated() == 24 * kMebibyte);
  CHECK(allocator.segments() == 2);
}

TEST_CASE("the smallest free block that holds a request is taken") {
  CachingAllocator allocator;
  const auto large = take(allocator, 40 * kMebibyte);
  const auto middle = take(allocator, 30 * kMebibyte);
  take(allocator, 50 * kMebibyte);
  allocator.free(large);
  allocator.free(middle);
  take(allocator, 30 * kMebibyte);
  take(allocator, 40 * kMebibyte);
  CHECK(allocator.reserved() == 120 * kMebibyte);
}

TEST_CASE("free neighbours join, so that a whole segment serves again") {
  CachingAllocator allocator;
  const auto first = take(allocator, 6 * kMebibyte);
  const auto second = take(allocator, 6 * kMebibyte);
  const auto third = take(allocator, 6 * kMebibyte);
  CHECK(allocator.reserved() == 20 * kMebibyte);
  allocator.free(first);
  allocator.free(third);
  allocator.free(second);
  CHECK(allocator.allocated() == 0);
  take(allocator, 20 * kMebibyte);
  CHECK(allocator.reserved() == 20 * kMebibyte);
}

TEST_CASE("room that falls to pieces is reserved and of no use") {
  CachingAllocator allocator;
  const auto first = take(allocator, 6 * kMebibyte);
  take(allocator, 6 * kMebibyte);
  const auto third = take(allocator, 6 * kMebibyte);
  allocator.free(first);
  allocator.free(third);  // 6 MiB and, with the rest of the segment, 8 MiB are free
  take(allocator, 9 * kMebibyte);
  CHECK(allocator.allocated() == 15 * kMebibyte);
  CHECK(allocator.reserved() == 40 * kMebibyte);
}

TEST_CASE("small blocks never come from a large segment") {
  CachingAllocator allocator;
  allocator.free(take(allocator, 20 * kMebibyte));
  take(allocator, 512);
  CHECK(allocator.reserved() == 22 * kMebibyte);
}

TEST_CASE("before the device is full, free segments are given back") {
  CachingAllocator allocator(30 * kMebibyte);
  allocator.free(take(allocator, 20 * kMebibyte));
  CHECK(allocator.reserved() == 20 * kMebibyte);
  take(allocator, 24 * kMebibyte);
  CHECK(allocator.reserved() == 24 * kMebibyte);
  CHECK(allocator.peak_reserved() == 24 * kMebibyte);
  CHECK_FALSE(allocator.allocate(8 * kMebibyte).has_value());  // needs a segment of 20 MiB
  CHECK(allocator.allocate(1).has_value());
}

TEST_CASE("a segment that is partly in use is not given back") {
  CachingAllocator allocator(30 * kMebibyte);
  const auto first = take(allocator, 9 * kMebibyte);
  take(allocator, 9 * kMebibyte);
  allocator.free(first);
  CHECK_FALSE(allocator.allocate(12 * kMebibyte).has_value());
  CHECK(allocator.reserved() == 20 * kMebibyte);
}

TEST_CASE("an expandable segment grows at its end by pages of 20 MiB, and nothing is lost to whole segments") {
  CachingAllocator allocator(0, true);
  const auto first = take(allocator, 3 * kMebibyte);
  CHECK(allocator.reserved() == 20 * kMebibyte);
  const auto second = take(allocator, 3 * kMebibyte);
  take(allocator, 15 * kMebibyte);  // 14 MiB are left, so one page more
  CHECK(allocator.reserved() == 40 * kMebibyte);
  CHECK(allocator.allocated() == 21 * kMebibyte);
  CHECK(allocator.segments() == 1);
  allocator.free(first);
  allocator.free(second);
  take(allocator, 6 * kMebibyte);  // where both were
  CHECK(allocator.reserved() == 40 * kMebibyte);
  take(allocator, 100);  // the small pool's own
  CHECK(allocator.reserved() == 42 * kMebibyte);
  CHECK(allocator.segments() == 2);
}

TEST_CASE("blocks of an expandable segment join into any size") {
  CachingAllocator fixed;
  CachingAllocator expandable(0, true);
  for (CachingAllocator* allocator : {&fixed, &expandable}) {
    const auto first = take(*allocator, 40 * kMebibyte);
    const auto second = take(*allocator, 60 * kMebibyte);
    allocator->free(first);
    allocator->free(second);
    take(*allocator, 100 * kMebibyte);
  }
  CHECK(fixed.reserved() == 200 * kMebibyte);
  CHECK(expandable.reserved() == 100 * kMebibyte);
}

TEST_CASE("without room free pages are given back first") {
  CachingAllocator allocator(100 * kMebibyte, true);
  const auto first = take(allocator, 60 * kMebibyte);
  const auto second = take(allocator, 40 * kMebibyte);
  CHECK_FALSE(allocator.allocate(20 * kMebibyte).has_value());
  allocator.free(first);
  take(allocator, 50 * kMebibyte);
  allocator.free(second);
  take(allocator, 45 * kMebibyte);  // 10 MiB of the first hole stay mapped: half of a page is in use
  CHECK(allocator.reserved() <= 100 * kMebibyte);
}

}  // namespace
}  // namespace debubble
