// What nearly every test needs: doctest, the containers and texts of the standard library, and refusals as values.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "sim/core/error.hpp"

namespace debubble {

// The diagnostics of the InputError that `call` throws; none where it throws none. Anything else escapes and fails the
// test.
template <std::invocable Call>
std::vector<Diagnostic> diagnostics_of(const Call& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.diagnostics();
  }
  return {};
}

// The first of them, or an empty one.
template <std::invocable Call>
Diagnostic first_problem(const Call& call) {
  const std::vector<Diagnostic> found = diagnostics_of(call);
  return found.empty() ? Diagnostic{} : found.front();
}

// The code of each.
template <std::invocable Call>
std::vector<std::string> codes_by(const Call& call) {
  std::vector<std::string> codes;
  for (const Diagnostic& problem : diagnostics_of(call)) codes.push_back(problem.code);
  return codes;
}

// All of them as people read them; "" where there is none.
template <std::invocable Call>
std::string problems_of(const Call& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

inline bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

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

}  // namespace debubble
