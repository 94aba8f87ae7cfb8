// What a reader says about a bad input, as the text that people see.
#pragma once

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

#include "sim/core/error.hpp"

namespace debubble::test {

// All diagnostics of the InputError that `call` throws; "" when it throws none. Anything else escapes and fails the
// test.
template <typename Call>
std::string problems_of(const Call& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

// `text` with its only occurrence of `from` replaced; the test is wrong when there is not exactly one.
inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  if (at == std::string::npos || text.find(from, at + 1) != std::string::npos) {
    throw std::logic_error("not exactly one " + from);
  }
  return text.replace(at, from.size(), to);
}

// The file's bytes; "" when it cannot be read.
inline std::string contents_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace debubble::test
