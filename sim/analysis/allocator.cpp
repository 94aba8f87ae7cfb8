#include "sim/analysis/allocator.hpp"

#include <algorithm>
#include <iterator>

namespace debubble {
namespace {

constexpr Bytes kLeastBlock = 512;
constexpr Bytes kSmallBlock = kMebibyte;  // largest of the small pool
constexpr Bytes kSmallSegment = 2 * kMebibyte;
constexpr Bytes kMiddleBlock = 10 * kMebibyte;  // from this on a block has its own segment
constexpr Bytes kMiddleSegment = 20 * kMebibyte;
constexpr Bytes kSegmentRounding = 2 * kMebibyte;

// Where the large pool's expandable segment begins: the small one's never gets so far.
constexpr Bytes kLargeBegin = kMiddleSegment << 26;

constexpr Bytes page_of(bool small) { return small ? kSmallSegment : kMiddleSegment; }

constexpr Bytes round_up(Bytes bytes, Bytes unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

Bytes rounded_block(Bytes bytes) { return std::max(kLeastBlock, round_up(bytes, kLeastBlock)); }

Bytes segment_for(Bytes block) {
  if (block <= kSmallBlock) return kSmallSegment;
  return block < kMiddleBlock ? kMiddleSegment : round_up(block, kSegmentRounding);
}

void CachingAllocator::FreeOfSize::add(const Free& free) {
  if (next == rising.size()) {
    rising.clear();
    next = 0;
  }
  if (rising.empty() || rising.back().address < free.address) {
    rising.push_back(free);
    return;
  }
  heap.push_back(free);
  std::push_heap(heap.begin(), heap.end());
}

CachingAllocator::Free CachingAllocator::FreeOfSize::take_lowest() {
  const bool rises = next < rising.size();
  if (rises && (heap.empty() || rising[next].address < heap.front().address)) return rising[next++];
  std::pop_heap(heap.begin(), heap.end());
  const Free lowest = heap.back();
  heap.pop_back();
  return lowest;
}

template <typename Gone>
void CachingAllocator::FreeOfSize::drop(const Gone& gone) {
  rising.erase(rising.begin(), rising.begin() + static_cast<std::ptrdiff_t>(next));
  next = 0;
  std::erase_if(rising, gone);
  std::erase_if(heap, gone);
  std::make_heap(heap.begin(), heap.end());
}

std::optional<CachingAllocator::Block> CachingAllocator::allocate(Bytes bytes) {
  const Bytes size = rounded_block(bytes);
  const bool small = size <= kSmallBlock;
  std::optional<Block> block = take_free(size, small);
  if (!block) block = expandable_ ? grown_tail(size, small) : new_segment(segment_for(size), small);
  if (!block) return std::nullopt;
  const Bytes rest = at(*block).size - size;
  if (small || expandable_ ? rest >= kLeastBlock : rest > kSmallBlock) split(*block, size);
  at(*block).used = true;
  allocated_ += at(*block).size;
  peak_allocated_ = std::max(peak_allocated_, allocated_);
  return block;
}

void CachingAllocator::free(Block block) {
  at(block).used = false;
  allocated_ -= at(block).size;
  const Block after = at(block).after;
  if (after >= 0 && !at(after).used) {
    forget(after);
    join(block, after);
  }
  const Block before = at(block).before;
  if (before >= 0 && !at(before).used) {
    forget(before);
    join(before, block);
    block = before;
  }
  remember(block);
}

CachingAllocator::Block CachingAllocator::new_part(const Part& part) {
  if (unused_.empty()) {
    parts_.push_back(part);
    return static_cast<Block>(parts_.size() - 1);
  }
  const Block block = unused_.back();
  unused_.pop_back();
  at(block) = part;
  return block;
}

std::optional<CachingAllocator::Block> CachingAllocator::new_segment(Bytes size, bool small) {
  if (capacity_ > 0 && reserved_ + size > capacity_) release_free_segments();
  if (capacity_ > 0 && reserved_ + size > capacity_) return std::nullopt;
  const Block block = new_part({size, next_address_, -1, -1, small, false});
  next_address_ += size;
  reserved_ += size;
  peak_reserved_ = std::max(peak_reserved_, reserved_);
  ++segments_;
  return block;
}

std::optional<CachingAllocator::Block> CachingAllocator::grown_tail(Bytes size, bool small) {
  const auto missing = [&] {
    const Block last = tail(small);
    return round_up(size - (last >= 0 && at(last).free != nullptr ? at(last).size : 0), page_of(small));
  };
  if (capacity_ > 0 && reserved_ + missing() > capacity_) release_free_pages();
  const Bytes more = missing();
  if (capacity_ > 0 && reserved_ + more > capacity_) return std::nullopt;
  reserved_ += more;
  peak_reserved_ = std::max(peak_reserved_, reserved_);
  const Block last = tail(small);
  if (last >= 0 && at(last).free != nullptr) {
    forget(last);
    at(last).size += more;
    return last;
  }
  if (last < 0) ++segments_;
  const Bytes begin = small ? 0 : kLargeBegin;
  const Block block = new_part({more, last < 0 ? begin : at(last).address + at(last).size, last, -1, small, false});
  if (last >= 0) at(last).after = block;
  tail(small) = block;
  return block;
}

// A block that has lost pages is never used again: new ones come at the end.
void CachingAllocator::release_free_pages() {
  for (const bool small : {true, false}) {
    const Bytes page = page_of(small);
    for (const Pooled& one : pool(small)) {
      FreeOfSize& like = *one.blocks;
      const auto release = [&](const Free& free) {
        Part& part = at(free.block);
        if (!is_free(free, like)) return;
        const Bytes pages = (part.address + part.size) / page - (part.address + page - 1) / page;
        if (pages <= 0) return;
        reserved_ -= pages * page;
        --like.blocks;
        part.free = nullptr;
        part.used = true;
      };
      std::for_each(like.rising.begin() + static_cast<std::ptrdiff_t>(like.next), like.rising.end(), release);
      std::for_each(like.heap.begin(), like.heap.end(), release);
    }
  }
}

void CachingAllocator::split(Block block, Bytes size) {
  const Part whole = at(block);
  const Block rest = new_part({whole.size - size, whole.address + size, block, whole.after, whole.small, false});
  at(block).size = size;
  at(block).after = rest;
  if (whole.after >= 0) at(whole.after).before = rest;
  if (tail(whole.small) == block) tail(whole.small) = rest;
  remember(rest);
}

void CachingAllocator::join(Block block, Block next) {
  at(block).size += at(next).size;
  at(block).after = at(next).after;
  if (at(next).after >= 0) at(at(next).after).before = block;
  if (tail(at(next).small) == next) tail(at(next).small) = block;
  unused_.push_back(next);
}

CachingAllocator::FreePool::iterator CachingAllocator::first_of(FreePool& pool, Bytes size) {
  return std::lower_bound(pool.begin(), pool.end(), size,
                          [](const Pooled& one, Bytes wanted) { return one.size < wanted; });
}

// The smallest that holds it, the lowest of these. Sizes of which no block is left stay, for most come back, until they
// are many.
std::optional<CachingAllocator::Block> CachingAllocator::take_free(Bytes size, bool small) {
  constexpr std::size_t kManySizes = 32;
  FreePool& free_blocks = pool(small);
  for (auto it = first_of(free_blocks, size); it != free_blocks.end();) {
    FreeOfSize& like = *it->blocks;
    while (like.blocks > 0) {
      const Free lowest = like.take_lowest();
      if (!is_free(lowest, like)) continue;
      at(lowest.block).free = nullptr;
      --like.blocks;
      return lowest.block;
    }
    like.rising.clear();
    like.next = 0;
    like.heap.clear();
    it = free_blocks.size() > kManySizes ? free_blocks.erase(it) : std::next(it);
  }
  return std::nullopt;
}

void CachingAllocator::remember(Block block) {
  Part& part = at(block);
  FreePool& free_blocks = pool(part.small);
  auto place = first_of(free_blocks, part.size);
  if (place == free_blocks.end() || place->size != part.size) {
    place = free_blocks.insert(place, {part.size, std::make_unique<FreeOfSize>()});
  }
  FreeOfSize& like = *place->blocks;
  // Mostly blocks that have joined others, or gaps that these have left.
  if (like.listed() > 2 * like.blocks + 64 || like.next > like.blocks + 64) {
    like.drop([&](const Free& free) { return !is_free(free, like); });
  }
  part.free = &like;
  ++like.blocks;
  like.add({part.address, block});
}

void CachingAllocator::forget(Block block) {
  Part& part = at(block);
  --part.free->blocks;
  part.free = nullptr;
}

void CachingAllocator::release_free_segments() {
  for (FreePool* free_blocks : {&small_, &large_}) {
    for (const Pooled& one : *free_blocks) {
      FreeOfSize& like = *one.blocks;
      const auto release = [&](const Free& free) {
        Part& part = at(free.block);
        if (!is_free(free, like) || part.before >= 0 || part.after >= 0) return;
        reserved_ -= part.size;
        --segments_;
        --like.blocks;
        part.free = nullptr;
        unused_.push_back(free.block);
      };
      std::for_each(like.rising.begin() + static_cast<std::ptrdiff_t>(like.next), like.rising.end(), release);
      std::for_each(like.heap.begin(), like.heap.end(), release);
    }
  }
}

}  // namespace debubble
