// The syntax of bash as far as scripts that start training programs use it: words, commands, lists.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace debubble::shell {

struct Command;
using CommandPointer = std::shared_ptr<const Command>;

struct Word;

// A piece of a word: text, or something that is replaced.
struct Part {
  enum class Kind { kText, kParameter, kCommand, kArithmetic, kProcess };
  Kind kind = Kind::kText;
  bool quoted = false;
  std::string text{};  // the text; the parameter's name; the arithmetic expression as written
  // ${name[index]operator argument/second}
  std::shared_ptr<const Word> index{};
  std::string op{};
  std::shared_ptr<const Word> argument{};
  std::shared_ptr<const Word> second{};
  bool length = false;    // ${#name}
  bool indirect = false;  // ${!name}
  // $(body), <(body)
  CommandPointer body{};
};

struct Word {
  std::vector<Part> parts{};
  int line = 0;
};

struct ArrayItem {
  std::shared_ptr<const Word> index{};  // [index]=value
  Word value{};
};

struct Assignment {
  std::string name{};
  std::shared_ptr<const Word> index{};  // name[index]=value
  bool append = false;
  bool array = false;  // name=(items)
  Word value{};
  std::vector<ArrayItem> items{};
};

struct Redirection {
  int descriptor = -1;  // as written; -1: the operator's own
  std::string op{};     // "<", ">", ">>", ">&", "<&", "&>", "&>>", "<<", "<<<", ">|"
  Word target{};        // of a here-document its text
};

struct CaseClause {
  std::vector<Word> patterns{};
  CommandPointer body{};
  std::string end{};  // ";;", ";&", ";;&"
};

// [[ ... ]]: a tree of tests
struct TestNode {
  std::string op{};  // "&&", "||", "!", "word" (true where it is not empty), "-f", "==", "-eq", "=~", ...
  std::vector<Word> words{};
  std::vector<TestNode> children{};
};

struct Command {
  enum class Kind {
    kSimple,
    kPipeline,
    kAnd,
    kOr,
    kList,
    kIf,
    kCase,
    kFor,
    kForArithmetic,
    kWhile,
    kFunction,
    kSubshell,
    kGroup,
    kTest,
    kArithmetic
  };
  Kind kind = Kind::kSimple;
  int line = 0;
  std::vector<Assignment> assignments{};
  std::vector<Word> words{};           // of a simple command; what `for` and `case` go through
  std::vector<Assignment> declared{};  // of `declare`, `export`, `local`
  std::vector<Redirection> redirections{};
  std::vector<CommandPointer> children{};  // pipeline, list, both sides of && and ||; if: condition, body, ..., else
  std::vector<CaseClause> clauses{};
  TestNode test{};
  std::string name{};                   // of the function, of the variable of `for`
  std::vector<std::string> arithmetic;  // of (( )) and for (( ; ; ))
  bool negated = false;                 // ! pipeline
  bool until = false;
  bool has_list = false;    // for NAME in ...
  bool background = false;  // command &
};

}  // namespace debubble::shell
