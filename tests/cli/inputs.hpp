// Small inputs that the tests of the command share: right ones, to be spoilt in one place each.
#pragma once

#include <stdexcept>
#include <string>

namespace debubble::testing {

inline const std::string kProfile = R"({
  "schema": "debubble.profile/1",
  "model": "tiny",
  "dtype": "bf16",
  "microbatch_size": 2,
  "sequence_length": 128,
  "origin": {"times": "modelled", "memory": "modelled", "method": "made up"},
  "layers": [
    {"name": "a", "kind": "block", "forward": {"median_ns": 1000}, "backward": {"median_ns": 2000},
     "activation_bytes": 10, "output_bytes": 5, "parameter_bytes": 7},
    {"name": "b", "kind": "block", "forward": {"median_ns": 1000}, "backward": {"median_ns": 2000},
     "activation_bytes": 10, "output_bytes": 5, "parameter_bytes": 7}
  ]
}
)";

// `text` with the first `from` in it made `to`.
inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  if (at == std::string::npos) throw std::logic_error("nothing to replace: " + from);
  return text.replace(at, from.size(), to);
}

}  // namespace debubble::testing
