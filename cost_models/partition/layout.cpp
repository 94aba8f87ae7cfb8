#include "cost_models/partition/layout.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "cost_models/partition/blocks.hpp"
#include "sim/core/error.hpp"
#include "sim/core/layout_letters.hpp"

namespace debubble {
namespace {

[[noreturn]] void fail_partition(std::string code, std::string message, std::string help, std::size_t column = 0) {
  const std::string place = column == 0 ? "--partition" : "--partition, column " + std::to_string(column);
  throw InputError({std::move(code), place, std::move(message), std::move(help)});
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
  return letters;
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

std::vector<int> parse_layout(std::string_view text, int stages, const Profile& profile) {
  const std::vector<std::string> letters = layout_letters(text);
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
    if (sizes[stage] > 0 || letters[stage].empty()) continue;
    fail_partition("J034",
                   "stage " + std::to_string(stage) + " (\"" + letters[stage] + "\") gets no layer of " + profile.model,
                   "the profile has no layer of that kind, so the stage would cost nothing");
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
  return layout_text(std::move(stages));
}

}  // namespace debubble
