#include "formats/shell/cursor.hpp"

#include <cctype>
#include <utility>

namespace debubble::shell {
namespace {

constexpr int kDeepest = 100;

bool is_name_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_digit_of_name(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

bool ends_word(char c) { return c == '\0' || std::string_view(" \t\n;&|<>()").find(c) != std::string_view::npos; }

constexpr std::string_view kSpecialParameters = "@*#?-$!";

// The operators of ${name...}, longer ones first.
constexpr std::string_view kOperators[] = {":-", ":=", ":?", ":+", "##", "%%", "//", "/#", "/%", "^^", ",,",
                                           "-",  "=",  "?",  "+",  "#",  "%",  "/",  "^",  ",",  "@",  ":"};

char ansi_escape(char c) {
  switch (c) {
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case 'r':
      return '\r';
    case 'a':
      return '\a';
    case 'e':
      return '\033';
    default:
      return c;
  }
}

}  // namespace

Counted Cursor::nested() {
  if (depth_ >= kDeepest) fail("brackets are nested more than 100 deep");
  return Counted(depth_);
}

void Cursor::advance(std::size_t count) {
  for (; count > 0 && position_ < text_.size(); --count) {
    if (text_[position_] == '\n') ++line_;
    ++position_;
  }
}

void Cursor::fail(const std::string& what) const { throw SyntaxError(line_, what); }

void Cursor::skip_blanks() {
  while (!done()) {
    if (peek() == ' ' || peek() == '\t' || (peek() == '\r' && (peek(1) == '\n' || position_ + 1 == text_.size()))) {
      advance();
    } else if (peek() == '\\' && peek(1) == '\n') {
      advance(2);
    } else if (peek() == '\\' && peek(1) == '\r' && peek(2) == '\n') {
      advance(3);
    } else if (peek() == '#') {
      while (!done() && peek() != '\n') advance();
    } else {
      return;
    }
  }
}

void Cursor::add(Word& word, char c, bool quoted) const {
  const bool fresh =
      word.parts.empty() || word.parts.back().kind != Part::Kind::kText || word.parts.back().quoted != quoted;
  if (fresh) word.parts.push_back(Part{.quoted = quoted});
  word.parts.back().text += c;
}

void Cursor::escape(Word& word, bool quoted) {
  const char next = peek(1);
  if (next == '\n') return advance(2);
  if (next == '\r' && peek(2) == '\n') return advance(3);
  const bool kept = quoted && std::string_view("$`\"\\").find(next) == std::string_view::npos;
  if (kept || next == '\0') {
    add(word, '\\', quoted);
    return advance();
  }
  add(word, next, true);
  advance(2);
}

void Cursor::single_quotes(Word& word) {
  advance();
  word.parts.push_back(Part{.quoted = true});
  while (!done() && peek() != '\'') {
    word.parts.back().text += peek();
    advance();
  }
  if (done()) fail("a ' is not closed");
  advance();
}

// $'...'
void Cursor::ansi_quotes(Word& word) {
  advance(2);
  word.parts.push_back(Part{.quoted = true});
  while (!done() && peek() != '\'') {
    if (peek() == '\\') {
      advance();
      word.parts.back().text += ansi_escape(peek());
    } else {
      word.parts.back().text += peek();
    }
    advance();
  }
  if (done()) fail("a ' is not closed");
  advance();
}

void Cursor::double_quotes(Word& word) {
  const int opened = line_;
  advance();
  const std::size_t first = word.parts.size();
  word.parts.push_back(Part{.quoted = true});
  while (!done() && peek() != '"') {
    if (peek() == '\\') {
      escape(word, true);
    } else if (peek() == '$') {
      dollar(word, true);
    } else if (peek() == '`') {
      backquotes(word, true);
    } else {
      add(word, peek(), true);
      advance();
    }
  }
  if (done()) throw SyntaxError(opened, "a \" is not closed");
  advance();
  // "$@" without arguments is no word at all: only "" itself is an empty one.
  if (word.parts.size() > first + 1 && word.parts[first].text.empty()) {
    word.parts.erase(word.parts.begin() + static_cast<std::ptrdiff_t>(first));
  }
}

void Cursor::backquotes(Word& word, bool quoted) {
  const int line = line_;
  advance();
  std::string inside;
  while (!done() && peek() != '`') {
    const bool escaped = peek() == '\\' && (peek(1) == '`' || peek(1) == '\\' || peek(1) == '$');
    if (escaped) advance();
    inside += peek();
    advance();
  }
  if (done()) fail("a ` is not closed");
  advance();
  const Counted depth = nested();
  Part part{.kind = Part::Kind::kCommand, .quoted = quoted, .text = inside};
  part.body = parse_script(inside, line);
  word.parts.push_back(std::move(part));
}

void Cursor::command_in(Word& word, bool quoted, Part::Kind kind) {
  advance(2);
  const Counted depth = nested();
  const std::size_t begin = position_;
  Part part{.kind = kind, .quoted = quoted};
  part.body = parse_inside(*this, depth_);
  part.text = std::string(text_.substr(begin, position_ - begin - 1));
  word.parts.push_back(std::move(part));
}

std::string Cursor::until_closed(char open, char close) {
  const std::size_t begin = position_;
  int depth = 1;
  while (!done()) {
    if (peek() == '\\') {
      advance();
    } else if (peek() == open) {
      ++depth;
    } else if (peek() == close && --depth == 0) {
      break;
    }
    advance();
  }
  if (done()) fail(std::string("a ") + open + " is not closed");
  std::string inside(text_.substr(begin, position_ - begin));
  advance();
  return inside;
}

std::string Cursor::arithmetic() {
  std::string inside = until_closed('(', ')');
  if (peek() != ')') fail("an arithmetic expression must end with ))");
  advance();
  return inside;
}

void Cursor::dollar(Word& word, bool quoted) {
  const char next = peek(1);
  if (next == '{') return braces(word, quoted);
  if (at("$((")) {
    const Cursor before = *this;  // "$((a); b)" is a command
    try {
      advance(3);
      Part part{.kind = Part::Kind::kArithmetic, .quoted = quoted};
      part.text = arithmetic();
      word.parts.push_back(std::move(part));
      return;
    } catch (const SyntaxError&) {
      position_ = before.position_;
      line_ = before.line_;
    }
  }
  if (next == '(') return command_in(word, quoted, Part::Kind::kCommand);
  if (next == '[') {
    advance(2);
    Part part{.kind = Part::Kind::kArithmetic, .quoted = quoted};
    part.text = until_closed('[', ']');
    word.parts.push_back(std::move(part));
    return;
  }
  if (next == '\'' && !quoted) return ansi_quotes(word);
  if (next == '"' && !quoted) {
    advance();
    return double_quotes(word);
  }
  Part part{.kind = Part::Kind::kParameter, .quoted = quoted};
  if (is_name_start(next)) {
    advance();
    while (is_name_start(peek()) || is_digit_of_name(peek())) {
      part.text += peek();
      advance();
    }
  } else if (is_digit_of_name(next) || (next != '\0' && kSpecialParameters.find(next) != std::string_view::npos)) {
    part.text = next;
    advance(2);
  } else {
    add(word, '$', quoted);
    return advance();
  }
  word.parts.push_back(std::move(part));
}

// After the name: the operator and its words, up to "}".
void Cursor::operation(Part& part, bool quoted) {
  if (peek() == '}') return;
  for (const std::string_view candidate : kOperators) {
    if (!at(candidate)) continue;
    part.op = candidate;
    break;
  }
  if (part.op.empty()) fail("${" + part.text + "...} has an operator that is not known");
  advance(part.op.size());
  const bool replaces = part.op[0] == '/';
  const bool slices = part.op == ":";
  // A pattern is one of its own, in quotes or not; what stands in for a value is as quoted as the whole.
  const bool inner =
      quoted && (part.op[0] == ':' || std::string_view("-=?+").find(part.op[0]) != std::string_view::npos);
  part.argument = std::make_shared<const Word>(word_until(replaces ? "/}" : slices ? ":}" : "}", inner));
  if ((replaces && peek() == '/') || (slices && peek() == ':')) {
    advance();
    part.second = std::make_shared<const Word>(word_until("}", slices && quoted));
  }
}

void Cursor::braces(Word& word, bool quoted) {
  const Counted depth = nested();
  advance(2);
  Part part{.kind = Part::Kind::kParameter, .quoted = quoted};
  if (peek() == '#' && peek(1) != '}' && peek(1) != ':' && peek(1) != '#') {
    part.length = true;
    advance();
  } else if (peek() == '!' && (is_name_start(peek(1)) || is_digit_of_name(peek(1)))) {
    part.indirect = true;
    advance();
  }
  if (is_name_start(peek())) {
    while (is_name_start(peek()) || is_digit_of_name(peek())) {
      part.text += peek();
      advance();
    }
  } else if (is_digit_of_name(peek())) {
    while (is_digit_of_name(peek())) {
      part.text += peek();
      advance();
    }
  } else if (peek() != '\0' && kSpecialParameters.find(peek()) != std::string_view::npos) {
    part.text = peek();
    advance();
  } else {
    fail("${ is followed by no name");
  }
  if (peek() == '[') {
    advance();
    part.index = std::make_shared<const Word>(word_until("]", false));
    if (peek() != ']') fail("a [ is not closed");
    advance();
  }
  operation(part, quoted);
  if (peek() != '}') fail("a ${ is not closed");
  advance();
  word.parts.push_back(std::move(part));
}

// One character, or what stands behind it.
void Cursor::one(Word& word, bool quoted) {
  switch (peek()) {
    case '\\':
      return escape(word, quoted);
    case '\'':
      if (!quoted) return single_quotes(word);
      break;
    case '"':
      return double_quotes(word);
    case '$':
      return dollar(word, quoted);
    case '`':
      return backquotes(word, quoted);
    default:
      break;
  }
  add(word, peek(), quoted);
  advance();
}

Word Cursor::word_until(std::string_view ends, bool quoted) {
  Word word;
  word.line = line_;
  while (!done() && ends.find(peek()) == std::string_view::npos) one(word, quoted);
  return word;
}

// (a|b) of an extended pattern, (a|b) of a regular expression: it belongs to the word.
void Cursor::bracketed(Word& word, char open) {
  const Counted depth = nested();
  add(word, open, false);
  advance();
  while (!done() && peek() != ')') {
    if (peek() == '(') {
      bracketed(word, '(');
    } else {
      one(word, false);
    }
  }
  if (done()) fail("a ( is not closed");
  add(word, ')', false);
  advance();
}

bool Cursor::word(Word& word, WordPlace place) {
  skip_blanks();
  word.line = line_;
  const std::size_t begin = position_;
  while (!done()) {
    const char c = peek();
    const bool extended = place == WordPlace::kPattern && std::string_view("?*+@!").find(c) != std::string_view::npos;
    if (extended && peek(1) == '(') {
      add(word, c, false);
      advance();
      bracketed(word, '(');
    } else if (place == WordPlace::kRegex && c == '(') {
      bracketed(word, '(');
    } else if (place == WordPlace::kRegex && c == '|' && peek(1) != '|') {
      add(word, c, false);
      advance();
    } else if (place == WordPlace::kCommand && (at("<(") || at(">(")) && position_ == begin) {
      command_in(word, true, Part::Kind::kProcess);
    } else if (ends_word(c) || (c == '\r' && peek(1) == '\n')) {
      break;
    } else {
      one(word, false);
    }
  }
  return position_ != begin;
}

Word parse_quoted(std::string_view text, int line) {
  Cursor cursor(text, line);
  Word word;
  word.line = line;
  Word piece;
  while (!cursor.done()) {
    // Quotes are characters here.
    if (cursor.peek() == '"') {
      const bool fresh = word.parts.empty() || word.parts.back().kind != Part::Kind::kText;
      if (fresh) word.parts.push_back(Part{.quoted = true});
      word.parts.back().text += '"';
      cursor.advance();
      continue;
    }
    piece = cursor.word_until("\"", true);
    for (Part& part : piece.parts) word.parts.push_back(std::move(part));
  }
  return word;
}

}  // namespace debubble::shell
