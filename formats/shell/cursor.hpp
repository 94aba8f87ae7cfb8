// A place in a script's text, and how words are read there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "formats/shell/counted.hpp"
#include "formats/shell/parser.hpp"

namespace debubble::shell {

enum class WordPlace { kCommand, kPattern, kRegex };

class Cursor {
 public:
  Cursor(std::string_view text, int line) : text_(text), line_(line) {}

  [[nodiscard]] bool done() const { return position_ >= text_.size(); }
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\0';
  }
  [[nodiscard]] bool at(std::string_view text) const { return text_.substr(position_, text.size()) == text; }
  void advance(std::size_t count = 1);
  [[nodiscard]] int line() const { return line_; }
  [[nodiscard]] std::size_t position() const { return position_; }
  [[nodiscard]] std::string_view text() const { return text_; }
  [[noreturn]] void fail(const std::string& what) const;

  // Blanks, continued lines and comments, not the end of the line.
  void skip_blanks();

  // Up to a blank or an operator. False where there is none.
  bool word(Word& word, WordPlace place = WordPlace::kCommand);
  // Up to one of the characters, which stays; blanks and operators belong to it.
  Word word_until(std::string_view ends, bool quoted);
  // What is between ( and ), which was read, as it stands; the closing one is read.
  std::string until_closed(char open, char close);
  // Up to "))" that closes what was opened.
  std::string arithmetic();

 private:
  [[nodiscard]] Counted nested();
  void add(Word& word, char c, bool quoted) const;
  void escape(Word& word, bool quoted);
  void single_quotes(Word& word);
  void ansi_quotes(Word& word);
  void double_quotes(Word& word);
  void dollar(Word& word, bool quoted);
  void braces(Word& word, bool quoted);
  void operation(Part& part, bool quoted);
  void command_in(Word& word, bool quoted, Part::Kind kind);
  void backquotes(Word& word, bool quoted);
  void bracketed(Word& word, char open);
  void one(Word& word, bool quoted);

  std::string_view text_;
  std::size_t position_ = 0;
  int line_;
  int depth_ = 0;
};

// The commands up to ")", which is read.
CommandPointer parse_inside(Cursor& cursor, int depth);

}  // namespace debubble::shell
