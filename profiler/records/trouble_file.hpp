// Trouble of a recorded process, as a text file: the injection writes it, whoever started the program reads it.
//
//     DIR/trouble-<pid>.txt     code: U003
//                               message: another profiler is attached to this process: ...
//                               help: end Nsight Systems, ...
//                               (an empty line ends each trouble)
//
// Fields without text are left out; line ends and backslashes inside of a field are written as \n and \\.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/core/error.hpp"

namespace debubble {

[[nodiscard]] std::string trouble_text(const Diagnostic& diagnostic);

// All troubles of a file. What is not whole (a process was killed while it wrote) is one of code U009.
[[nodiscard]] std::vector<Diagnostic> read_troubles(std::string_view text);

}  // namespace debubble
