#include "formats/shell/parser.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "formats/shell/command_parts.hpp"
#include "formats/shell/counted.hpp"
#include "formats/shell/cursor.hpp"
#include "formats/shell/test_parser.hpp"

namespace debubble::shell {
namespace {

using Kind = Command::Kind;

constexpr int kDeepestCommand = 100;

constexpr std::array<std::string_view, 6> kDeclarations{"declare", "typeset", "local", "export", "readonly", "integer"};

bool is_declaration(const std::string& word) {
  return std::find(kDeclarations.begin(), kDeclarations.end(), word) != kDeclarations.end();
}

class Parser : private CommandParts {
 public:
  Parser(Cursor& cursor, int depth) : CommandParts(cursor), depth_(depth) {}

  // Up to the end, to ")" of what surrounds it, or to one of the reserved words, which stay.
  CommandPointer list(const std::vector<std::string_view>& ends, bool inside) {
    const Counted depth = nested();
    auto list = make(Kind::kList);
    while (true) {
      skip_lines();
      if (cursor_.done() || (inside && cursor_.peek() == ')') || at_word(ends) || cursor_.at(";;") ||
          cursor_.at(";&")) {
        break;
      }
      list->children.push_back(and_or());
      cursor_.skip_blanks();
      if (cursor_.at(";;") || cursor_.at(";&")) break;
      const char c = cursor_.peek();
      if (c == '&') {
        auto background = make(Kind::kGroup);
        background->background = true;
        background->children.push_back(list->children.back());
        list->children.back() = background;
      }
      if (c == ';' || c == '&') {
        cursor_.advance();
      } else if (c == '\n') {
        skip_lines();
      } else if (!cursor_.done() && !(inside && c == ')') && !at_word(ends)) {
        cursor_.fail(std::string("\"") + c + "\" stands where a command should end");
      }
    }
    return list;
  }

  CommandPointer script() {
    CommandPointer commands = list({}, false);
    if (!cursor_.done()) cursor_.fail("a \")\" or \";;\" closes nothing");
    return commands;
  }

 private:
  [[nodiscard]] Counted nested() {
    if (depth_ >= kDeepestCommand) cursor_.fail("commands are nested more than 100 deep");
    return Counted(depth_);
  }

  std::shared_ptr<Command> make(Kind kind) const {
    auto command = std::make_shared<Command>();
    command->kind = kind;
    command->line = cursor_.line();
    return command;
  }

  // Does a reserved word stand here?
  bool at_word(std::string_view word) const {
    if (!cursor_.at(word)) return false;
    const char after = cursor_.peek(word.size());
    return after == '\0' || std::string_view(" \t\r\n;&|<>()").find(after) != std::string_view::npos;
  }

  bool at_word(const std::vector<std::string_view>& words) const {
    return std::any_of(words.begin(), words.end(), [this](std::string_view word) { return at_word(word); });
  }

  void expect(std::string_view word) {
    skip_lines();
    if (!at_word(word)) cursor_.fail("\"" + std::string(word) + "\" is missing");
    cursor_.advance(word.size());
  }

  CommandPointer and_or() {
    CommandPointer left = pipeline();
    while (true) {
      cursor_.skip_blanks();
      const bool both = cursor_.at("&&");
      if (!both && !cursor_.at("||")) return left;
      cursor_.advance(2);
      skip_lines();
      auto command = make(both ? Kind::kAnd : Kind::kOr);
      command->children = {left, pipeline()};
      left = command;
    }
  }

  CommandPointer pipeline() {
    cursor_.skip_blanks();
    bool negated = false;
    while (at_word("!") || at_word("time")) {
      const bool time = cursor_.peek() == 't';
      if (!time) negated = !negated;
      cursor_.advance(time ? 4 : 1);
      cursor_.skip_blanks();
      if (time && at_word("-p")) cursor_.advance(2);
      cursor_.skip_blanks();
    }
    auto pipeline = make(Kind::kPipeline);
    pipeline->negated = negated;
    pipeline->children.push_back(command());
    while (true) {
      cursor_.skip_blanks();
      if (cursor_.peek() != '|' || cursor_.peek(1) == '|') break;
      cursor_.advance(cursor_.peek(1) == '&' ? 2 : 1);
      skip_lines();
      pipeline->children.push_back(command());
    }
    if (pipeline->children.size() == 1 && !negated) return pipeline->children.front();
    return pipeline;
  }

  CommandPointer command() {
    const Counted depth = nested();
    cursor_.skip_blanks();
    std::shared_ptr<Command> compound = compound_command();
    if (!compound) return simple();
    redirections(*compound);
    return compound;
  }

  std::shared_ptr<Command> compound_command() {
    if (cursor_.at("((")) {
      const Cursor before = cursor_;
      try {
        auto command = make(Kind::kArithmetic);
        cursor_.advance(2);
        command->arithmetic.push_back(cursor_.arithmetic());
        return command;
      } catch (const SyntaxError&) {
        cursor_ = before;  // ( (...) ...)
      }
    }
    if (cursor_.peek() == '(') {
      auto command = make(Kind::kSubshell);
      cursor_.advance();
      command->children.push_back(list({}, true));
      close(')');
      return command;
    }
    if (at_word("{")) {
      auto command = make(Kind::kGroup);
      cursor_.advance();
      command->children.push_back(list({"}"}, false));
      expect("}");
      return command;
    }
    if (at_word("if")) return if_command();
    if (at_word("while") || at_word("until")) return while_command();
    if (at_word("for")) return for_command();
    if (at_word("case")) return case_command();
    if (at_word("[[")) {
      auto command = make(Kind::kTest);
      cursor_.advance(2);
      command->test = parse_test(cursor_);
      return command;
    }
    if (at_word("function")) return function_command();
    if (at_word("select") || at_word("coproc")) cursor_.fail("`select` and `coproc` are not read");
    return nullptr;
  }

  void close(char c) {
    skip_lines();
    if (cursor_.peek() != c) cursor_.fail(std::string("\"") + c + "\" is missing");
    cursor_.advance();
  }

  std::shared_ptr<Command> if_command() {
    auto command = make(Kind::kIf);
    cursor_.advance(2);
    while (true) {
      command->children.push_back(list({"then"}, false));
      expect("then");
      command->children.push_back(list({"elif", "else", "fi"}, false));
      skip_lines();
      if (!at_word("elif")) break;
      cursor_.advance(4);
    }
    if (at_word("else")) {
      cursor_.advance(4);
      command->children.push_back(list({"fi"}, false));
    }
    expect("fi");
    return command;
  }

  CommandPointer do_body() {
    expect("do");
    CommandPointer body = list({"done"}, false);
    expect("done");
    return body;
  }

  std::shared_ptr<Command> while_command() {
    auto command = make(Kind::kWhile);
    command->until = at_word("until");
    cursor_.advance(5);
    command->children.push_back(list({"do"}, false));
    command->children.push_back(do_body());
    return command;
  }

  std::string name() {
    std::string name;
    cursor_.skip_blanks();
    while (std::isalnum(static_cast<unsigned char>(cursor_.peek())) != 0 || cursor_.peek() == '_') {
      name += cursor_.peek();
      cursor_.advance();
    }
    return name;
  }

  std::shared_ptr<Command> for_command() {
    auto command = make(Kind::kFor);
    cursor_.advance(3);
    cursor_.skip_blanks();
    if (cursor_.at("((")) {
      command->kind = Kind::kForArithmetic;
      cursor_.advance(2);
      const std::string all = cursor_.arithmetic();
      const std::size_t first = all.find(';');
      const std::size_t second = first == std::string::npos ? first : all.find(';', first + 1);
      if (second == std::string::npos) cursor_.fail("for (( )) needs three expressions");
      command->arithmetic = {all.substr(0, first), all.substr(first + 1, second - first - 1), all.substr(second + 1)};
    } else {
      command->name = name();
      if (command->name.empty()) cursor_.fail("`for` is followed by no name");
      skip_lines();
      if (at_word("in")) {
        command->has_list = true;
        cursor_.advance(2);
        for (Word word; cursor_.word(word); word = Word{}) command->words.push_back(word);
      }
    }
    cursor_.skip_blanks();
    if (cursor_.peek() == ';') cursor_.advance();
    skip_lines();
    if (at_word("{")) {
      cursor_.advance();
      command->children.push_back(list({"}"}, false));
      expect("}");
    } else {
      command->children.push_back(do_body());
    }
    return command;
  }

  std::shared_ptr<Command> case_command() {
    auto command = make(Kind::kCase);
    cursor_.advance(4);
    Word subject;
    if (!cursor_.word(subject)) cursor_.fail("`case` is followed by no word");
    command->words.push_back(std::move(subject));
    expect("in");
    while (true) {
      skip_lines();
      if (at_word("esac")) break;
      if (cursor_.done()) cursor_.fail("\"esac\" is missing");
      CaseClause clause;
      if (cursor_.peek() == '(') cursor_.advance();
      while (true) {
        Word pattern;
        if (!cursor_.word(pattern, WordPlace::kPattern)) cursor_.fail("a pattern of `case` is missing");
        clause.patterns.push_back(std::move(pattern));
        cursor_.skip_blanks();
        if (cursor_.peek() != '|') break;
        cursor_.advance();
      }
      close(')');
      clause.body = list({"esac"}, false);
      for (const std::string_view end : {";;&", ";;", ";&"}) {
        if (!cursor_.at(end)) continue;
        clause.end = end;
        cursor_.advance(end.size());
        break;
      }
      command->clauses.push_back(std::move(clause));
    }
    expect("esac");
    return command;
  }

  std::shared_ptr<Command> function_command() {
    auto command = make(Kind::kFunction);
    cursor_.advance(8);
    Word word;
    cursor_.skip_blanks();
    while (!cursor_.done() && std::string_view(" \t\n(){};").find(cursor_.peek()) == std::string_view::npos) {
      command->name += cursor_.peek();
      cursor_.advance();
    }
    cursor_.skip_blanks();
    if (cursor_.at("()")) cursor_.advance(2);
    return function_body(command);
  }

  std::shared_ptr<Command> function_body(std::shared_ptr<Command> command) {
    skip_lines();
    std::shared_ptr<Command> body = compound_command();
    if (!body) cursor_.fail("the body of a function must be { ... }");
    redirections(*body);
    command->children.push_back(body);
    return command;
  }

  CommandPointer simple() {
    auto command = make(Kind::kSimple);
    while (true) {
      if (redirection(*command)) continue;
      cursor_.skip_blanks();
      Assignment assigned;
      const bool declares = !command->words.empty() && command->words.front().parts.size() == 1 &&
                            is_declaration(command->words.front().parts.front().text);
      if ((command->words.empty() || declares) && assignment(assigned)) {
        (command->words.empty() ? command->assignments : command->declared).push_back(std::move(assigned));
        continue;
      }
      Word word;
      if (!cursor_.word(word)) break;
      if (command->words.empty() && is_function_head(word)) {
        cursor_.skip_blanks();
        cursor_.advance();
        close(')');
        command->kind = Kind::kFunction;
        command->name = word.parts.front().text;
        return function_body(command);
      }
      command->words.push_back(std::move(word));
    }
    if (command->words.empty() && command->assignments.empty() && command->redirections.empty()) {
      cursor_.fail(cursor_.done() ? "the text ends where a command should be"
                                  : std::string("\"") + cursor_.peek() + "\" stands where a command should begin");
    }
    return command;
  }

  // name ()
  bool is_function_head(const Word& word) const {
    if (word.parts.size() != 1 || word.parts.front().kind != Part::Kind::kText || word.parts.front().quoted)
      return false;
    std::size_t at = 0;
    while (cursor_.peek(at) == ' ') ++at;
    if (cursor_.peek(at) != '(') return false;
    ++at;
    while (cursor_.peek(at) == ' ') ++at;
    return cursor_.peek(at) == ')';
  }

  int depth_;
};

}  // namespace

CommandPointer parse_inside(Cursor& cursor, int depth) {
  CommandPointer body = Parser(cursor, depth).list({}, true);
  if (cursor.peek() != ')') cursor.fail("a ( is not closed");
  cursor.advance();
  return body;
}

CommandPointer parse_script(std::string_view text, int first_line) {
  Cursor cursor(text, first_line);
  return Parser(cursor, 0).script();
}

}  // namespace debubble::shell
