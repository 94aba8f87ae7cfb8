#include "profiler/importers/layer_guess.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "formats/text/text.hpp"
#include "sim/core/words.hpp"

namespace debubble {
namespace {

constexpr std::uint32_t kNoLayer = 0xFFFFFFFF;
constexpr std::size_t kMostNamed = 100;  // single modules outside of the repeated class

// "BertLayer_7" is number "7" of the class "BertLayer_" + "": what surrounds the last number.
struct Numbered {
  std::string before;
  std::string number;
  std::string after;

  [[nodiscard]] std::string key() const { return before + '\n' + after; }
};

std::optional<Numbered> numbered(std::string_view name) {
  const auto last = std::find_if(name.rbegin(), name.rend(), is_digit);
  if (last == name.rend()) return std::nullopt;
  const auto first = std::find_if_not(last, name.rend(), is_digit);
  const auto end = static_cast<std::size_t>(name.rend() - last);
  const auto begin = static_cast<std::size_t>(name.rend() - first);
  return Numbered{std::string(name.substr(0, begin)), std::string(name.substr(begin, end - begin)),
                  std::string(name.substr(end))};
}

std::string regex_escaped(std::string_view text) {
  std::string result;
  for (const char character : text) {
    if (std::string_view("^$\\.*+?()[]{}|/").find(character) != std::string_view::npos) result += '\\';
    result += character;
  }
  return result;
}

struct Class {
  Numbered pattern;
  std::set<std::string> numbers;
  Nanoseconds gpu_time = 0;  // nested instances once
  std::size_t depth = 0;     // of the outermost instance
};

class Guesser {
 public:
  explicit Guesser(const std::vector<GuessRange>& ranges) : ranges_(ranges), class_of_(ranges.size()) {
    for (std::size_t k = 0; k < ranges.size(); ++k) place(k);
  }

  [[nodiscard]] std::optional<LayerGuess> run() const {
    const Class* chosen = choose();
    if (chosen == nullptr) return std::nullopt;
    const std::set<std::string> singles = beside(*chosen);
    const std::string prefix(ranges_.front().prefix);
    std::string rule = "^" + regex_escaped(prefix) + "(" + regex_escaped(chosen->pattern.before) + "\\d+" +
                       regex_escaped(chosen->pattern.after);
    for (const std::string& name : singles) rule += "|" + regex_escaped(name);
    rule += ")$";
    return LayerGuess{rule, note(*chosen, singles, prefix)};
  }

 private:
  void place(std::size_t index) {
    const std::optional<Numbered> name = numbered(short_name(ranges_[index]));
    if (!name) return;
    Class& known = classes_.try_emplace(name->key(), Class{*name, {}, 0, 0}).first->second;
    class_of_[index] = name->key();
    std::size_t depth = 0;
    bool nested = false;
    for (std::uint32_t up = ranges_[index].parent; up != kNoLayer; up = ranges_[up].parent) {
      ++depth;
      nested |= class_of_[up] == class_of_[index];
    }
    known.depth = known.numbers.empty() ? depth : std::min(known.depth, depth);
    known.numbers.insert(name->number);
    if (!nested) known.gpu_time += ranges_[index].gpu_time;
  }

  static std::string_view short_name(const GuessRange& range) { return range.name.substr(range.prefix.size()); }

  // Among the classes that hold about as much time as the one that holds most: with four instances rather than fewer,
  // and then the outermost.
  [[nodiscard]] const Class* choose() const {
    constexpr std::size_t kSeveral = 4;
    Nanoseconds most = 0;
    for (const auto& [key, known] : classes_) {
      if (known.numbers.size() > 1) most = std::max(most, known.gpu_time);
    }
    const Class* best = nullptr;
    for (const auto& [key, known] : classes_) {
      if (known.numbers.size() < 2 || known.gpu_time == 0 || known.gpu_time < most - most / 10) continue;
      const bool several = known.numbers.size() >= kSeveral;
      const bool best_several = best != nullptr && best->numbers.size() >= kSeveral;
      if (best == nullptr || (several && !best_several) || (several == best_several && known.depth < best->depth)) {
        best = &known;
      }
    }
    return best;
  }

  // Ranges with GPU time that are neither around nor inside of the chosen ones: embeddings, norms, heads.
  [[nodiscard]] std::set<std::string> beside(const Class& chosen) const {
    const std::string key = chosen.pattern.key();
    std::set<std::string> around;
    for (std::size_t k = 0; k < ranges_.size(); ++k) {
      if (class_of_[k] != key) continue;
      for (std::uint32_t up = ranges_[k].parent; up != kNoLayer; up = ranges_[up].parent) {
        if (class_of_[up] != key) around.insert(std::string(short_name(ranges_[up])));
      }
    }
    std::set<std::string> singles;
    std::vector<bool> covered(ranges_.size(), false);
    for (std::size_t k = 0; k < ranges_.size(); ++k) {
      const std::string name(short_name(ranges_[k]));
      const std::uint32_t parent = ranges_[k].parent;
      const bool inside = parent != kNoLayer && covered[parent];
      const bool is_layer = !inside && !around.contains(name);
      covered[k] = inside || is_layer;
      if (is_layer && class_of_[k] != key && ranges_[k].gpu_time > 0) singles.insert(name);
    }
    if (singles.size() > kMostNamed) singles.clear();
    return singles;
  }

  static std::string note(const Class& chosen, const std::set<std::string>& singles, const std::string& prefix) {
    std::string text = "layers chosen by themselves: " + std::to_string(chosen.numbers.size()) + " ranges like " +
                       in_quotes(prefix + chosen.pattern.before + *chosen.numbers.begin() + chosen.pattern.after) +
                       ", the outermost numbered ones that hold most forward time";
    if (!singles.empty()) {
      std::string list;
      for (const std::string& name : singles) list += (list.empty() ? "" : ", ") + printable(name);
      text += ", plus " + shortened(list, 200);
    }
    return text + "; --layers REGEX chooses others";
  }

  static std::string printable(std::string text) {
    std::replace_if(
        text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
    return text;
  }

  const std::vector<GuessRange>& ranges_;
  std::vector<std::string> class_of_;  // empty: without a number
  std::map<std::string, Class> classes_;
};

}  // namespace

std::optional<LayerGuess> guess_layers(const std::vector<GuessRange>& ranges) {
  if (ranges.empty()) return std::nullopt;
  return Guesser(ranges).run();
}

}  // namespace debubble
