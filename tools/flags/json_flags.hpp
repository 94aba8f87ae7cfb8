// Flags of a verb as the members of a JSON object, so that a suite says what the command line says, in the same words:
//
//     {"schedule": "zb-h1", "devices": 4, "param": ["group=8"], "graph": true}
//     --schedule=zb-h1 --devices=4 --param=group=8 --graph
#pragma once

#include <string>
#include <vector>

#include "formats/json/json_tree.hpp"
#include "formats/problems/problem_list.hpp"

namespace CLI {
class App;
}

namespace debubble {

// Gives every member to `verb`, which writes its bound variables. Arrays stand for flags that may be repeated, true
// for flags without a value. Reports unknown keys (with the closest flag) and values of the wrong form at `pointer`.
// Returns the flags as they would stand on the command line.
std::vector<std::string> read_json_flags(const JsonValue& object, const std::string& pointer, CLI::App& verb,
                                         ProblemList& problems);

}  // namespace debubble
