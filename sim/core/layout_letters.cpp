#include "sim/core/layout_letters.hpp"

#include <algorithm>
#include <utility>

#include "sim/core/error.hpp"
#include "sim/core/numbers.hpp"

namespace debubble {
namespace {

constexpr std::string_view kLayoutLetters = "EtmL";
// Expanded; far more than any model has, and little enough to hold.
constexpr std::size_t kMostLetters = 1'000'000;

[[noreturn]] void fail_layout(std::string code, std::string message, std::string help, std::size_t column = 0) {
  const std::string place = column == 0 ? "--partition" : "--partition, column " + std::to_string(column);
  throw InputError({std::move(code), place, std::move(message), std::move(help)});
}

std::string shown(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte > 0x20 && byte < 0x7f ? "\"" + std::string(1, c) + "\"" : "byte " + std::to_string(byte);
}

// Writes out the repetitions: "t*2|(t|)*2" becomes "tt|t|t|".
class Expander {
 public:
  explicit Expander(std::string_view text) : text_(text) {}

  std::string expand() {
    std::string result = sequence(false);
    if (at_ < text_.size())
      fail_layout("J030", "this \")\" closes nothing", "write repeated stages like (tt|)*20", at_ + 1);
    return result;
  }

 private:
  void skip_cosmetics() {
    while (at_ < text_.size() && (text_[at_] == ',' || text_[at_] == ' ')) ++at_;
  }

  std::string sequence(bool inside) {
    std::string result;
    for (skip_cosmetics(); at_ < text_.size() && text_[at_] != ')'; skip_cosmetics()) {
      append(result, item(inside));
    }
    return result;
  }

  std::string item(bool inside) {
    const std::size_t begin = at_;
    const char c = text_[at_++];
    if (c == '(') {
      if (inside) fail_layout("J030", "parentheses do not nest", "write out the inner repetition", begin + 1);
      const std::string group = sequence(true);
      if (at_ == text_.size()) fail_layout("J030", "this \"(\" is never closed", "write it like (tt|)*20", begin + 1);
      ++at_;
      if (group.empty()) fail_layout("J030", "these parentheses are empty", "write it like (tt|)*20", begin + 1);
      skip_cosmetics();
      if (at_ == text_.size() || text_[at_] != '*') {
        fail_layout("J030", "parentheses are for repetition, and no *N follows", "write it like (tt|)*20", at_ + 1);
      }
      return repeated(group);
    }
    if (c != '|' && kLayoutLetters.find(c) == std::string_view::npos) {
      fail_layout("J030", shown(c) + " is not part of a layout",
                  "E embedding, t decoder layer, m MTP layer, L loss, | between stages, x*N and (...)*N", begin + 1);
    }
    return at_ < text_.size() && text_[at_] == '*' ? repeated(std::string(1, c)) : std::string(1, c);
  }

  // Reads "*N" and repeats.
  std::string repeated(const std::string& unit) {
    const std::size_t star = at_++;
    std::string_view rest = text_.substr(at_);
    const bool digit = !rest.empty() && rest.front() >= '0' && rest.front() <= '9';
    const auto times = take_whole<std::size_t>(rest);
    if (!digit) {
      fail_layout("J030", "a number of repetitions must follow the \"*\"", "write it like t*3", star + 2);
    }
    if (!times || *times > kMostLetters / unit.size()) {
      fail_layout("J030", "that many repetitions are more than a model has", "check the number", star + 2);
    }
    if (*times == 0) fail_layout("J030", "0 repetitions place nothing", "leave it out", star + 2);
    at_ = text_.size() - rest.size();
    std::string result;
    for (std::size_t k = 0; k < *times; ++k) result += unit;
    return result;
  }

  void append(std::string& result, const std::string& more) const {
    result += more;
    if (result.size() > kMostLetters)
      fail_layout("J030", "the layout repeats more than a model has", "check the numbers", at_);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

// "Etttt": "Et*4".
std::string with_repetitions(const std::string& letters) {
  constexpr std::size_t kWorthIt = 4;
  const std::size_t first = letters.find('t');
  const std::size_t times = first == std::string::npos ? 0 : letters.find_last_of('t') + 1 - first;
  if (times < kWorthIt) return letters;
  return letters.substr(0, first) + "t*" + std::to_string(times) + letters.substr(first + times);
}

}  // namespace

bool is_layout(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return false;
  return text.find('|') != std::string_view::npos || text[first] == '(' ||
         kLayoutLetters.find(text[first]) != std::string_view::npos;
}

std::vector<std::string> layout_letters(std::string_view text) {
  std::vector<std::string> stages(1);
  for (const char c : Expander(text).expand()) {
    if (c == '|') {
      stages.emplace_back();
    } else {
      stages.back() += c;
    }
  }
  return stages;
}

std::string layout_text(std::vector<std::string> stages) {
  for (std::string& letters : stages) letters = with_repetitions(letters);
  std::string text;
  for (std::size_t k = 0; k < stages.size();) {
    std::size_t same = k;
    while (same + 1 < stages.size() && stages[same] == stages[k]) ++same;  // the last stage has no '|'
    if (same - k > 1) {
      text += "(" + stages[k] + "|)*" + std::to_string(same - k) + ",";
      k = same;
    } else {
      text += stages[k] + (k + 1 < stages.size() ? "|" : "");
      ++k;
    }
  }
  return text;
}

}  // namespace debubble
