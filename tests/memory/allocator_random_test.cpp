// The caching allocator against a plain one: lists of blocks in address order, searched from end to end.
#include <iterator>
#include <list>
#include <random>

#include "sim/analysis/allocator.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

class PlainAllocator {
 public:
  struct Block {
    Bytes size = 0;
    bool used = false;
  };
  using Segment = std::list<Block>;
  using Place = std::pair<std::list<Segment>::iterator, Segment::iterator>;

  explicit PlainAllocator(Bytes capacity) : capacity_(capacity) {}

  bool allocate(Bytes bytes, Place& place) {
    const Bytes size = (bytes + 511) / 512 * 512;
    const bool small = size <= kMebibyte;
    auto& pool = small ? small_ : large_;
    bool found = false;
    for (auto segment = pool.begin(); segment != pool.end(); ++segment) {
      for (auto block = segment->begin(); block != segment->end(); ++block) {
        if (block->used || block->size < size) continue;
        if (found && place.second->size <= block->size) continue;
        place = {segment, block};
        found = true;
      }
    }
    if (!found) {
      Bytes whole = 2 * kMebibyte;
      if (!small)
        whole = size < 10 * kMebibyte ? 20 * kMebibyte : (size + 2 * kMebibyte - 1) / (2 * kMebibyte) * (2 * kMebibyte);
      if (reserved() + whole > capacity_) {
        for (auto* list : {&small_, &large_}) {
          list->remove_if([](const Segment& s) { return s.size() == 1 && !s.front().used; });
        }
      }
      if (reserved() + whole > capacity_) return false;
      pool.push_back({{whole, false}});
      place = {std::prev(pool.end()), std::prev(pool.end())->begin()};
    }
    const Bytes rest = place.second->size - size;
    if (small ? rest >= 512 : rest > kMebibyte) {
      place.second->size = size;
      place.first->insert(std::next(place.second), Block{rest, false});
    }
    place.second->used = true;
    return true;
  }

  static void free(Place place) {
    place.second->used = false;
    Segment& segment = *place.first;
    for (auto block = segment.begin(); block != segment.end();) {
      const auto next = std::next(block);
      if (next != segment.end() && !block->used && !next->used) {
        block->size += next->size;
        segment.erase(next);
      } else {
        ++block;
      }
    }
  }

  [[nodiscard]] Bytes sum(bool only_used) const {
    Bytes all = 0;
    for (const auto* list : {&small_, &large_}) {
      for (const Segment& segment : *list) {
        for (const Block& block : segment) all += block.used || !only_used ? block.size : 0;
      }
    }
    return all;
  }
  [[nodiscard]] Bytes reserved() const { return sum(false); }

 private:
  Bytes capacity_;
  std::list<Segment> small_;
  std::list<Segment> large_;
};

Bytes random_size(std::mt19937& dice) {
  const std::vector<Bytes> most{600, 64 * 1024, 3 * kMebibyte, 12 * kMebibyte, 60 * kMebibyte};
  const Bytes limit = most[dice() % most.size()];
  return 1 + static_cast<Bytes>(dice()) % limit;
}

// "" where both agree after every step.
std::string disagreement(unsigned seed, Bytes capacity) {
  std::mt19937 dice(seed);
  CachingAllocator allocator(capacity);
  PlainAllocator plain(capacity);
  std::vector<std::pair<CachingAllocator::Block, PlainAllocator::Place>> held;
  for (int step = 0; step < 400; ++step) {
    const std::string where = "seed " + std::to_string(seed) + ", step " + std::to_string(step);
    if (dice() % 5 < 3 || held.empty()) {
      const Bytes size = random_size(dice);
      PlainAllocator::Place place;
      const bool expected = plain.allocate(size, place);
      const auto block = allocator.allocate(size);
      if (block.has_value() != expected) return where + ": one of them has room";
      if (block) held.emplace_back(*block, place);
    } else {
      const std::size_t k = dice() % held.size();
      allocator.free(held[k].first);
      PlainAllocator::free(held[k].second);
      held.erase(held.begin() + static_cast<std::ptrdiff_t>(k));
    }
    if (allocator.allocated() != plain.sum(true)) return where + ": allocated";
    if (allocator.reserved() != plain.reserved()) return where + ": reserved";
  }
  return "";
}

TEST_CASE("random requests: as much allocated and reserved as by a plain search") {
  for (unsigned seed = 0; seed < 150; ++seed) {
    CHECK(disagreement(seed, seed % 3 == 0 ? 200 * kMebibyte : Bytes{1} << 50) == "");
  }
}

}  // namespace
}  // namespace debubble
