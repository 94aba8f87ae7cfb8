#include "formats/shell/test_parser.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace debubble::shell {
namespace {

constexpr std::array<std::string_view, 13> kComparisons{"==",  "=",   "!=",  "=~",  "-eq", "-ne", "-lt",
                                                        "-le", "-gt", "-ge", "-nt", "-ot", "-ef"};

class TestParser {
 public:
  explicit TestParser(Cursor& cursor) : cursor_(cursor) {}

  TestNode any() {
    TestNode left = all();
    while (take("||")) {
      TestNode node{.op = "||"};
      node.children = {std::move(left), all()};
      left = std::move(node);
    }
    return left;
  }

  void end() {
    if (!take("]]")) cursor_.fail("\"]]\" is missing");
  }

 private:
  void skip() {
    cursor_.skip_blanks();
    while (cursor_.peek() == '\n') {
      cursor_.advance();
      cursor_.skip_blanks();
    }
  }

  bool take(std::string_view text) {
    skip();
    if (!cursor_.at(text)) return false;
    cursor_.advance(text.size());
    return true;
  }

  TestNode all() {
    TestNode left = one();
    while (take("&&")) {
      TestNode node{.op = "&&"};
      node.children = {std::move(left), one()};
      left = std::move(node);
    }
    return left;
  }

  TestNode one() {
    skip();
    if (++depth_ > 100) cursor_.fail("tests are nested more than 100 deep");
    TestNode node;
    if (cursor_.peek() == '!' && (cursor_.peek(1) == ' ' || cursor_.peek(1) == '(')) {
      cursor_.advance();
      node.op = "!";
      node.children.push_back(one());
    } else if (cursor_.peek() == '(') {
      cursor_.advance();
      node = any();
      if (!take(")")) cursor_.fail("\")\" is missing");
    } else {
      node = comparison();
    }
    --depth_;
    return node;
  }

  static std::string plain(const Word& word) {
    const bool plain =
        word.parts.size() == 1 && word.parts.front().kind == Part::Kind::kText && !word.parts.front().quoted;
    return plain ? word.parts.front().text : "";
  }

  Word operand(WordPlace place = WordPlace::kPattern) {
    skip();
    Word word;
    if (cursor_.at("]]") || !cursor_.word(word, place)) cursor_.fail("a word of [[ ]] is missing");
    return word;
  }

  TestNode comparison() {
    TestNode node;
    Word first = operand();
    const std::string op = plain(first);
    skip();
    const bool unary = op.size() == 2 && op[0] == '-' && !cursor_.at("]]") && !cursor_.at("&&") && !cursor_.at("||");
    if (unary) {
      node.op = op;
      node.words.push_back(operand());
      return node;
    }
    node.words.push_back(std::move(first));
    node.op = "word";
    if (cursor_.peek() == '<' || cursor_.peek() == '>') {
      node.op = cursor_.peek();
      cursor_.advance();
      node.words.push_back(operand());
      return node;
    }
    for (const std::string_view candidate : kComparisons) {
      if (!cursor_.at(candidate)) continue;
      const char after = cursor_.peek(candidate.size());
      if (after != ' ' && after != '\t' && after != '\n' && after != '\\') continue;
      node.op = candidate == "=" ? "==" : candidate;
      cursor_.advance(candidate.size());
      node.words.push_back(operand(node.op == "=~" ? WordPlace::kRegex : WordPlace::kPattern));
      break;
    }
    return node;
  }

  Cursor& cursor_;
  int depth_ = 0;
};

}  // namespace

TestNode parse_test(Cursor& cursor) {
  TestParser parser(cursor);
  TestNode node = parser.any();
  parser.end();
  return node;
}

}  // namespace debubble::shell
