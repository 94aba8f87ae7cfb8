#include "sim/analysis/allocator.hpp"

#include <algorithm>

namespace debubble {
namespace {

constexpr Bytes kLeastBlock = 512;
constexpr Bytes kSmallBlock = kMebibyte;  // largest of the small pool
constexpr Bytes kSmallSegment = 2 * kMebibyte;
constexpr Bytes kMiddleBlock = 10 * kMebibyte;  // from this on a block has its own segment
constexpr Bytes kMiddleSegment = 20 * kMebibyte;
constexpr Bytes kSegmentRounding = 2 * kMebibyte;

constexpr Bytes round_up(Bytes bytes, Bytes unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

Bytes rounded_block(Bytes bytes) { return std::max(kLeastBlock, round_up(bytes, kLeastBlock)); }

Bytes segment_for(Bytes block) {
  if (block <= kSmallBlock) return kSmallSegment;
  return block < kMiddleBlock ? kMiddleSegment : round_up(block, kSegmentRounding);
}

std::optional<CachingAllocator::Block> CachingAllocator::allocate(Bytes bytes) {
  const Bytes size = rounded_block(bytes);
  const bool small = size <= kSmallBlock;
  std::optional<Block> block;
  const auto fit = pool(small).lower_bound(Free{size, 0, -1});
  if (fit != pool(small).end()) {
    block = fit->block;
    forget(*block);
  } else {
    block = new_segment(segment_for(size), small);
    if (!block) return std::nullopt;
  }
  const Bytes rest = at(*block).size - size;
  if (small ? rest >= kLeastBlock : rest > kSmallBlock) split(*block, size);
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

void CachingAllocator::split(Block block, Bytes size) {
  const Part whole = at(block);
  const Block rest = new_part({whole.size - size, whole.address + size, block, whole.after, whole.small, false});
  at(block).size = size;
  at(block).after = rest;
  if (whole.after >= 0) at(whole.after).before = rest;
  remember(rest);
}

void CachingAllocator::join(Block block, Block next) {
  at(block).size += at(next).size;
  at(block).after = at(next).after;
  if (at(next).after >= 0) at(at(next).after).before = block;
  unused_.push_back(next);
}

void CachingAllocator::remember(Block block) {
  pool(at(block).small).insert({at(block).size, at(block).address, block});
}

void CachingAllocator::forget(Block block) { pool(at(block).small).erase({at(block).size, at(block).address, block}); }

void CachingAllocator::release_free_segments() {
  for (std::set<Free>* free : {&small_, &large_}) {
    for (auto it = free->begin(); it != free->end();) {
      const Part& part = at(it->block);
      if (part.before >= 0 || part.after >= 0) {
        ++it;
        continue;
      }
      reserved_ -= part.size;
      --segments_;
      unused_.push_back(it->block);
      it = free->erase(it);
    }
  }
}

}  // namespace debubble
