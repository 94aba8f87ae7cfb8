#include "formats/text/choice.hpp"

#include <algorithm>

#include "sim/core/error.hpp"
#include "sim/core/suggest.hpp"
#include "sim/core/words.hpp"

namespace debubble {

std::vector<std::string> split_names(std::string_view names) {
  std::vector<std::string> list;
  for (std::size_t begin = 0; begin <= names.size();) {
    const std::size_t end = std::min(names.find('|', begin), names.size());
    list.emplace_back(names.substr(begin, end - begin));
    begin = end + 1;
  }
  return list;
}

namespace {

// "fp16" of "float16", "bf16" of "bfloat16": the same digits at the end and the same first letter.
std::string same_digits(std::string_view value, const std::vector<std::string>& list) {
  const auto digits = [](std::string_view text) { return text.substr(text.find_last_not_of("0123456789") + 1); };
  if (value.empty() || digits(value).empty()) return "";
  for (const std::string& name : list) {
    if (digits(name) == digits(value) && !name.empty() && lower_case(name.front()) == lower_case(value.front()))
      return name;
  }
  return "";
}

}  // namespace

std::size_t choice_of(const std::string& value, std::string_view names, std::string_view place) {
  const std::vector<std::string> list = split_names(names);
  const auto found = std::find(list.begin(), list.end(), value);
  if (found != list.end()) return static_cast<std::size_t>(found - list.begin());
  std::string guess = closest_name(value, list);
  if (guess.empty()) guess = same_digits(value, list);
  std::string all;
  for (const std::string& name : list) all += (all.empty() ? "" : ", ") + name;
  const std::string where(place);
  const char* const joint = place.starts_with("--") && place.find(' ') != std::string_view::npos ? "=" : " ";
  throw InputError(Diagnostic{"C002", where, "\"" + value + "\" is not one of: " + all,
                              guess.empty() ? "write " + where + joint + list.front() : "did you mean " + guess + "?"});
}

void require_one_of(const std::string& value, std::string_view names, std::string_view place) {
  static_cast<void>(choice_of(value, names, place));
}

}  // namespace debubble
