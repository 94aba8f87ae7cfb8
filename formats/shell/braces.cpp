#include "formats/shell/braces.hpp"

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "formats/shell/parser.hpp"
#include "sim/core/numbers.hpp"

namespace debubble::shell {
namespace {

constexpr std::size_t kMostWords = 10000;

// A character that braces may be made of, or a part that is only carried along.
struct Token {
  char c = '\0';
  const Part* part = nullptr;
};
using Tokens = std::vector<Token>;

Tokens tokens_of(const Word& word) {
  Tokens tokens;
  for (const Part& part : word.parts) {
    if (part.kind == Part::Kind::kText && !part.quoted) {
      for (const char c : part.text) tokens.push_back({c, nullptr});
    } else {
      tokens.push_back({'\0', &part});
    }
  }
  return tokens;
}

Word word_of(const Tokens& tokens, int line) {
  Word word;
  word.line = line;
  for (const Token& token : tokens) {
    if (token.part != nullptr) {
      word.parts.push_back(*token.part);
      continue;
    }
    const bool fresh = word.parts.empty() || word.parts.back().quoted || word.parts.back().kind != Part::Kind::kText;
    if (fresh) word.parts.emplace_back();
    word.parts.back().text += token.c;
  }
  return word;
}

std::optional<std::int64_t> whole(const std::string& text) {
  return read_whole_within(text, -1'000'000'000, 1'000'000'000);
}

Tokens plain(const std::string& text) {
  Tokens tokens;
  for (const char c : text) tokens.push_back({c, nullptr});
  return tokens;
}

// 1..8, 01..10, a..e, 0..10..2
std::vector<Tokens> range(const Tokens& inside) {
  std::string text;
  for (const Token& token : inside) {
    if (token.part != nullptr) return {};
    text += token.c;
  }
  const std::size_t dots = text.find("..");
  if (dots == std::string::npos) return {};
  const std::string first = text.substr(0, dots);
  std::string last = text.substr(dots + 2);
  std::int64_t step = 0;
  if (const std::size_t more = last.find(".."); more != std::string::npos) {
    const auto given = whole(last.substr(more + 2));
    if (!given) return {};
    step = std::abs(*given);
    last = last.substr(0, more);
  }
  step = step == 0 ? 1 : step;
  const bool letters = first.size() == 1 && last.size() == 1 && !whole(first) && !whole(last);
  const auto from = letters ? std::optional<std::int64_t>(first[0]) : whole(first);
  const auto to = letters ? std::optional<std::int64_t>(last[0]) : whole(last);
  if (!from || !to) return {};
  std::size_t width = 0;
  for (const std::string& one : {first, last}) {
    const std::size_t sign = one[0] == '-' ? 1 : 0;
    const bool padded = one.size() > sign + 1 && one[sign] == '0';
    if (!letters && padded) width = std::max(first.size(), last.size());
  }
  std::vector<Tokens> all;
  const bool up = *from <= *to;
  for (std::int64_t value = *from; up ? value <= *to : value >= *to; value += up ? step : -step) {
    if (all.size() >= kMostWords) return {};
    std::string one = letters ? std::string(1, static_cast<char>(value)) : std::to_string(value);
    while (one.size() < width) one.insert(one[0] == '-' ? 1 : 0, "0");
    all.push_back(plain(one));
  }
  return all;
}

std::vector<Tokens> expand(const Tokens& tokens, int depth);

// The braces that open at `open`: their alternatives; `close` is where they end. Empty where they are none.
std::vector<Tokens> choices(const Tokens& tokens, std::size_t open, std::size_t& close, int depth) {
  std::vector<Tokens> items(1);
  int level = 0;
  for (std::size_t k = open + 1; k < tokens.size(); ++k) {
    const char c = tokens[k].part == nullptr ? tokens[k].c : '\0';
    if (c == '{') ++level;
    if (c == '}' && level-- == 0) {
      close = k;
      if (items.size() == 1) return range(items.front());
      std::vector<Tokens> all;
      for (const Tokens& item : items) {
        for (Tokens& one : expand(item, depth + 1)) all.push_back(std::move(one));
      }
      return all;
    }
    if (c == ',' && level == 0) {
      items.emplace_back();
    } else {
      items.back().push_back(tokens[k]);
    }
  }
  return {};
}

std::vector<Tokens> expand(const Tokens& tokens, int depth) {
  if (depth > 50) return {tokens};
  for (std::size_t k = 0; k < tokens.size(); ++k) {
    if (tokens[k].part != nullptr || tokens[k].c != '{') continue;
    std::size_t close = 0;
    const std::vector<Tokens> middle = choices(tokens, k, close, depth);
    if (middle.empty()) continue;
    const Tokens rest(tokens.begin() + static_cast<std::ptrdiff_t>(close) + 1, tokens.end());
    const std::vector<Tokens> ends = expand(rest, depth + 1);
    if (middle.size() * ends.size() > kMostWords) return {tokens};
    std::vector<Tokens> all;
    for (const Tokens& one : middle) {
      for (const Tokens& end : ends) {
        Tokens whole_word(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(k));
        whole_word.insert(whole_word.end(), one.begin(), one.end());
        whole_word.insert(whole_word.end(), end.begin(), end.end());
        all.push_back(std::move(whole_word));
      }
    }
    return all;
  }
  return {tokens};
}

}  // namespace

std::vector<Word> with_braces(const Word& word) {
  bool any = false;
  for (const Part& part : word.parts) {
    any = any || (part.kind == Part::Kind::kText && !part.quoted && part.text.find('{') != std::string::npos);
  }
  if (!any) return {word};
  std::vector<Word> words;
  for (const Tokens& one : expand(tokens_of(word), 0)) words.push_back(word_of(one, word.line));
  return words;
}

}  // namespace debubble::shell
