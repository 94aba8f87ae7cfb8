// What the terminal can show: the two decisions that depend on the world, made from values so that they can be tested.
//
// Colour: --color always|never, else NO_COLOR (set and not empty: off), else FORCE_COLOR or CLICOLOR_FORCE (set, not
// empty and not "0": on), else on when stdout is a terminal and TERM is not "dumb".
// Width: --width, else COLUMNS, else what the terminal says, else 80.
#pragma once

#include <optional>
#include <string>

namespace debubble {

enum class ColorChoice { kAuto, kAlways, kNever };

struct TerminalFacts {
  bool is_terminal = false;           // of the output
  std::optional<int> window_columns;  // what the terminal says, if it is one
  std::string no_color;               // environment variables; empty when not set
  std::string force_color;
  std::string clicolor_force;
  std::string term;
  std::string columns;
};

// The facts of this process and file descriptor 1.
[[nodiscard]] TerminalFacts terminal_facts();

[[nodiscard]] bool use_color(ColorChoice choice, const TerminalFacts& facts);

// At least kNarrowest, at most 1000. A COLUMNS that is not a number is ignored.
[[nodiscard]] int use_width(std::optional<int> flag, const TerminalFacts& facts);

}  // namespace debubble
