// JsonValue: a JSON document as a tree that keeps what a strict reader must see and what a map would lose.
//
// Numbers keep their text and whether they are whole; objects keep their members in file order; keys that occur twice
// and nesting beyond kDeepestNesting are reported. nlohmann/json parses; its types stay inside json_tree.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/problems/problem_list.hpp"

namespace debubble {

inline constexpr std::size_t kDeepestNesting = 32;

struct JsonValue {
  enum class Kind { kNull, kBoolean, kInteger, kHugeInteger, kFraction, kString, kArray, kObject };

  Kind kind = Kind::kNull;
  std::string key;                     // name of this member; empty outside of objects
  std::string text;                    // value of a string; a number as written
  std::int64_t integer = 0;            // value of kInteger; kHugeInteger does not fit
  std::vector<JsonValue> children;     // members or items, in file order
  std::vector<std::int64_t> integers;  // the items of a packed array, which has no children
};

// "a string", "the number 1.5", ...: what a value is, for messages.
[[nodiscard]] std::string describe(const JsonValue& value);
// Whether both are written alike: numbers as text, objects with their members in the same order. Keys aside.
[[nodiscard]] bool same_value(const JsonValue& one, const JsonValue& other);
// A whole number of 64 bits or a fraction; nothing for all others.
[[nodiscard]] std::optional<double> number_of(const JsonValue& value);

// How arrays of nothing but 64-bit integers are kept: as children like any other, or in `integers`, at 8 bytes each.
// Files with millions of times are read packed.
enum class IntegerArrays { kTree, kPacked };

// Parses the whole text. Without a value there is at least one problem: not JSON, not UTF-8, too deep, or more values
// than the dialect of `problems` takes (P017), which is noticed while it is read. A doubled key
// is a problem too, but the tree, which holds both members, is still returned; where the dialect takes equal ones twice
// (`equal_twice`), only those with different values are a problem.
[[nodiscard]] std::optional<JsonValue> parse_json(std::string_view text, ProblemList& problems,
                                                  IntegerArrays arrays = IntegerArrays::kTree);

}  // namespace debubble
