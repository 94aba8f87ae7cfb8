// One command line of debubble from its words to its exit status. main.cpp calls it, and so does the playground.
#pragma once

#include <string>
#include <vector>

namespace debubble {

// Of what follows the command's name. Results go to stdout, complaints to stderr; nothing is thrown.
[[nodiscard]] int run_command(const std::vector<std::string>& arguments);

// Of all commands, in the catalog's order.
[[nodiscard]] std::vector<std::string> verb_names();

}  // namespace debubble
