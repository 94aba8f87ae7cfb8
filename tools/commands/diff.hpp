// `debubble diff`: a predicted and a measured run, and why they differ.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace debubble {

// What is compared: the command asks it, and diff of the Python module.
struct DiffFlags {
  std::vector<std::string> files;
  std::string log;
  std::string hardware;
  std::string iteration = "median";
  int replica = 0;
};

// Throws InputError C004, C009, C061 or C087 for what does not go together.
void check_diff_flags(const DiffFlags& flags);

// "median", which is nothing, or a number from 1. Throws InputError C003.
[[nodiscard]] std::optional<std::size_t> parse_iteration(const std::string& text);

}  // namespace debubble
