#include "formats/megatron/shell_words.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

namespace debubble {
namespace {

using Words = std::vector<std::string>;

bool is_name_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool is_option(const std::string& word) { return word.starts_with("--") && word.size() > 2; }

Words split(const std::string& text) {
  std::istringstream stream(text);
  Words words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

// a * b + c over whole numbers; nothing for anything else.
class Arithmetic {
 public:
  explicit Arithmetic(std::string text) : text_(std::move(text)) { std::erase(text_, ' '); }

  std::optional<long long> value() {
    const std::optional<long long> result = sum();
    return position_ == text_.size() ? result : std::nullopt;
  }

 private:
  [[nodiscard]] bool take(char c) {
    if (position_ >= text_.size() || text_[position_] != c) return false;
    ++position_;
    return true;
  }

  std::optional<long long> sum() {
    std::optional<long long> left = product();
    while (left) {
      const bool plus = take('+');
      if (!plus && !take('-')) break;
      const std::optional<long long> right = product();
      if (!right) return std::nullopt;
      left = plus ? *left + *right : *left - *right;
    }
    return left;
  }

  std::optional<long long> product() {
    std::optional<long long> left = factor();
    while (left) {
      const bool times = take('*');
      if (!times && !take('/')) break;
      const std::optional<long long> right = factor();
      constexpr long long kLargest = 1LL << 31;
      if (!right || std::abs(*left) > kLargest || std::abs(*right) > kLargest || (!times && *right == 0)) {
        return std::nullopt;
      }
      left = times ? *left * *right : *left / *right;
    }
    return left;
  }

  std::optional<long long> factor() {
    if (take('(')) {
      const std::optional<long long> inside = sum();
      return take(')') ? inside : std::nullopt;
    }
    long long number = 0;
    const char* begin = text_.data() + position_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), number);
    if (error != std::errc{}) return std::nullopt;
    position_ += static_cast<std::size_t>(end - begin);
    return number;
  }

  std::string text_;
  std::size_t position_ = 0;
};

class Script {
 public:
  explicit Script(std::string_view text) : text_(text) {}

  // One list of words per command.
  std::vector<Words> commands() {
    while (position_ < text_.size()) step();
    end_command();
    return std::move(commands_);
  }

 private:
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\0';
  }

  void step() {
    const char c = peek();
    if (c == '\\' && peek(1) == '\n') {
      position_ += 2;
      end_word();
    } else if (c == '\\' && peek(1) == '\r' && peek(2) == '\n') {
      position_ += 3;
      end_word();
    } else if (c == '#' && !in_word_) {
      while (position_ < text_.size() && peek() != '\n') ++position_;
    } else if (c == '\'') {
      quoted();
    } else if (c == '"') {
      double_quoted();
    } else if (c == '$') {
      expand(false);
    } else if (c == '\\') {
      add(peek(1));
      position_ += 2;
    } else {
      plain(c);
    }
  }

  void plain(char c) {
    ++position_;
    if (c == '(' && in_word_ && word_.ends_with("=")) {
      array_ = word_.substr(0, word_.size() - 1);
      word_.clear();
      in_word_ = false;
    } else if (c == ')' && !array_.empty()) {
      end_word();
      end_array();
    } else if (c == '\n' || c == ';' || c == '|' || c == '&') {
      if (array_.empty()) {
        end_command();
      } else {
        end_word();
      }
    } else if (c == ' ' || c == '\t' || c == '\r') {
      end_word();
    } else {
      add(c);
    }
  }

  void add(char c) {
    if (c == '\0') return;
    word_ += c;
    in_word_ = true;
  }

  void quoted() {
    in_word_ = true;
    for (++position_; position_ < text_.size() && peek() != '\''; ++position_) word_ += peek();
    ++position_;
  }

  void double_quoted() {
    in_word_ = true;
    ++position_;
    while (position_ < text_.size() && peek() != '"') {
      if (peek() == '$') {
        expand(true);
      } else if (peek() == '\\' && peek(1) == '\n') {
        position_ += 2;
      } else {
        if (peek() == '\\') ++position_;
        word_ += peek();
        ++position_;
      }
    }
    ++position_;
  }

  // From the "$" on.
  void expand(bool in_quotes) {
    ++position_;
    if (peek() == '(' && peek(1) == '(') return arithmetic();
    if (peek() == '(') return insert("$(" + until_closed('(', ')') + ")", true);
    if (peek() != '{') {
      std::string name;
      while (is_name_character(peek())) name += text_[position_++];
      return insert_variable(name, in_quotes);
    }
    const std::string inside = until_closed('{', '}');
    std::size_t end = 0;
    while (end < inside.size() && is_name_character(inside[end])) ++end;
    const std::string name = inside.substr(0, end);
    const std::string rest = inside.substr(end);
    if (rest == "[@]" || rest == "[*]") return insert_array(name);
    const bool has_default = rest.starts_with(":-") || rest.starts_with(":=");
    if (has_default && !variables_.contains(name)) return insert(rest.substr(2), in_quotes);
    insert_variable(name, in_quotes);
  }

  // What is between the brackets, which may be nested.
  std::string until_closed(char open, char close) {
    std::string inside;
    int depth = 0;
    for (; position_ < text_.size(); ++position_) {
      const char c = peek();
      if (c == open && depth++ == 0) continue;
      if (c == close && --depth == 0) break;
      inside += c;
    }
    ++position_;
    return inside;
  }

  void arithmetic() {
    std::string inside = until_closed('(', ')');
    if (inside.starts_with("(")) inside = inside.substr(1, inside.size() - 2);
    std::string replaced;
    for (std::size_t k = 0; k < inside.size();) {
      std::string name;
      std::size_t end = k + (inside[k] == '$' ? 1U : 0U);
      if (end < inside.size() && inside[end] == '{') ++end;
      const bool starts = end < inside.size() && is_name_character(inside[end]) &&
                          std::isdigit(static_cast<unsigned char>(inside[end])) == 0;
      while (starts && end < inside.size() && is_name_character(inside[end])) name += inside[end++];
      if (!starts) {
        if (inside[k] != '}') replaced += inside[k];
        ++k;
        continue;
      }
      const auto found = variables_.find(name);
      replaced += found == variables_.end() ? name : found->second;
      k = end;
    }
    const std::optional<long long> value = Arithmetic(replaced).value();
    insert(value ? std::to_string(*value) : "$((" + inside + "))", true);
  }

  void insert_variable(const std::string& name, bool in_quotes) {
    const auto found = variables_.find(name);
    if (found != variables_.end()) return insert(found->second, in_quotes);
    if (arrays_.contains(name)) return insert_array(name);
    insert("${" + name + "}", true);
  }

  void insert_array(const std::string& name) {
    const auto found = arrays_.find(name);
    if (found == arrays_.end()) return insert_variable(name, false);
    for (const std::string& item : found->second) {
      word_ += item;
      in_word_ = true;
      end_word();
    }
  }

  // Outside of quotes blanks in a value separate words.
  void insert(const std::string& value, bool in_quotes) {
    if (in_quotes) {
      word_ += value;
      in_word_ = in_word_ || !value.empty();
      return;
    }
    const Words words = split(value);
    for (std::size_t k = 0; k < words.size(); ++k) {
      if (k > 0) end_word();
      word_ += words[k];
      in_word_ = true;
    }
  }

  void end_word() {
    if (in_word_) words_.push_back(word_);
    word_.clear();
    in_word_ = false;
  }

  void end_array() {
    const bool append = array_.ends_with("+");
    Words& items = arrays_[append ? array_.substr(0, array_.size() - 1) : array_];
    if (!append) items.clear();
    items.insert(items.end(), words_.begin(), words_.end());
    words_.clear();
    array_.clear();
  }

  void end_command() {
    end_word();
    std::size_t first = 0;
    while (first < words_.size() && (words_[first] == "export" || words_[first] == "local")) ++first;
    for (; first < words_.size(); ++first) {
      const std::size_t equals = words_[first].find('=');
      const bool assignment =
          equals != std::string::npos && equals > 0 &&
          std::all_of(words_[first].begin(), words_[first].begin() + static_cast<long>(equals), is_name_character);
      if (!assignment) break;
      variables_[words_[first].substr(0, equals)] = words_[first].substr(equals + 1);
    }
    if (first < words_.size()) {
      commands_.emplace_back(words_.begin() + static_cast<long>(first), words_.end());
    }
    words_.clear();
  }

  std::string_view text_;
  std::size_t position_ = 0;
  std::string word_;
  bool in_word_ = false;
  std::string array_;  // name of the array that is being read
  Words words_;
  std::vector<Words> commands_;
  std::map<std::string, std::string> variables_;
  std::map<std::string, Words> arrays_;
};

// "--name: value" of a recipe: true is the bare flag, false nothing.
std::optional<std::string> recipe_line(const std::string& line) {
  const std::size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string::npos || line.compare(begin, 2, "--") != 0) return std::nullopt;
  const std::size_t colon = line.find(':', begin);
  const std::size_t blank = line.find_first_of(" \t=", begin);
  if (colon == std::string::npos || blank < colon) return std::nullopt;
  const std::string name = line.substr(begin, colon - begin);
  std::string value = line.substr(colon + 1);
  if (const std::size_t comment = value.find(" #"); comment != std::string::npos) value.resize(comment);
  const Words words = split(value);
  if (words.size() == 1 && words[0] == "true") return name;
  if (words.size() == 1 && words[0] == "false") return "";
  return name + " " + value;
}

std::string recipe_to_script(std::string_view text) {
  std::istringstream lines{std::string(text)};
  std::string script;
  for (std::string line; std::getline(lines, line);) {
    const std::optional<std::string> words = recipe_line(line);
    if (words) script += *words + "\n";
  }
  return script;
}

// Clusters' launchers hand the command to a shell: srun ... sh -c "python ...". Then its words are the command's.
std::vector<Words> without_shells(const std::vector<Words>& commands) {
  std::vector<Words> plain;
  for (const Words& command : commands) {
    const auto flag = std::find_if(command.begin(), command.end(),
                                   [](const std::string& word) { return word == "-c" || word == "-lc"; });
    const bool shell =
        flag != command.begin() && flag != command.end() && flag + 1 != command.end() && (flag - 1)->ends_with("sh");
    if (!shell) {
      plain.push_back(command);
      continue;
    }
    for (const Words& inner : Script(*(flag + 1)).commands()) {
      plain.emplace_back(command.begin(), flag - 1);
      plain.back().insert(plain.back().end(), inner.begin(), inner.end());
    }
  }
  return plain;
}

}  // namespace

LaunchWords launch_words(std::string_view script) {
  const std::string recipe = recipe_to_script(script);
  const std::vector<Words> commands = without_shells(Script(recipe.empty() ? script : recipe).commands());
  const Words* longest = nullptr;
  long most = 0;
  Words bare;
  for (const Words& command : commands) {
    const long options = std::count_if(command.begin(), command.end(), is_option);
    if (options > 0 && is_option(command.front())) bare.insert(bare.end(), command.begin(), command.end());
    if (options <= most) continue;
    most = options;
    longest = &command;
  }
  LaunchWords words;
  if (longest == nullptr) return words;
  if (is_option(longest->front())) {
    words.program = std::move(bare);
    return words;
  }
  const auto program =
      std::find_if(longest->begin(), longest->end(), [](const std::string& word) { return word.ends_with(".py"); });
  const auto first =
      program == longest->end() ? std::find_if(longest->begin(), longest->end(), is_option) : program + 1;
  words.launcher.assign(longest->begin(), program == longest->end() ? first : program);
  words.program.assign(first, longest->end());
  return words;
}

}  // namespace debubble
