#include <string_view>

#include "formats/megatron/rule_facts.hpp"
#include "sim/core/numbers.hpp"

namespace debubble {
namespace {

constexpr std::size_t kMostOfPattern = 100'000;

// Lists of 0 and 1 with + between them and *N behind, brackets around.
class PythonList {
 public:
  explicit PythonList(std::string_view text) : text_(text) {}

  std::optional<std::vector<bool>> run() {
    auto list = sum(0);
    if (at_ != text_.size()) return std::nullopt;
    return list;
  }

 private:
  using List = std::optional<std::vector<bool>>;

  bool take(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  List sum(int depth) {
    List list = product(depth);
    while (list && take('+')) {
      const List more = product(depth);
      if (!more || list->size() + more->size() > kMostOfPattern) return std::nullopt;
      list->insert(list->end(), more->begin(), more->end());
    }
    return list;
  }

  List product(int depth) {
    std::optional<std::size_t> before;
    if (auto times = number()) {
      if (!take('*')) return std::nullopt;
      before = times;
    }
    List list = item(depth);
    while (list && (before || take('*'))) {
      const auto times = before ? before : number();
      before.reset();
      if (!times || *times * list->size() > kMostOfPattern) return std::nullopt;
      const std::vector<bool> once = *list;
      list->clear();
      for (std::size_t k = 0; k < *times; ++k) list->insert(list->end(), once.begin(), once.end());
    }
    return list;
  }

  List item(int depth) {
    constexpr int kDeepest = 20;
    if (take('(')) {
      if (depth == kDeepest) return std::nullopt;
      List inner = sum(depth + 1);
      return take(')') ? inner : std::nullopt;
    }
    if (!take('[')) return std::nullopt;
    std::vector<bool> list;
    while (!take(']')) {
      if (at_ == text_.size() || (text_[at_] != '0' && text_[at_] != '1')) return std::nullopt;
      list.push_back(text_[at_++] == '1');
      if (!take(',') && at_ < text_.size() && text_[at_] != ']') return std::nullopt;
    }
    return list;
  }

  std::optional<std::size_t> number() {
    std::string_view rest = text_.substr(at_);
    if (rest.empty() || rest.front() < '0' || rest.front() > '9') return std::nullopt;
    const auto value = take_whole<std::size_t>(rest);
    if (!value || *value > kMostOfPattern) return std::nullopt;
    at_ = text_.size() - rest.size();
    return value;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<std::vector<bool>> expert_blocks(const std::string& text, std::int64_t layers) {
  std::string plain;
  for (const char c : text) {
    if (c != ' ' && c != '"' && c != '\'') plain += c;
  }
  if (plain.find('[') != std::string::npos) return PythonList(plain).run();
  const auto every = count_of(plain, std::int64_t{1} << 31);
  if (!every || *every < 1 || layers < 0 || layers > static_cast<std::int64_t>(kMostOfPattern)) return std::nullopt;
  std::vector<bool> blocks;
  for (std::int64_t k = 0; k < layers; ++k) blocks.push_back(k % *every == 0);
  return blocks;
}

}  // namespace debubble
