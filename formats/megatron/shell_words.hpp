// The words of a launch script, as a shell would hand them to the program: enough of the shell for the scripts that
// start Megatron-LM. Line continuations, comments, quotes, variables, arrays, defaults and whole-number arithmetic.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace debubble {

struct LaunchWords {
  std::vector<std::string> launcher;  // before the program: torchrun and its arguments
  std::vector<std::string> program;   // what the program gets
};

// The command of the script with most arguments; of a bare list of arguments (also "--name: value", one a line), all of
// it. A variable that the script does not set stays as ${NAME} in the word.
[[nodiscard]] LaunchWords launch_words(std::string_view script);

}  // namespace debubble
