// Text that goes back into a shell or onto a terminal.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/text/printable.hpp"

namespace debubble {

// The argument as a POSIX shell reads it back: plain, or in single quotes; in $'...' where printing it would hide or
// change something (printable.hpp).
[[nodiscard]] std::string shell_quoted(std::string_view argument);

// The same of a file's name for a command that we suggest: one that begins with '-' would be taken for a flag.
[[nodiscard]] std::string shell_file(std::string_view path);

// A command in lines of at most `width` columns where that can be: cut between arguments only, each line but the last
// with the backslash by which a shell reads on.
[[nodiscard]] std::vector<std::string> command_lines(std::string_view command, std::size_t width);

// Flags as they are typed again: "--times f=1,b=2 -p 4". What is empty, absent or off adds nothing.
class FlagLine {
 public:
  void add(std::string_view name, std::string_view value) {
    const bool looks_like_flag = value.starts_with('-') && name.starts_with("--");
    if (!value.empty()) add_part(std::string(name) + (looks_like_flag ? "=" : " ") + shell_quoted(value));
  }
  template <typename Number>
  void add_number(std::string_view name, const std::optional<Number>& value) {
    if (value) add(name, std::to_string(*value));
  }
  void add_switch(std::string_view name, bool on) {
    if (on) add_part(name);
  }
  // Several flags that are quoted already.
  void add_part(std::string_view part);

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace debubble
