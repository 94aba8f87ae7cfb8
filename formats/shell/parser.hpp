// Reads a shell script, or the string that `eval` and `bash -c` get, into its commands.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "formats/shell/syntax.hpp"

namespace debubble::shell {

// What is no syntax that is known here.
class SyntaxError : public std::runtime_error {
 public:
  SyntaxError(int line, const std::string& what) : std::runtime_error(what), line_(line) {}
  [[nodiscard]] int line() const { return line_; }

 private:
  int line_;
};

// Throws SyntaxError, also where brackets are nested more than a hundred deep.
[[nodiscard]] CommandPointer parse_script(std::string_view text, int first_line = 1);

// A word as it stands between double quotes: the text of a here-document, an arithmetic expression.
[[nodiscard]] Word parse_quoted(std::string_view text, int line);

}  // namespace debubble::shell
