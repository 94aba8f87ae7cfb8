#include "formats/shell/command_parts.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

namespace debubble::shell {

void CommandParts::redirections(Command& command) {
  while (redirection(command)) {
  }
}

// "2>&1", "> file", "<<EOF"
bool CommandParts::redirection(Command& command) {
  cursor_.skip_blanks();
  std::size_t digits = 0;
  while (std::isdigit(static_cast<unsigned char>(cursor_.peek(digits))) != 0) ++digits;
  const char c = cursor_.peek(digits);
  if (c != '<' && c != '>' && !(digits == 0 && cursor_.at("&>"))) return false;
  if (digits == 0 && (cursor_.at("<(") || cursor_.at(">("))) return false;
  Redirection redirection;
  if (digits > 0) redirection.descriptor = std::min(cursor_.peek() - '0', 9);
  cursor_.advance(digits);
  for (const std::string_view op : {"<<<", "<<-", "<<", "<&", "<>", "<", "&>>", "&>", ">>", ">&", ">|", ">"}) {
    if (!cursor_.at(op)) continue;
    redirection.op = op;
    break;
  }
  cursor_.advance(redirection.op.size());
  if (redirection.op == "<<" || redirection.op == "<<-") {
    start_document(command, std::move(redirection));
    return true;
  }
  if (!cursor_.word(redirection.target)) cursor_.fail("a redirection goes nowhere");
  command.redirections.push_back(std::move(redirection));
  return true;
}

void CommandParts::start_document(Command& command, Redirection redirection) {
  Word end;
  if (!cursor_.word(end)) cursor_.fail("a here-document has no end word");
  PendingDocument document;
  document.tabs = redirection.op == "<<-";
  for (const Part& part : end.parts) {
    document.quoted = document.quoted || part.quoted;
    document.end += part.text;
  }
  redirection.op = "<<";
  document.at = command.redirections.size();
  command.redirections.push_back(std::move(redirection));
  document.command = &command;
  documents_.push_back(std::move(document));
}

void CommandParts::read_documents() {
  std::vector<PendingDocument> documents = std::move(documents_);
  documents_.clear();
  for (const PendingDocument& document : documents) read_document(document);
}

void CommandParts::read_document(const PendingDocument& document) {
  const int line = cursor_.line();
  std::string text;
  while (true) {
    if (cursor_.done()) break;  // bash takes what there is, with a warning
    std::string one;
    while (!cursor_.done() && cursor_.peek() != '\n') {
      one += cursor_.peek();
      cursor_.advance();
    }
    if (!cursor_.done()) cursor_.advance();
    if (!one.empty() && one.back() == '\r') one.pop_back();
    if (document.tabs) one.erase(0, std::min(one.find_first_not_of('\t'), one.size()));
    if (one == document.end) break;
    text += one + "\n";
  }
  Word& target = document.command->redirections[document.at].target;
  target.line = line;
  if (document.quoted) {
    target.parts.push_back(Part{.quoted = true, .text = text});
  } else {
    target = parse_quoted(text, line);
  }
}

bool CommandParts::assignment(Assignment& result) {
  std::size_t length = 0;
  const auto letter = [this](std::size_t at) {
    const char c = cursor_.peek(at);
    return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' ||
           (at > 0 && std::isdigit(static_cast<unsigned char>(c)) != 0);
  };
  while (letter(length)) ++length;
  if (length == 0) return false;
  const char after = cursor_.peek(length);
  if (after != '=' && !(after == '+' && cursor_.peek(length + 1) == '=') && after != '[') return false;
  const Cursor before = cursor_;
  result.name = std::string(cursor_.text().substr(cursor_.position(), length));
  cursor_.advance(length);
  if (after == '[') {
    cursor_.advance();
    result.index = std::make_shared<const Word>(cursor_.word_until("]\n", false));
    if (cursor_.peek() != ']' || (cursor_.peek(1) != '=' && cursor_.peek(1) != '+')) {
      cursor_ = before;
      return false;
    }
    cursor_.advance();
  }
  result.append = cursor_.peek() == '+';
  if (result.append) cursor_.advance();
  if (cursor_.peek() != '=') {
    cursor_ = before;
    return false;
  }
  cursor_.advance();
  if (cursor_.peek() == '(') {
    result.array = true;
    cursor_.advance();
    array_items(result);
  } else if (std::string_view(" \t\n;&|<>)").find(cursor_.peek()) == std::string_view::npos) {
    (void)cursor_.word(result.value);
  }
  result.value.line = cursor_.line();
  return true;
}

void CommandParts::array_items(Assignment& result) {
  while (true) {
    skip_lines();
    if (cursor_.peek() == ')') break;
    ArrayItem item;
    if (cursor_.peek() == '[') {
      const Cursor before = cursor_;
      cursor_.advance();
      Word index = cursor_.word_until("]\n", false);
      if (cursor_.at("]=")) {
        cursor_.advance(2);
        item.index = std::make_shared<const Word>(std::move(index));
        if (std::string_view(" \t\n)").find(cursor_.peek()) == std::string_view::npos) (void)cursor_.word(item.value);
        result.items.push_back(std::move(item));
        continue;
      }
      cursor_ = before;
    }
    if (!cursor_.word(item.value)) cursor_.fail("\")\" of an array is missing");
    result.items.push_back(std::move(item));
  }
  cursor_.advance();
}

void CommandParts::skip_lines() {
  while (true) {
    cursor_.skip_blanks();
    if (cursor_.peek() != '\n') return;
    cursor_.advance();
    if (!documents_.empty()) read_documents();
  }
}

}  // namespace debubble::shell
