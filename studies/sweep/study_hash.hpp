// StudyHash: whether processes, or two runs of a command, mean the same study. FNV-1a, 64 bits:
// http://www.isthe.com/chongo/tech/comp/fnv/
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "scenario/request/flag.hpp"

namespace debubble {

class StudyHash {
 public:
  void add(std::string_view bytes) {
    for (const char byte : bytes) hash_ = (hash_ ^ static_cast<unsigned char>(byte)) * 0x100000001b3U;
  }
  // With its length, so that where one text ends and the next begins makes a difference.
  void add_text(std::string_view text) {
    add(std::to_string(text.size()));
    add(":");
    add(text);
  }
  [[nodiscard]] std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325U;
};

// The value of a flag; of one that takes files, what is in it, too: a file, or a folder's files in the order of their
// names. What is neither is no file, or one that is complained of elsewhere.
void add_value(const Flag& flag, const std::string& value, StudyHash& hash);

}  // namespace debubble
