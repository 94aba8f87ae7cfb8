// Notes of a comparison's rows, as footnotes: a letter in the row, the sentence once below the table.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tools/views/compare_rows.hpp"

namespace debubble {

using CompareNotes = std::vector<std::pair<std::string, std::string>>;  // letter, sentence

// Gives each row its letters. In brief each note is its first clause, and what other columns say is left out.
[[nodiscard]] CompareNotes lettered_notes(std::vector<CompareRow>& rows, bool in_brief);

}  // namespace debubble
