#include "studies/check/suite_lines.hpp"

#include <cstddef>
#include <string>

namespace debubble {
namespace {

// Walks valid JSON and keeps no more than it needs: line, nesting, and the last string at the top level.
class LineFinder {
 public:
  explicit LineFinder(std::string_view text) : text_(text) {}

  std::vector<int> find() {
    for (at_ = 0; at_ < text_.size(); ++at_) step(text_[at_]);
    return lines_;
  }

 private:
  void step(char c) {
    switch (c) {
      case '\n':
        ++line_;
        return;
      case '"':
        return skip_string();
      case '[':
      case '{':
        item_begins();
        inside_ = inside_ || (depth_ == 1 && key_ == "scenarios" && c == '[');
        ++depth_;
        return;
      case ']':
      case '}':
        --depth_;
        if (depth_ == 1) inside_ = false;
        return;
      default:
        return;
    }
  }

  // Items that are objects or arrays; others are no scenarios, and the reader refuses them.
  void item_begins() {
    if (inside_ && depth_ == 2) lines_.push_back(line_);
  }

  void skip_string() {
    std::string string;
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\') ++at_;
      if (at_ < text_.size()) string += text_[at_];
    }
    if (depth_ == 1) key_ = string;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
  int depth_ = 0;
  bool inside_ = false;
  std::string key_;
  std::vector<int> lines_;
};

}  // namespace

std::vector<int> scenario_lines(std::string_view text) { return LineFinder(text).find(); }

}  // namespace debubble
