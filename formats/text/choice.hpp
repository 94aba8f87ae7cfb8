// One word out of a few.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace debubble {

// `names` is "text|json|csv". Throws InputError C002 for a value that is not one of them, with the list or a
// suggestion.
void require_one_of(const std::string& value, std::string_view names, std::string_view place);
// The same, with the index of the name that it is.
[[nodiscard]] std::size_t choice_of(const std::string& value, std::string_view names, std::string_view place);

// {"text", "json", "csv"}.
[[nodiscard]] std::vector<std::string> split_names(std::string_view names);

}  // namespace debubble
