// What the JSON readers of published results, their calibration and measured runs share.
#pragma once

#include <string>
#include <vector>

#include "formats/json/json_reader.hpp"
#include "formats/problems/json_dialect.hpp"

namespace debubble {

// The words with which they complain.
[[nodiscard]] const JsonDialect& results_dialect();

// A list of texts, where it is there; what is not text is reported.
[[nodiscard]] std::vector<std::string> texts_member(JsonObjectReader& reader, const char* key);

}  // namespace debubble
