// JsonDialect: the words with which the JSON readers report what is wrong with one kind of file. The codes are the same
// for every kind (P001 to P022): the place names the file.
#pragma once

#include <cstddef>

namespace debubble {

// What a file may hold: its values of any kind, containers too, and the elements of one array or object. Integers of
// packed arrays (json_tree.hpp) are not counted. A value takes some 150 bytes, so a file is refused at 150 MB or less.
inline constexpr std::size_t kMostJsonValues = 1'000'000;
inline constexpr std::size_t kMostJsonItems = 200'000;

struct JsonDialect {
  const char* what;         // "profile": what the file is called in messages
  const char* description;  // "docs/profile.schema.json": what describes its keys
  std::size_t most_values = kMostJsonValues;
  std::size_t most_items = kMostJsonItems;
  bool equal_twice = false;  // other programs write a key twice with equal values, and read it
};

// Of `debubble.profile/1`.
[[nodiscard]] const JsonDialect& profile_dialect();

}  // namespace debubble
