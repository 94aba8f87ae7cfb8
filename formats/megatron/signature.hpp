// The arguments of a command that change time or memory.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace debubble {

// The arguments of a command that matter, by name, and what of them is not known.
struct Signature {
  std::map<std::string, std::vector<std::string>> values;
  std::set<int> unknown;  // of values that matter
  std::set<int> open;     // of words that may be arguments of any kind
};

[[nodiscard]] Signature signature_of(const std::vector<std::string>& words);

// Today's name of an option: "num-layers" of "--num-layers=4"; "" where the word is none.
[[nodiscard]] std::string option_name(const std::string& word);

}  // namespace debubble
