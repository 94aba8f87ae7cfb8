#include "formats/shell/text_filters.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "formats/shell/patterns.hpp"
#include "formats/shell/printf.hpp"
#include "sim/core/numbers.hpp"
#include "sim/core/split.hpp"

namespace debubble::shell {
namespace {

using Lines = std::vector<std::string>;

Lines lines_of(const std::string& text) {
  Lines lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string text_of(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

std::optional<long> count_of(const std::string& text) {
  const auto value = read_whole<std::int64_t>(std::string_view(text).substr(text.starts_with("+") ? 1 : 0));
  if (!value) return std::nullopt;
  return std::clamp<std::int64_t>(*value, -1'000'000, 1'000'000);
}

// "-n 3", "-n3", "-3", "--lines=3"; what is left are files. `count`: as it is written, 10 where it is not.
std::optional<long> line_count(const FilterWords& words, std::string& count, FilterWords& files) {
  count = "10";
  for (std::size_t k = 1; k < words.size(); ++k) {
    const std::string& word = words[k];
    if (word == "-n" && k + 1 < words.size()) {
      count = words[++k];
    } else if (word.starts_with("-n")) {
      count = word.substr(2);
    } else if (word.starts_with("--lines=")) {
      count = word.substr(8);
    } else if (word.size() > 1 && word[0] == '-' && std::isdigit(static_cast<unsigned char>(word[1])) != 0) {
      count = word.substr(1);
    } else if (word.size() > 1 && word[0] == '-') {
      return std::nullopt;
    } else {
      files.push_back(word);
    }
  }
  return count_of(count);
}

std::string expanded_set(const std::string& set) {
  std::string all;
  const std::string plain = unescaped(set);
  for (std::size_t k = 0; k < plain.size(); ++k) {
    if (plain[k] == '[' && plain.compare(k, 2, "[:") == 0) {
      const std::size_t end = plain.find(":]", k);
      const std::string name = end == std::string::npos ? "" : plain.substr(k + 2, end - k - 2);
      for (int c = 1; c < 127; ++c) {
        const bool in = (name == "upper" && std::isupper(c) != 0) || (name == "lower" && std::islower(c) != 0) ||
                        (name == "digit" && std::isdigit(c) != 0) || (name == "space" && std::isspace(c) != 0) ||
                        (name == "alpha" && std::isalpha(c) != 0) || (name == "alnum" && std::isalnum(c) != 0) ||
                        (name == "punct" && std::ispunct(c) != 0) || (name == "blank" && (c == ' ' || c == '\t'));
        if (in) all += static_cast<char>(c);
      }
      if (end != std::string::npos) k = end + 1;
    } else if (k + 2 < plain.size() && plain[k + 1] == '-' && plain[k] <= plain[k + 2]) {
      for (int c = plain[k]; c <= plain[k + 2]; ++c) all += static_cast<char>(c);
      k += 2;
    } else {
      all += plain[k];
    }
  }
  return all;
}

// 1, 2-, -3, 1,3-5
std::optional<std::set<std::size_t>> positions(const std::string& list, std::size_t most) {
  std::set<std::size_t> chosen;
  std::istringstream stream(list);
  for (std::string part; std::getline(stream, part, ',');) {
    const std::size_t dash = part.find('-');
    const auto first = dash == 0 ? std::optional<long>(1) : count_of(part.substr(0, dash));
    const auto last = dash == std::string::npos ? first
                      : dash + 1 == part.size() ? std::optional<long>(static_cast<long>(most))
                                                : count_of(part.substr(dash + 1));
    if (!first || !last || *first < 1) return std::nullopt;
    for (long k = *first; k <= std::min(*last, static_cast<long>(most)); ++k)
      chosen.insert(static_cast<std::size_t>(k));
  }
  return chosen;
}

}  // namespace

Filtered filter_head(const FilterWords& words, const std::string& input, FilterWords& files) {
  std::string given;
  const auto count = line_count(words, given, files);
  if (!count) return std::nullopt;
  Lines lines = lines_of(input);
  const auto size = static_cast<long>(lines.size());
  lines.resize(static_cast<std::size_t>(std::clamp(*count < 0 ? size + *count : *count, 0L, size)));
  return text_of(lines);
}

Filtered filter_tail(const FilterWords& words, const std::string& input, FilterWords& files) {
  std::string given;
  const auto count = line_count(words, given, files);
  if (!count) return std::nullopt;
  Lines lines = lines_of(input);
  const auto size = static_cast<long>(lines.size());
  const long from = given.starts_with("+") ? *count - 1 : size - std::abs(*count);
  lines.erase(lines.begin(), lines.begin() + std::clamp(from, 0L, size));
  return text_of(lines);
}

Filtered filter_tr(const FilterWords& words, const std::string& input, FilterWords&) {
  bool deletes = false;
  bool squeezes = false;
  bool complements = false;
  FilterWords sets;
  for (std::size_t k = 1; k < words.size(); ++k) {
    const std::string& word = words[k];
    if (word.size() > 1 && word[0] == '-' && word.find_first_not_of("dscC", 1) == std::string::npos) {
      deletes = deletes || word.find('d') != std::string::npos;
      squeezes = squeezes || word.find('s') != std::string::npos;
      complements = complements || word.find_first_of("cC") != std::string::npos;
    } else {
      sets.push_back(expanded_set(word));
    }
  }
  if (sets.empty() || sets.size() > 2 || (!deletes && !squeezes && sets.size() != 2)) return std::nullopt;
  std::string result;
  const auto in_first = [&](char c) { return (sets[0].find(c) != std::string::npos) != complements; };
  const std::string& squeezed = sets.back();
  for (const char c : input) {
    char now = c;
    if (in_first(c)) {
      if (deletes) continue;
      if (sets.size() == 2 && !sets[1].empty()) {
        const std::size_t at = complements ? sets[1].size() - 1 : sets[0].find(c);
        now = sets[1][std::min(at, sets[1].size() - 1)];
      }
    }
    const bool again = squeezes && !result.empty() && result.back() == now &&
                       (squeezed.find(now) != std::string::npos) != (complements && sets.size() == 1);
    if (!again) result += now;
  }
  return result;
}

Filtered filter_cut(const FilterWords& words, const std::string& input, FilterWords& files) {
  std::string list;
  char separator = '\t';
  char kind = '\0';
  bool only = false;
  for (std::size_t k = 1; k < words.size(); ++k) {
    const std::string& word = words[k];
    const bool option = word.size() > 1 && word[0] == '-';
    if (!option) {
      files.push_back(word);
      continue;
    }
    const std::string value = word.size() > 2                          ? word.substr(2)
                              : k + 1 < words.size() && word[1] != 's' ? words[++k]
                                                                       : "";
    if (word[1] == 'd' && !value.empty()) separator = value[0];
    if (word[1] == 's') only = true;
    if (word[1] == 'f' || word[1] == 'c' || word[1] == 'b') {
      kind = word[1];
      list = value;
    }
    if (std::string_view("dsfcb").find(word[1]) == std::string_view::npos) return std::nullopt;
  }
  if (kind == '\0') return std::nullopt;
  Lines result;
  for (const std::string& line : lines_of(input)) {
    const Lines fields = split(line, separator);
    if (kind == 'f' && fields.size() == 1) {
      if (!only) result.push_back(line);
      continue;
    }
    const auto chosen = positions(list, kind == 'f' ? fields.size() : line.size());
    if (!chosen) return std::nullopt;
    std::string one;
    bool first = true;
    for (const std::size_t at : *chosen) {
      if (kind == 'f') {
        one += (first ? "" : std::string(1, separator)) + fields[at - 1];
      } else {
        one += line[at - 1];
      }
      first = false;
    }
    result.push_back(one);
  }
  return text_of(result);
}

Filtered filter_sort(const FilterWords& words, const std::string& input, FilterWords& files) {
  bool numeric = false;
  bool reverse = false;
  bool unique = false;
  for (std::size_t k = 1; k < words.size(); ++k) {
    if (words[k].size() < 2 || words[k][0] != '-') {
      files.push_back(words[k]);
      continue;
    }
    if (words[k].find_first_not_of("nru", 1) != std::string::npos) return std::nullopt;
    numeric = numeric || words[k].find('n') != std::string::npos;
    reverse = reverse || words[k].find('r') != std::string::npos;
    unique = unique || words[k].find('u') != std::string::npos;
  }
  Lines lines = lines_of(input);
  const auto before = [numeric](const std::string& a, const std::string& b) {
    if (!numeric) return a < b;
    const double x = std::strtod(a.c_str(), nullptr);
    const double y = std::strtod(b.c_str(), nullptr);
    return x == y ? a < b : x < y;
  };
  std::stable_sort(lines.begin(), lines.end(), before);
  if (reverse) std::reverse(lines.begin(), lines.end());
  if (unique) lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  return text_of(lines);
}

Filtered filter_uniq(const FilterWords& words, const std::string& input, FilterWords&) {
  if (words.size() > 1) return std::nullopt;
  Lines lines = lines_of(input);
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  return text_of(lines);
}

Filtered filter_paste(const FilterWords& words, const std::string& input, FilterWords&) {
  char separator = '\t';
  bool serial = false;
  for (std::size_t k = 1; k < words.size(); ++k) {
    const std::string& word = words[k];
    if (word == "-d" && k + 1 < words.size() && words[k + 1].size() == 1) {
      separator = words[++k][0];
    } else if (word.starts_with("-sd")) {
      serial = true;
      const std::string value = word.size() > 3 ? word.substr(3) : k + 1 < words.size() ? words[++k] : "";
      if (value.size() != 1) return std::nullopt;
      separator = value[0];
    } else if (word.starts_with("-d") && word.size() == 3) {
      separator = word[2];
    } else if (word == "-s") {
      serial = true;
    } else if (word != "-") {
      return std::nullopt;
    }
  }
  if (!serial) return std::nullopt;
  std::string text;
  for (const std::string& line : lines_of(input)) text += (text.empty() ? "" : std::string(1, separator)) + line;
  return text + "\n";
}

Filtered filter_tac(const FilterWords& words, const std::string& input, FilterWords&) {
  if (words.size() > 1) return std::nullopt;
  Lines lines = lines_of(input);
  std::reverse(lines.begin(), lines.end());
  return text_of(lines);
}

Filtered filter_rev(const FilterWords& words, const std::string& input, FilterWords&) {
  if (words.size() > 1) return std::nullopt;
  Lines lines = lines_of(input);
  for (std::string& line : lines) std::reverse(line.begin(), line.end());
  return text_of(lines);
}

// Alone, it puts all words on one line.
Filtered filter_xargs(const FilterWords& words, const std::string& input, FilterWords&) {
  if (words.size() > 2 || (words.size() == 2 && words[1] != "echo")) return std::nullopt;
  if (input.find_first_of("'\"\\") != std::string::npos) return std::nullopt;
  std::istringstream stream(input);
  std::string text;
  for (std::string word; stream >> word;) text += (text.empty() ? "" : " ") + word;
  return text + "\n";
}

Filtered filter_grep(const FilterWords& words, const std::string& input, FilterWords& files) {
  std::string letters;
  std::optional<std::string> expression;
  for (std::size_t k = 1; k < words.size(); ++k) {
    const std::string& word = words[k];
    if (word == "-e" && k + 1 < words.size()) {
      expression = words[++k];
    } else if (word.size() > 1 && word[0] == '-') {
      letters += word.substr(1);
    } else if (!expression) {
      expression = word;
    } else {
      files.push_back(word);
    }
  }
  if (!expression || letters.find_first_not_of("covqiEwF") != std::string::npos) return std::nullopt;
  const auto has = [&letters](char c) { return letters.find(c) != std::string::npos; };
  std::string pattern = has('F') ? escaped_for_regex(*expression) : *expression;
  const bool extended = has('E') || has('F') || words.front() == "egrep";
  if (has('w')) pattern = "\\b" + pattern + "\\b";
  Regex regex(pattern, extended, has('i'));
  Lines result;
  try {
    for (const std::string& line : lines_of(input)) {
      RegexMatch match = regex.match(line);
      if (match.found == has('v')) continue;
      if (!has('o')) {
        result.push_back(line);
        continue;
      }
      std::string left = line;
      while (match.found && match.length > 0) {
        result.push_back(match.groups.front());
        left = left.substr(match.begin + match.length);
        match = regex.match(left);
      }
    }
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
  if (has('c')) return std::to_string(result.size()) + "\n";
  return text_of(result);
}

}  // namespace debubble::shell
