#include "formats/frameworks/torchtitan_log.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "formats/text/log_lines.hpp"
#include "sim/core/numbers.hpp"
#include "sim/core/quantities.hpp"
#include "sim/core/words.hpp"

namespace debubble {
namespace {

// The number behind the words: "tps: 16,384".
std::string number_behind(std::string_view line, std::string_view words) {
  const std::size_t begin = line.find(words);
  if (begin == std::string_view::npos) return "";
  std::string_view rest = line.substr(begin + words.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  std::string number(rest.substr(0, rest.find_first_not_of("0123456789.,")));
  std::erase(number, ',');
  return number;
}

}  // namespace

std::vector<TorchtitanStep> read_torchtitan_log(std::string_view text) {
  std::vector<TorchtitanStep> steps;
  LogLines lines(text);
  while (!lines.empty()) {
    const std::string_view line = lines.next();
    if (!contains_text(line, " tps: ") || contains_text(line, "validate step:")) continue;
    const auto step = whole_number(number_behind(line, "step: "));
    const auto rate = number_of(number_behind(line, " tps: "));
    if (step && rate && *rate > 0) steps.push_back({*step, *rate});
  }
  return steps;
}

}  // namespace debubble
