// head, cut, sed, awk and their like, in the forms that scripts use.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace debubble::shell {

// Each: what the command prints for the input; nothing for a form that is not known here. `files` becomes those of its
// words that name what it reads.
using FilterWords = std::vector<std::string>;
using Filtered = std::optional<std::string>;
Filtered filter_head(const FilterWords& words, const std::string& input, FilterWords& files);
Filtered filter_tail(const FilterWords& words, const std::string& input, FilterWords& files);
Filtered filter_tr(const FilterWords& words, const std::string& input, FilterWords& files);
Filtered filter_cut(const FilterWords& words, const std::string& input, FilterWords& files);
Filtered filter_sed(const FilterWords& words, const std::string& input, FilterWords& files);
Filtered filter_sort(const FilterWords& words, const std::string& input, FilterWords& files);
Filtered filter_uniq(const FilterWords& words, const std::string& input, FilterWords& files);
Filtered filter_awk(const FilterWords& words, const std::string& input, FilterWords& files);
Filtered filter_paste(const FilterWords& words, const std::string& input, FilterWords& files);
Filtered filter_tac(const FilterWords& words, const std::string& input, FilterWords& files);
Filtered filter_rev(const FilterWords& words, const std::string& input, FilterWords& files);
Filtered filter_xargs(const FilterWords& words, const std::string& input, FilterWords& files);
Filtered filter_grep(const FilterWords& words, const std::string& input, FilterWords& files);

}  // namespace debubble::shell
