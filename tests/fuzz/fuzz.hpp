// What every fuzz target needs: promises, which end the program where they are broken, and refusals that are judged.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/core/error.hpp"

namespace debubble::fuzz {

inline void require(bool holds, const char* what = "see the stack") {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

inline bool is_printable(std::string_view text) {
  return std::none_of(text.begin(), text.end(),
                      [](char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\n'; });
}

enum class Help { kNeeded, kMayLack };

// A refusal says something, in each place what, and where: in a place that begins like that.
inline void check_refusal(const InputError& error, std::string_view place = "", Help help = Help::kNeeded) {
  require(!error.diagnostics().empty(), "a refusal says why");
  for (const Diagnostic& one : error.diagnostics()) {
    require(!one.code.empty() && !one.message.empty(), "with a code and what is wrong");
    require(one.place.starts_with(place), "and where");
    require(help == Help::kMayLack || !one.help.empty(), "and how to mend it");
    require(is_printable(to_string(one)), "in printable letters");
  }
}

}  // namespace debubble::fuzz
