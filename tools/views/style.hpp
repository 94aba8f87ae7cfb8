// How text for people is drawn. Views take a ViewStyle and return text; they never look at the terminal themselves.
#pragma once

namespace debubble {

struct ViewStyle {
  int width = 80;                // columns; no line is longer. At least kNarrowest
  bool color = false;            // ANSI escapes, 256 colours
  int max_rows = 32;             // most devices drawn one by one; 0: all of them
  bool all_assumptions = false;  // with their sources, in place of those that a user might want to change
  bool details = false;          // the long lists of a comparison
};

inline constexpr int kNarrowest = 40;

}  // namespace debubble
