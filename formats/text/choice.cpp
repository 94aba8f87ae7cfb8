#include "formats/text/choice.hpp"

#include <algorithm>
#include <vector>

#include "sim/core/error.hpp"
#include "sim/core/suggest.hpp"

namespace debubble {
namespace {

std::vector<std::string> split_names(std::string_view names) {
  std::vector<std::string> list;
  for (std::size_t begin = 0; begin <= names.size();) {
    const std::size_t end = std::min(names.find('|', begin), names.size());
    list.emplace_back(names.substr(begin, end - begin));
    begin = end + 1;
  }
  return list;
}

}  // namespace

std::size_t choice_of(const std::string& value, std::string_view names, const char* place) {
  const std::vector<std::string> list = split_names(names);
  const auto found = std::find(list.begin(), list.end(), value);
  if (found != list.end()) return static_cast<std::size_t>(found - list.begin());
  const std::string guess = closest_name(value, list);
  std::string all;
  for (const std::string& name : list) all += (all.empty() ? "" : ", ") + name;
  throw InputError(
      Diagnostic{"C002", place, "\"" + value + "\" is not one of: " + all,
                 guess.empty() ? std::string("write ") + place + " " + list.front() : "did you mean " + guess + "?"});
}

std::size_t choice_or_first(const std::string& value, std::string_view names, const char* place) {
  return value.empty() ? 0 : choice_of(value, names, place);
}

void require_one_of(const std::string& value, std::string_view names, const char* place) {
  static_cast<void>(choice_of(value, names, place));
}

}  // namespace debubble
