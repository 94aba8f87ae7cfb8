#include "formats/text/csv.hpp"

#include "formats/text/printable.hpp"

namespace debubble {

std::string csv_cell(std::string_view text, bool always) {
  std::string field = printable(text);
  if (!always && field.find_first_of(",\"") == std::string::npos) return field;
  std::string quoted = "\"";
  for (const char c : field) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace debubble
