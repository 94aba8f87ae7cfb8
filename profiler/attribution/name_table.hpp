// NameTable: names as small numbers, each text kept once.
//
// A name that was seen before costs a comparison: readers pass the same pointer for the same kernel, so a small cache
// by pointer comes before the hash table. What the pointer holds is compared all the same.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace debubble::attribution {

// Further names share the number kOverflowName: a program that makes up names cannot fill the memory.
inline constexpr std::size_t kMostNames = std::size_t{1} << 17;
inline constexpr std::uint32_t kOverflowName = 0;

class NameTable {
 public:
  NameTable();

  [[nodiscard]] std::uint32_t intern(std::string_view name) {
    const Cached& cached = cache_[cache_index(name)];
    if (cached.data == name.data() && texts_[cached.id] == name) return cached.id;
    return intern_slowly(name);
  }

  [[nodiscard]] const std::string& text(std::uint32_t id) const { return texts_[id]; }
  [[nodiscard]] std::size_t size() const { return texts_.size(); }

 private:
  struct Cached {
    const char* data = nullptr;
    std::uint32_t id = kOverflowName;
  };
  static constexpr std::size_t kCacheSize = 512;

  [[nodiscard]] static std::size_t cache_index(std::string_view name) {
    const auto address = reinterpret_cast<std::uintptr_t>(name.data());
    return ((address >> 4U) ^ (address >> 13U) ^ name.size()) % kCacheSize;
  }
  [[nodiscard]] std::uint32_t intern_slowly(std::string_view name);
  [[nodiscard]] std::uint32_t find_or_add(std::string_view name);
  void grow();

  std::array<Cached, kCacheSize> cache_;
  std::vector<std::uint32_t> buckets_;  // 1 + number; 0 is empty
  std::vector<std::size_t> hashes_;
  std::deque<std::string> texts_;
};

// The name as a person reads it: C++ symbols demangled, anything else unchanged.
[[nodiscard]] std::string demangled(const std::string& name);

}  // namespace debubble::attribution
