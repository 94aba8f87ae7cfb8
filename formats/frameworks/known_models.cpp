#include "formats/frameworks/known_models.hpp"

#include <algorithm>
#include <string_view>

#include "formats/rules/rule_texts.hpp"
#include "sim/core/numbers.hpp"
#include "sim/core/split.hpp"
#include "sim/core/word_list.hpp"

namespace debubble {
namespace {

std::vector<KnownModel> read_known_models() {
  std::vector<KnownModel> models;
  for (const std::string& line : split(known_models_text(), '\n')) {
    const std::vector<std::string_view> words = words_in(line);
    if (words.empty() || line.starts_with('#')) continue;
    if (line.starts_with(' ')) {
      models.back().sizes += words.front();
      continue;
    }
    const auto value = std::find(words.begin(), words.end(), "=") + 1;
    KnownModel& made = models.emplace_back(KnownModel{{words.begin(), value - 1}, std::string(*value), 0});
    std::string_view layers = *value;
    layers.remove_prefix(layers.starts_with("layers=") ? std::string_view("layers=").size() : layers.size());
    if (value + 1 != words.end()) layers = *(value + 1);
    made.layers = take_whole<std::int64_t>(layers).value_or(0);
  }
  return models;
}

}  // namespace

const std::vector<KnownModel>& known_models() {
  static const std::vector<KnownModel> models = read_known_models();
  return models;
}

}  // namespace debubble
