#include "cost_models/recompute_rule.hpp"

#include <algorithm>
#include <cstdint>

namespace debubble {
namespace {

bool is_listed(const RecomputeRule& rule, int block) {
  return std::binary_search(rule.listed.begin(), rule.listed.end(), block);
}

std::string listed_blocks_text(const std::vector<int>& numbers) {
  std::string text;
  for (std::size_t first = 0, last = 0; first < numbers.size(); first = last + 1) {
    last = first;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(numbers[first]);
    if (last > first) text += "-" + std::to_string(numbers[last]);
  }
  return text;
}

}  // namespace

std::string to_string(const RecomputeRule& rule) {
  const std::string number = std::to_string(rule.number);
  switch (rule.how) {
    case RecomputeRule::How::kFirst:
      return "of the first " + number + (rule.number == 1 ? " block" : " blocks") + " of each stage";
    case RecomputeRule::How::kEvery:
      return "of one block in " + number + ", counted on each device";
    case RecomputeRule::How::kChunks:
      return "of every block, from one input for " + number + " of a stage";
    case RecomputeRule::How::kListed:
      return "of the blocks " + listed_blocks_text(rule.listed);
    case RecomputeRule::How::kAll:
      break;
  }
  return "of every block";
}

std::vector<bool> recomputing(const RecomputeRule& rule, const std::vector<ModelBlock>& stage, int before) {
  std::vector<bool> which(stage.size(), true);
  for (std::size_t k = 0; k < stage.size(); ++k) {
    const auto nth = static_cast<std::int64_t>(k);
    if (rule.how == RecomputeRule::How::kFirst) which[k] = nth < rule.number;
    if (rule.how == RecomputeRule::How::kEvery) which[k] = (before + nth + 1) % rule.number == 0;
    if (rule.how == RecomputeRule::How::kListed) which[k] = is_listed(rule, stage[k].number);
  }
  return which;
}

void recompute_blocks(const RecomputeRule& rule, const std::vector<ModelBlock>& stage, int before,
                      const BothWays& layers, Profile& profile) {
  const std::vector<bool> which = recomputing(rule, stage, before);
  Bytes made = 0;  // of this chunk's earlier blocks: all are there again when the last one's backward begins
  for (std::size_t k = 0; k < stage.size(); ++k) {
    if (!which[k]) continue;
    ProfileLayer& layer = profile.layers[stage[k].layer];
    layer = layers.again->layers[stage[k].layer];
    if (rule.how != RecomputeRule::How::kChunks) continue;
    if (k % static_cast<std::size_t>(rule.number) == 0) {
      made = 0;
    } else {
      layer.activation = 0;
      layer.activation_tensors = 0;
      layer.workspace += made;
    }
    made += layers.plain->layers[stage[k].layer].activation;
  }
}

double counted_share(const RecomputeRule& rule, int block, int blocks, int stages) {
  switch (rule.how) {
    case RecomputeRule::How::kFirst:
      return std::int64_t{rule.number} * stages >= blocks ? 1 : 0;
    case RecomputeRule::How::kEvery:
      return 1.0 / rule.number;
    case RecomputeRule::How::kListed:
      return is_listed(rule, block) ? 1 : 0;
    case RecomputeRule::How::kAll:
    case RecomputeRule::How::kChunks:
      break;
  }
  return 1;
}

}  // namespace debubble
