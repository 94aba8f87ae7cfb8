// Text of unknown origin made visible: the one place for every output but JSON, which escapes by its own rules.
//
// A name from a file, a flag's value or a file's name may hold line ends that forge a line of ours (a CI annotation, an
// error), escapes that steer the terminal, and characters that show text in another order than it has or not at all.
#pragma once

#include <string>
#include <string_view>

namespace debubble {

// One line: control characters and bytes that are not UTF-8 as \xNN; C1 controls, line separators, marks of text
// direction and what has neither width nor meaning in a name as \uNNNN. All else stays as it is.
[[nodiscard]] std::string printable(std::string_view text);

// The same for lines of ours that quote such text: line ends and tabs stay, and with `colored` the escapes of colours.
[[nodiscard]] std::string printable_lines(std::string_view text, bool colored);

// The same where ASCII, and what is not UTF-8 or no character at all, are somebody else's matter (XML, Markdown).
[[nodiscard]] std::string without_hidden_characters(std::string_view text);

}  // namespace debubble
