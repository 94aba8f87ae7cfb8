// Flags as the members of a JSON object, so that a suite says what the command line says, in the same words:
//
//     {"schedule": "zb-h1", "devices": 4, "param": ["group=8"], "dropout": true}
//     --schedule=zb-h1 --devices=4 --param=group=8 --dropout
#pragma once

#include <span>
#include <string>
#include <vector>

#include "formats/json/json_tree.hpp"
#include "formats/problems/problem_list.hpp"
#include "scenario/request/flag.hpp"

namespace debubble {

// Writes every member to the target of its row. Arrays are flags that may be repeated, true is a flag without a
// value. Reports unknown keys (with the closest flag) and values of the wrong form at `pointer`.
// Returns the flags as the command line would have them.
std::vector<std::string> read_json_flags(const JsonValue& object, const std::string& pointer,
                                         std::span<const Flag> rows, ProblemList& problems);

}  // namespace debubble
