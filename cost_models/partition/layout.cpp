#include "cost_models/partition/layout.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "cost_models/partition/blocks.hpp"
#include "sim/core/error.hpp"
#include "sim/core/numbers.hpp"

namespace debubble {
namespace {

constexpr std::string_view kLayoutLetters = "EtmL";
// Expanded; far more than any model has, and little enough to hold.
constexpr std::size_t kMostLetters = 1'000'000;

[[noreturn]] void fail_partition(std::string code, std::string message, std::string help, std::size_t column = 0) {
  const std::string place = column == 0 ? "--partition" : "--partition, column " + std::to_string(column);
  throw InputError({std::move(code), place, std::move(message), std::move(help)});
}

std::string shown(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte > 0x20 && byte < 0x7f ? "\"" + std::string(1, c) + "\"" : "byte " + std::to_string(byte);
}

// Writes out the repetitions: "t*2|(t|)*2" becomes "tt|t|t|".
class Expander {
 public:
  explicit Expander(std::string_view text) : text_(text) {}

  std::string expand() {
    std::string result = sequence(false);
    if (at_ < text_.size())
      fail_partition("J030", "this \")\" closes nothing", "write repeated stages like (tt|)*20", at_ + 1);
    return result;
  }

 private:
  void skip_cosmetics() {
    while (at_ < text_.size() && (text_[at_] == ',' || text_[at_] == ' ')) ++at_;
  }

  std::string sequence(bool inside) {
    std::string result;
    for (skip_cosmetics(); at_ < text_.size() && text_[at_] != ')'; skip_cosmetics()) {
      append(result, item(inside));
    }
    return result;
  }

  std::string item(bool inside) {
    const std::size_t begin = at_;
    const char c = text_[at_++];
    if (c == '(') {
      if (inside) fail_partition("J030", "parentheses do not nest", "write out the inner repetition", begin + 1);
      const std::string group = sequence(true);
      if (at_ == text_.size())
        fail_partition("J030", "this \"(\" is never closed", "write it like (tt|)*20", begin + 1);
      ++at_;
      if (group.empty()) fail_partition("J030", "these parentheses are empty", "write it like (tt|)*20", begin + 1);
      skip_cosmetics();
      if (at_ == text_.size() || text_[at_] != '*') {
        fail_partition("J030", "parentheses are for repetition, and no *N follows", "write it like (tt|)*20", at_ + 1);
      }
      return repeated(group);
    }
    if (c != '|' && kLayoutLetters.find(c) == std::string_view::npos) {
      fail_partition("J030", shown(c) + " is not part of a layout",
                     "E embedding, t decoder layer, m MTP layer, L loss, | between stages, x*N and (...)*N", begin + 1);
    }
    return at_ < text_.size() && text_[at_] == '*' ? repeated(std::string(1, c)) : std::string(1, c);
  }

  // Reads "*N" and repeats.
  std::string repeated(const std::string& unit) {
    const std::size_t star = at_++;
    std::string_view rest = text_.substr(at_);
    const bool digit = !rest.empty() && rest.front() >= '0' && rest.front() <= '9';
    const auto times = take_whole<std::size_t>(rest);
    if (!digit) {
      fail_partition("J030", "a number of repetitions must follow the \"*\"", "write it like t*3", star + 2);
    }
    if (!times || *times > kMostLetters / unit.size()) {
      fail_partition("J030", "that many repetitions are more than a model has", "check the number", star + 2);
    }
    if (*times == 0) fail_partition("J030", "0 repetitions place nothing", "leave it out", star + 2);
    at_ = text_.size() - rest.size();
    std::string result;
    for (std::size_t k = 0; k < *times; ++k) result += unit;
    return result;
  }

  void append(std::string& result, const std::string& more) const {
    result += more;
    if (result.size() > kMostLetters)
      fail_partition("J030", "the layout repeats more than a model has", "check the numbers", at_);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::vector<std::string> split_stages(const std::string& letters) {
  std::vector<std::string> stages(1);
  for (const char c : letters) {
    if (c == '|') {
      stages.emplace_back();
    } else {
      stages.back() += c;
    }
  }
  return stages;
}

// What Megatron demands of every layout.
void check_order(const std::vector<std::string>& stages) {
  std::string all;
  std::size_t stages_with_mtp = 0;
  for (const std::string& stage : stages) {
    all += stage;
    if (stage.find('m') != std::string::npos) ++stages_with_mtp;
  }
  if (std::count(all.begin(), all.end(), 'E') != 1 || all.front() != 'E') {
    fail_partition("J030", "a layout has one E, in front of everything else", "the embedding is the first layer: E...");
  }
  if (std::count(all.begin(), all.end(), 'L') != 1 || all.back() != 'L') {
    fail_partition("J030", "a layout has one L, after everything else", "the loss is the last layer: ...L");
  }
  if (all.find("mt") != std::string::npos) {
    fail_partition("J030", "a decoder layer comes after an MTP layer", "the order is E, t, m, L");
  }
  if (stages_with_mtp > 1) fail_partition("J030", "MTP layers are on several stages", "Megatron keeps them on one");
}

void check_layer_count(char letter, const char* what, std::int64_t found, int wanted) {
  if (found == wanted) return;
  fail_partition(
      "J034",
      std::string(what) + " layers in model / placed: " + std::to_string(wanted) + " / " + std::to_string(found),
      "the layout must have " + std::to_string(wanted) + " times " + letter);
}

std::string letters_of_stage(int begin, int end, const LayerCounts& counts) {
  std::string letters;
  for (int layer = std::max(begin, counts.embedding); layer < end; ++layer) {
    const int block = layer - counts.embedding;
    if (block < counts.blocks) {
      letters += 't';
    } else if (counts.predictors_last ? block >= counts.blocks + counts.head
                                      : block < counts.blocks + counts.predictors) {
      letters += 'm';
    }
  }
  constexpr std::size_t kShortEnough = 4;
  if (letters.size() < kShortEnough || letters.find_first_not_of('t') != std::string::npos) return letters;
  return "t*" + std::to_string(letters.size());
}

void check_cut(int cut, const LayerCounts& counts) {
  const int head = counts.embedding + counts.blocks + (counts.predictors_last ? 0 : counts.predictors);
  const int end = head + counts.head + (counts.predictors_last ? counts.predictors : 0);
  const bool in_embedding = cut > 0 && cut < counts.embedding;
  const bool in_head = cut > head && cut < end;
  if (!in_embedding && !in_head) return;
  fail_partition("J034",
                 std::string("the partition cuts the ") + (in_embedding ? "embedding" : "head") + " into two stages",
                 "Megatron's E and L are whole: move the cut");
}

}  // namespace

bool is_layout(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return false;
  return text.find('|') != std::string_view::npos || text[first] == '(' ||
         kLayoutLetters.find(text[first]) != std::string_view::npos;
}

std::vector<int> parse_layout(std::string_view text, int stages, const Profile& profile) {
  const std::vector<std::string> letters = split_stages(Expander(text).expand());
  check_order(letters);
  if (letters.size() != static_cast<std::size_t>(stages)) {
    fail_partition(
        "J034", "the pipeline has " + std::to_string(stages) + " stages, the layout " + std::to_string(letters.size()),
        "it has one \"|\" fewer than stages (devices times chunks)");
  }
  const LayerCounts counts = count_layers(profile);
  std::int64_t decoder = 0;
  std::int64_t mtp = 0;
  std::vector<int> sizes;
  for (const std::string& stage : letters) {
    int size = 0;
    for (const char c : stage) {
      size += c == 'E' ? counts.embedding : c == 'L' ? counts.head : 1;
      decoder += c == 't' ? 1 : 0;
      mtp += c == 'm' ? 1 : 0;
    }
    sizes.push_back(size);
  }
  check_layer_count('t', "decoder", decoder, counts.blocks);
  check_layer_count('m', "MTP", mtp, counts.predictors);
  if (counts.predictors_last && letters.back().find('m') == std::string::npos) {
    fail_partition("J034", "MTP layers are on an earlier stage than the loss",
                   "those of " + profile.model + " follow its head: put m and L on one stage, as in t*2mL");
  }
  for (std::size_t stage = 0; stage < sizes.size(); ++stage) {
    if (sizes[stage] > 0) continue;
    fail_partition("J034",
                   "stage " + std::to_string(stage) + " (\"" + letters[stage] + "\") gets no layer of " + profile.model,
                   letters[stage].empty() ? "a stage without work cannot be simulated"
                                          : "the profile has no layer of that kind, so the stage would cost nothing");
  }
  return sizes;
}

std::string write_layout(const std::vector<int>& partition, const Profile& profile) {
  const LayerCounts counts = count_layers(profile);
  std::vector<std::string> stages;
  int layer = 0;
  for (const int size : partition) {
    check_cut(layer, counts);
    stages.push_back(letters_of_stage(layer, layer + size, counts));
    layer += size;
  }
  if (stages.empty()) return "";
  stages.front().insert(0, "E");
  stages.back() += "L";
  std::string text;
  for (std::size_t k = 0; k < stages.size();) {
    std::size_t same = k;
    while (same + 1 < stages.size() && stages[same] == stages[k]) ++same;  // the last stage has no '|'
    if (same - k > 1) {
      text += "(" + stages[k] + "|)*" + std::to_string(same - k) + ",";
      k = same;
    } else {
      text += stages[k] + (k + 1 < stages.size() ? "|" : "");
      ++k;
    }
  }
  return text;
}

}  // namespace debubble
