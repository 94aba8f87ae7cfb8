// A model of PyTorch's caching allocator: what a device's memory must give for what a run allocates.
//
//     20 MiB segment   |AAAAAAA|.......|BBBB|..........|     reserved: all segments; allocated: the blocks in use
//
// Sizes are rounded to 512 bytes. Up to 1 MiB they are cut from segments of 2 MiB, below 10 MiB from segments of
// 20 MiB, larger ones get segments of their own size rounded to 2 MiB. A request takes the smallest free block of its
// pool that holds it, the lowest of these; the rest is split off where it is 512 bytes (small pool) or more than 1 MiB
// (large pool). Freed blocks join free neighbours and stay cached. Where the device has no room for a new segment, all
// segments that are free are given back first. Rules of c10/cuda/CUDACachingAllocator.cpp, PyTorch 2, default settings.
//
// With expandable segments each pool is one segment that grows at its end, by pages of 2 MiB (small pool) or 20 MiB
// (large pool), as far as its last block, if free, does not hold the request. What is left of a block is always split
// off. Where the device has no room for pages, those that are free are given back first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "sim/core/at.hpp"
#include "sim/core/units.hpp"

namespace debubble {

class CachingAllocator {
 public:
  using Block = std::int32_t;

  // `capacity`: what the device gives; 0: without end.
  explicit CachingAllocator(Bytes capacity = 0, bool expandable = false)
      : capacity_(capacity), expandable_(expandable) {}

  // Nothing where the device has no room for it. `bytes` > 0.
  [[nodiscard]] std::optional<Block> allocate(Bytes bytes);
  void free(Block block);

  [[nodiscard]] Bytes allocated() const { return allocated_; }  // blocks in use, rounded as they are
  [[nodiscard]] Bytes reserved() const { return reserved_; }
  [[nodiscard]] Bytes peak_allocated() const { return peak_allocated_; }
  [[nodiscard]] Bytes peak_reserved() const { return peak_reserved_; }
  [[nodiscard]] std::size_t segments() const { return segments_; }

 private:
  struct Free {
    Bytes address = 0;
    Block block = -1;
    friend bool operator<(const Free& a, const Free& b) { return a.address > b.address; }  // the lowest first
  };
  // Free blocks of one size. Most blocks of a run have few sizes, and are taken and freed by the hundred, mostly in the
  // order of their addresses. A block that joins another stays here until it comes up: `is_free` tells.
  struct FreeOfSize {
    std::vector<Free> rising;  // by address
    std::size_t next = 0;      // of these; those before it are gone
    std::vector<Free> heap;    // the others
    std::size_t blocks = 0;    // those that are free indeed

    void add(const Free& free);
    [[nodiscard]] Free take_lowest();
    [[nodiscard]] std::size_t listed() const { return rising.size() - next + heap.size(); }
    template <typename Gone>
    void drop(const Gone& gone);
  };
  struct Pooled {
    Bytes size = 0;
    std::unique_ptr<FreeOfSize> blocks;  // parts point to it
  };
  using FreePool = std::vector<Pooled>;  // by size, each once
  // Blocks of a segment form a list in address order.
  struct Part {
    Bytes size = 0;
    Bytes address = 0;  // segments never share addresses
    Block before = -1;
    Block after = -1;
    bool small = false;
    bool used = false;
    FreeOfSize* free = nullptr;  // where it is listed; null: nowhere
  };

  [[nodiscard]] FreePool& pool(bool small) { return small ? small_ : large_; }
  // The first of that size or larger.
  [[nodiscard]] static FreePool::iterator first_of(FreePool& pool, Bytes size);
  [[nodiscard]] bool is_free(const Free& free, const FreeOfSize& like) const {
    const Part& part = parts_[to_index(free.block)];
    return part.free == &like && part.address == free.address;
  }
  [[nodiscard]] std::optional<Block> take_free(Bytes size, bool small);
  [[nodiscard]] Part& at(Block block) { return parts_[to_index(block)]; }
  [[nodiscard]] Block new_part(const Part& part);
  [[nodiscard]] std::optional<Block> new_segment(Bytes size, bool small);
  // Of expandable segments: the pool's last block, as long as needed.
  [[nodiscard]] std::optional<Block> grown_tail(Bytes size, bool small);
  void release_free_pages();
  [[nodiscard]] Block& tail(bool small) { return small ? small_tail_ : large_tail_; }
  void split(Block block, Bytes size);
  void join(Block block, Block next);
  void remember(Block block);
  void forget(Block block);
  void release_free_segments();

  Bytes capacity_;
  bool expandable_;
  Block small_tail_ = -1;
  Block large_tail_ = -1;
  Bytes allocated_ = 0;
  Bytes reserved_ = 0;
  Bytes peak_allocated_ = 0;
  Bytes peak_reserved_ = 0;
  Bytes next_address_ = 0;
  std::size_t segments_ = 0;
  std::vector<Part> parts_;
  std::vector<Block> unused_;  // numbers to be given again
  FreePool small_;
  FreePool large_;
};

// Size of the block that a request gets, and of the segment that is made for one of that size.
[[nodiscard]] Bytes rounded_block(Bytes bytes);
[[nodiscard]] Bytes segment_for(Bytes block);

}  // namespace debubble
