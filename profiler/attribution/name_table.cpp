#include "profiler/attribution/name_table.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <functional>
#include <memory>

namespace debubble::attribution {

NameTable::NameTable() : buckets_(1024) {
  hashes_.push_back(0);
  texts_.emplace_back("(names beyond the first " + std::to_string(kMostNames) + ")");
}

std::uint32_t NameTable::intern_slowly(std::string_view name) {
  const std::uint32_t id = find_or_add(name);
  cache_[cache_index(name)] = {name.data(), id};
  return id;
}

std::uint32_t NameTable::find_or_add(std::string_view name) {
  const std::size_t hash = std::hash<std::string_view>{}(name);
  const std::size_t mask = buckets_.size() - 1;
  std::size_t at = hash & mask;
  for (; buckets_[at] != 0; at = (at + 1) & mask) {
    const std::uint32_t id = buckets_[at] - 1;
    if (hashes_[id] == hash && texts_[id] == name) return id;
  }
  if (texts_.size() > kMostNames) return kOverflowName;
  const auto id = static_cast<std::uint32_t>(texts_.size());
  buckets_[at] = id + 1;
  hashes_.push_back(hash);
  texts_.emplace_back(name);
  if (texts_.size() * 2 > buckets_.size()) grow();
  return id;
}

void NameTable::grow() {
  buckets_.assign(buckets_.size() * 2, 0);
  const std::size_t mask = buckets_.size() - 1;
  for (std::uint32_t id = 1; id < texts_.size(); ++id) {
    std::size_t at = hashes_[id] & mask;
    while (buckets_[at] != 0) at = (at + 1) & mask;
    buckets_[at] = id + 1;
  }
}

std::string demangled(const std::string& name) {
  if (name.rfind("_Z", 0) != 0) return name;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 && text != nullptr ? std::string(text.get()) : name;
}

}  // namespace debubble::attribution
