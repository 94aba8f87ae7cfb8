#include "formats/shell/expansion.hpp"

#include <utility>

#include "formats/shell/braces.hpp"
#include "formats/shell/cursor.hpp"
#include "formats/shell/patterns.hpp"

namespace debubble::shell {
namespace {

constexpr std::size_t kLongestField = 4'000'000;

}  // namespace

void Expansion::word(const Word& word) {
  bool first = true;
  for (const Part& one : word.parts) {
    part(one, first);
    first = false;
  }
}

void Expansion::part(const Part& part, bool first) {
  switch (part.kind) {
    case Part::Kind::kText:
      if (splits_text_ && !part.quoted && mode_ == Mode::kFields) return split(part.text);
      return text(part.quoted ? part.text : tilde(part.text, first), part.quoted);
    case Part::Kind::kParameter:
      return parameter(part);
    case Part::Kind::kArithmetic: {
      const ArithmeticResult result = machine_.arithmetic(machine_.expanded(part.text));
      const std::string number =
          result.known ? std::to_string(result.value) : machine_.mark_of(result.causes, "$((" + part.text + "))");
      return value(number, part.quoted);
    }
    case Part::Kind::kCommand: {
      machine_.finish(0);
      std::string output = machine_.caught([&] { machine_.aside([&] { substituted(*part.body); }); });
      ++machine_.substitutions_;
      while (!output.empty() && output.back() == '\n') output.pop_back();
      return value(output, part.quoted);
    }
    case Part::Kind::kProcess: {
      const std::string output = machine_.caught([&] { machine_.aside([&] { (void)machine_.execute(*part.body); }); });
      return value(machine_.pipe_of(output), true);
    }
  }
}

// $(<file) prints the file; all else prints what its commands print.
void Expansion::substituted(const Command& body) {
  const Command* only = &body;
  while (only->kind == Command::Kind::kList && only->children.size() == 1) only = only->children.front().get();
  const bool file = only->kind == Command::Kind::kSimple && only->words.empty() && only->assignments.empty() &&
                    only->redirections.size() == 1 && only->redirections.front().op == "<" &&
                    only->redirections.front().descriptor <= 0;
  if (!file) {
    (void)machine_.execute(body);
    return;
  }
  const std::string path = machine_.single(only->redirections.front().target);
  const std::optional<std::string> content = machine_.read(path);
  machine_.print(content ? *content : machine_.unknown_output({"<", path}));
}

std::string Expansion::tilde(const std::string& text, bool first) const {
  const bool home = first && (text == "~" || text.starts_with("~/"));
  return home ? machine_.value_of("HOME") + text.substr(1) : text;
}

void Expansion::text(std::string_view text, bool quoted) {
  has_field_ = has_field_ || quoted || !text.empty();
  if (quoted && mode_ == Mode::kPattern) {
    field_ += escaped_for_pattern(text);
  } else if (quoted && mode_ == Mode::kRegex) {
    field_ += escaped_for_regex(text);
  } else {
    field_ += text;
  }
  machine_.spend(1 + text.size() / 64);
  if (field_.size() > kLongestField) throw SyntaxError(machine_.line(), "a word is longer than 4,000,000 characters");
}

void Expansion::value(const std::string& text_of_it, bool quoted) {
  if (quoted || mode_ != Mode::kFields) return text(text_of_it, quoted);
  split(text_of_it);
}

void Expansion::split(const std::string& text_of_it) {
  const std::string separators = machine_.separators();
  if (separators.empty() || has_mark(separators)) {
    if (!text_of_it.empty()) text(text_of_it, false);
    return;
  }
  bool pending = false;  // a separator was seen
  for (std::size_t k = 0; k < text_of_it.size(); ++k) {
    const char c = text_of_it[k];
    if (separators.find(c) == std::string::npos) {
      if (pending) end_field();
      pending = false;
      field_ += c;
      has_field_ = true;
      continue;
    }
    const bool blank = c == ' ' || c == '\t' || c == '\n';
    if (!blank) {  // each one separates
      if (pending) end_field();
      has_field_ = true;
    }
    if (has_field_) pending = true;
  }
  if (pending) end_field();
  machine_.spend(1 + text_of_it.size() / 64);
  if (fields_.size() > 200'000 || field_.size() > kLongestField) {
    throw SyntaxError(machine_.line(), "a command has more than 200,000 words");
  }
}

void Expansion::end_field() {
  if (has_field_) fields_.push_back(std::move(field_));
  field_.clear();
  has_field_ = false;
}

void Expansion::list(const Strings& words, bool quoted, bool joins) {
  if (mode_ != Mode::kFields || (joins && quoted)) {
    const std::string separator = joins ? machine_.separators().substr(0, 1) : " ";
    std::string all;
    for (std::size_t k = 0; k < words.size(); ++k) {
      if (k > 0) all += separator;
      all += words[k];
    }
    return text(all, quoted);
  }
  for (std::size_t k = 0; k < words.size(); ++k) {
    if (k > 0) end_field();
    if (quoted) {
      text(words[k], true);
    } else {
      split(words[k]);
    }
  }
}

void Expansion::parameter(const Part& part) {
  ParameterValue found = part.indirect ? indirect(part) : look_up(part);
  if (part.indirect && found.list && part.index) return list(found.words, part.quoted, found.joins);
  if (part.length) {
    std::int64_t length = 0;
    if (found.list) {
      length = static_cast<std::int64_t>(found.words.size());
    } else if (!found.words.empty()) {
      length = static_cast<std::int64_t>(found.words.front().size());
    }
    for (const std::string& word : found.words) {
      if (has_mark(word)) return value(machine_.mark_of(marks(word), "the length of " + part.text), part.quoted);
    }
    return value(std::to_string(length), part.quoted);
  }
  if (stand_in(part, found)) return;
  operate(part, found);
  if (found.list) {
    // "$@" without arguments is no word at all.
    return list(found.words, part.quoted, found.joins);
  }
  value(found.words.empty() ? "" : found.words.front(), part.quoted);
}

Strings Expansion::finish() {
  if (mode_ != Mode::kFields) return {field_};
  end_field();
  return std::move(fields_);
}

// ---- the machine's side

Strings Machine::fields(const Word& word) {
  Strings all;
  for (const Word& one : with_braces(word)) {
    Expansion expansion(*this, Expansion::Mode::kFields);
    expansion.word(one);
    for (std::string& field : expansion.finish()) all.push_back(std::move(field));
  }
  return all;
}

Strings Machine::fields(const std::vector<Word>& words) {
  Strings all;
  for (const Word& word : words) {
    for (std::string& field : fields(word)) all.push_back(std::move(field));
    if (all.size() > 200'000) throw SyntaxError(line_, "a command has more than 200,000 words");
  }
  return all;
}

std::string Machine::single(const Word& word) {
  Expansion expansion(*this, Expansion::Mode::kSingle);
  expansion.word(word);
  return expansion.finish().front();
}

std::string Machine::pattern(const Word& word) {
  Expansion expansion(*this, Expansion::Mode::kPattern);
  expansion.word(word);
  return expansion.finish().front();
}

std::string Machine::regex(const Word& word) {
  Expansion expansion(*this, Expansion::Mode::kRegex);
  expansion.word(word);
  return expansion.finish().front();
}

std::string Machine::expanded(const std::string& text) {
  if (text.find_first_of("$`\"'\\") == std::string::npos) return text;
  Cursor cursor(text, line_);
  Word word;
  std::string all;
  while (!cursor.done()) {
    if (cursor.peek() == '"') {
      cursor.advance();
      continue;
    }
    all += single(cursor.word_until("\"", true));
  }
  return all;
}

}  // namespace debubble::shell
