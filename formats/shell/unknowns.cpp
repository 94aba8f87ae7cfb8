#include "formats/shell/unknowns.hpp"

#include <algorithm>
#include <utility>

namespace debubble::shell {
namespace {

constexpr std::size_t kMostReadings = 16;

}  // namespace

int Unknowns::add(Unknown unknown) {
  unknowns_.push_back(std::move(unknown));
  return static_cast<int>(unknowns_.size()) - 1;
}

int Unknowns::named(const std::string& name, const std::string& what, int line) {
  const auto found = named_.find(name);
  if (found != named_.end()) return found->second;
  const int number = add({.what = what, .setter = name, .line = line, .outside = true});
  named_[name] = number;
  return number;
}

int Unknowns::variable(const std::string& name, int line) {
  return named(name, "the environment variable " + name, line);
}

int Unknowns::positional(const std::string& name, int line) {
  return named(name, "the script's argument $" + name, line);
}

int Unknowns::derived(const std::vector<int>& causes, const std::string& what, int line) {
  return add({.what = what, .line = line, .causes = causes});
}

void Unknowns::name_setter(int number, const std::string& name) {
  Unknown& unknown = unknowns_[static_cast<std::size_t>(number)];
  if (!unknown.setter.empty()) return;
  for (const int root : roots({number})) {
    if (root != number && !at(root).setter.empty()) return;
  }
  unknown.setter = name;
}

std::set<int> Unknowns::roots(const std::vector<int>& numbers) const {
  std::set<int> seen;
  std::set<int> roots;
  std::vector<int> open = numbers;
  while (!open.empty()) {
    const int next = open.back();
    open.pop_back();
    if (!has(next) || !seen.insert(next).second) continue;
    if (at(next).causes.empty() || !at(next).setter.empty()) {
      roots.insert(next);
      continue;
    }
    for (const int cause : at(next).causes) open.push_back(cause);
  }
  return roots;
}

std::vector<std::string> Unknowns::readings(const std::string& text) const {
  std::vector<std::string> done;
  std::vector<std::string> open{text};
  while (!open.empty()) {
    const std::string one = open.back();
    open.pop_back();
    const std::vector<int> inside = marks(one);
    const auto choice = std::find_if(inside.begin(), inside.end(),
                                     [this](int number) { return has(number) && !at(number).alternatives.empty(); });
    if (choice == inside.end()) {
      done.push_back(one);
      continue;
    }
    if (done.size() + open.size() + at(*choice).alternatives.size() > kMostReadings || one.size() > 65536)
      return {text};
    for (const std::vector<std::string>& words : at(*choice).alternatives) {
      open.push_back(with_words(one, *choice, words));
    }
  }
  return done;
}

std::string mark(int number) { return "\x01" + std::to_string(number) + "\x02"; }

std::string with_words(const std::string& text, int number, const std::vector<std::string>& words) {
  std::string value;
  for (const std::string& word : words) value += (value.empty() ? "" : " ") + word;
  const std::string sign = mark(number);
  std::string changed;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t next = text.find(sign, from);
    changed += text.substr(from, next == std::string::npos ? next : next - from);
    if (next == std::string::npos) break;
    changed += value;
    from = next + sign.size();
  }
  return changed;
}

bool is_mark(std::string_view text) {
  return text.size() > 2 && text.front() == '\x01' && text.find('\x02') == text.size() - 1;
}

std::vector<int> marks(std::string_view text) {
  std::vector<int> numbers;
  for (std::size_t at = text.find('\x01'); at != std::string_view::npos; at = text.find('\x01', at + 1)) {
    int number = 0;
    for (std::size_t k = at + 1; k < text.size() && text[k] >= '0' && text[k] <= '9' && number < 100'000'000; ++k) {
      number = number * 10 + (text[k] - '0');
    }
    if (std::find(numbers.begin(), numbers.end(), number) == numbers.end()) numbers.push_back(number);
  }
  return numbers;
}

std::string shown(const std::string& text, const Unknowns& unknowns) {
  std::string result;
  for (std::size_t k = 0; k < text.size(); ++k) {
    if (text[k] != '\x01') {
      result += text[k];
      continue;
    }
    const std::size_t end = text.find('\x02', k);
    if (end == std::string::npos) break;
    const std::vector<int> number = marks(text.substr(k, end - k + 1));
    const bool known = !number.empty() && unknowns.has(number.front());
    const std::string name = known ? unknowns.at(number.front()).setter : "";
    result += "<" + (name.empty() ? std::string("not known") : name) + ">";
    k = end;
  }
  return result;
}

}  // namespace debubble::shell
