// Who speaks when mpirun started several of us: rank 0, and of the others only those that know something it does not.
#pragma once

#include <string>
#include <vector>

namespace debubble {

// "rank 2: " in front of the complaints of a rank other than 0 of `debubble live`, `sweep` and `plan`, else "".
//
// All ranks see the same wrong flags, and one complaint is enough. So such a rank waits first: when rank 0 fails too,
// mpirun ends this process meanwhile, without a word. When it does not, the trouble is this rank's own (a file that
// only its host lacks), and it says so.
[[nodiscard]] std::string speaker_prefix(const std::vector<std::string>& arguments);

// `text` with `prefix` in front of each line.
[[nodiscard]] std::string prefixed(const std::string& prefix, const std::string& text);

}  // namespace debubble
