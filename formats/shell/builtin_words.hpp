// What several of the shell's commands do with their words, and those that read.
#pragma once

#include <algorithm>

#include "formats/shell/machine.hpp"
#include "sim/core/numbers.hpp"

namespace debubble::shell {

inline Strings rest(const Strings& words, std::size_t from = 1) {
  return {words.begin() + static_cast<std::ptrdiff_t>(std::min(from, words.size())), words.end()};
}

inline int number_or(const Strings& words, std::size_t at, int otherwise) {
  if (at >= words.size()) return otherwise;
  std::string_view word = words[at];
  return take_whole<int>(word).value_or(otherwise);
}

inline Flow done(Machine& machine) {
  machine.finish(0);
  return {};
}

inline bool has_option(const Strings& words, char letter) {
  return std::any_of(words.begin() + 1, words.end(), [letter](const std::string& word) {
    return word.size() > 1 && word[0] == '-' && word.find(letter) != std::string::npos;
  });
}

Flow run_read(Machine& machine, const Strings& words, const Command& command);
Flow run_mapfile(Machine& machine, const Strings& words, const Command& command);
Flow run_getopts(Machine& machine, const Strings& words, const Command& command);

}  // namespace debubble::shell
