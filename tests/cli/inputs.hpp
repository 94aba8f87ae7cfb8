// Small inputs that the tests of the command share with transcripts: right ones, to be spoilt in one place each.
#pragma once

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "tests/support/places.hpp"

namespace debubble::testing {

inline const std::string kProfile = [] {
  std::ifstream stream(source_directory() + "/tests/cli/inputs/profile.json", std::ios::binary);
  if (!stream) throw std::runtime_error("cannot read profile.json");
  return std::string(std::istreambuf_iterator<char>(stream), {});
}();

// `text` with the first `from` in it made `to`.
inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  if (at == std::string::npos) throw std::logic_error("nothing to replace: " + from);
  return text.replace(at, from.size(), to);
}

}  // namespace debubble::testing
