// Lists of KEY=VALUE as people type them: "step=5%,memory=2%".
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace debubble {

// How one flag's list is worded where something is wrong with it; {} stands for the item or its key.
struct KeyedForm {
  std::string place;                                // "--tolerance"
  std::string example;                              // help of what has not the form
  std::string unkeyed = "\"{}\" is not KEY=VALUE";  // C006
  std::string twice = "\"{}\" is given twice";      // C007
  std::string once = "give each once";              // its help
  std::vector<std::string> keys = {};               // none: every key is taken
  std::string unknown = {};                         // C017: "a step has no \"{}\""
  // Its help where no key is close, the keys added after "its parts: "; empty: the example, and nothing is proposed.
  std::string known = {};
  bool values_needed = false;
  bool bare_first = false;  // the first item may have no key: it is handed on with an empty one
};

using KeyedTake = const std::function<void(const std::string& key, const std::string& value)>&;

// Hands on key and value of every item in order, without blanks around them. Then throws InputError with all that was
// wrong, what `take` threw, too.
void read_keyed_list(const std::vector<std::string>& items, const KeyedForm& form, KeyedTake take);
void read_keyed_list(std::string_view text, const KeyedForm& form, KeyedTake take);

}  // namespace debubble
