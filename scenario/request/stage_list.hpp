// "0-2,5": stages (or what else counts from 0) by number, as a flag takes them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace debubble {

// Sorted, each once. Throws InputError C012 for what is neither a number nor a range of them.
[[nodiscard]] std::vector<int> parse_stage_list(std::string_view text, const std::string& place,
                                                const char* what = "stage");

// For each of so many stages whether it is named. Throws InputError C012 for a stage that there is not.
[[nodiscard]] std::vector<bool> named_stages(const std::vector<int>& named, int stages, const std::string& place);

}  // namespace debubble
