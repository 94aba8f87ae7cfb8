#include "formats/megatron/argument_list.hpp"

#include <algorithm>
#include <optional>

#include "formats/shell/evaluator.hpp"
#include "formats/shell/parser.hpp"
#include "sim/core/error.hpp"

namespace debubble {
namespace {

// "--name: value" of a recipe: true is the bare flag, false nothing.
std::optional<std::string> recipe_words(const std::string& line) {
  const std::size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string::npos || line.compare(begin, 2, "--") != 0) return std::nullopt;
  const std::size_t colon = line.find(':', begin);
  const std::size_t blank = line.find_first_of(" \t=", begin);
  if (colon == std::string::npos || blank < colon) return std::nullopt;
  const std::string name = line.substr(begin, colon - begin);
  std::string value = line.substr(colon + 1);
  if (const std::size_t comment = value.find(" #"); comment != std::string::npos) value.resize(comment);
  const std::size_t first = value.find_first_not_of(" \t\r");
  value = first == std::string::npos ? "" : value.substr(first, value.find_last_not_of(" \t\r") - first + 1);
  if (value == "true") return name;
  if (value == "false") return "";
  return name + " " + value;
}

}  // namespace

bool is_bare_list(const std::string& text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t begin = text.find_first_not_of(" \t\r\n", at);
    if (begin == std::string::npos) return false;
    if (text[begin] != '#') return text.compare(begin, 2, "--") == 0;
    at = text.find('\n', begin);
    if (at == std::string::npos) return false;
  }
  return false;
}

std::string recipe_list(const std::string& text) {
  if (text.starts_with("#!")) return "";
  std::string list;
  std::size_t rows = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (const auto words = recipe_words(text.substr(at, end - at))) {
      ++rows;
      list += *words + "\n";
    }
    at = end + 1;
  }
  return rows >= 2 || (rows == 1 && is_bare_list(text)) ? list : "";
}

bool has_argument(const std::vector<std::string>& words, const std::string& name) {
  return std::any_of(words.begin(), words.end(), [&](std::string word) {
    std::replace(word.begin(), word.end(), '_', '-');
    return word == "--" + name || word.starts_with("--" + name + "=");
  });
}

void drop_expert_arguments(std::vector<std::string>& words) {
  bool dropped = false;
  std::erase_if(words, [&dropped](const std::string& word) {
    const auto begins = [&word](const char* name) { return word.starts_with(name); };
    if (begins("--")) {
      dropped = begins("--moe") || begins("--expert-") || begins("--num-experts") || begins("--overlap-moe");
    }
    return dropped;
  });
}

std::vector<std::string> shell_words(const std::string& text, const std::string& place) {
  try {
    const shell::Given none;
    const shell::Evaluation found = shell::evaluate_script("program.py " + text, none);
    if (found.launches.size() == 1) return found.launches.front().arguments;
  } catch (const shell::SyntaxError& error) {
    fail("P031", place, "these are no words of a shell: " + std::string(error.what()), "quote what has blanks");
  }
  return {};
}

}  // namespace debubble
