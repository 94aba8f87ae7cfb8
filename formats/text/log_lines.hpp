// The lines of a log as the program printed them: without colours, and out of the JSON into which container engines
// wrap each ({"log":"...\n","stream":"stdout",...}).
#pragma once

#include <string>
#include <string_view>

namespace debubble {

class LogLines {
 public:
  explicit LogLines(std::string_view text) : text_(text) {}

  [[nodiscard]] bool empty() const { return text_.empty(); }
  // Whether the next line ends, rather than the text within it.
  [[nodiscard]] bool ends() const { return text_.find('\n') != std::string_view::npos; }
  // Without blanks at its end. Holds until the next call.
  [[nodiscard]] std::string_view next();

 private:
  std::string_view text_;
  std::string clean_;
};

}  // namespace debubble
