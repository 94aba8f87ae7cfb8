// One word out of a few.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace debubble {

// `names` is "text|json|csv". Throws InputError C002 for a value that is not one of them, with the list or a
// suggestion.
void require_one_of(const std::string& value, std::string_view names, const char* place);
// The same, with the index of the name that it is.
[[nodiscard]] std::size_t choice_of(const std::string& value, std::string_view names, const char* place);
// The same for a flag that may be left out: an empty value is the first name.
[[nodiscard]] std::size_t choice_or_first(const std::string& value, std::string_view names, const char* place);

}  // namespace debubble
