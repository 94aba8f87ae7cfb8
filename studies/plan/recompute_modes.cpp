#include "studies/plan/recompute_modes.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string_view>

#include "formats/text/choice.hpp"
#include "scenario/request/stage_list.hpp"
#include "sim/core/error.hpp"
#include "sim/core/numbers.hpp"
#include "studies/plan/choice.hpp"

namespace debubble {
namespace {

constexpr std::string_view kFirstBlocks = "first";
constexpr int kMostFirstBlocks = std::numeric_limits<std::uint16_t>::max();

std::string first_stages(int count) { return count == 1 ? "0" : "0-" + std::to_string(count - 1); }

// "first:4", or "first".
RecomputeMode of_first_blocks(const std::string& text, const std::string& place) {
  RecomputeMode mode{.word = kFullRecomputation};
  mode.fewest = text == kFirstBlocks;
  if (mode.fewest) return mode;
  const auto number = count_of(std::string_view(text).substr(kFirstBlocks.size() + 1), kMostFirstBlocks);
  if (!text.starts_with("first:") || number.value_or(0) < 1) {
    fail("C012", place, "\"" + text + "\" is no number of blocks", "write it like full:first:4");
  }
  mode.first = static_cast<int>(*number);
  return mode;
}

RecomputeMode read_mode(const std::string& text, const std::string& place) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  RecomputeMode mode{.word = static_cast<int>(choice_of(text.substr(0, colon), "none|selective|full", place))};
  if (colon == text.size()) return mode;
  mode.stages = text.substr(colon + 1);
  if (mode.word == kFullRecomputation && mode.stages.starts_with(kFirstBlocks)) {
    return of_first_blocks(mode.stages, place);
  }
  (void)parse_stage_list(mode.stages, place);
  if (mode.word == 0) fail("C002", place, "\"none\" has no stages", "write it like full:0-2");
  return mode;
}

}  // namespace

std::vector<RecomputeMode> recompute_modes(const std::vector<std::string>* named, int devices,
                                           const std::string& place) {
  std::vector<RecomputeMode> modes;
  if (named == nullptr) {
    for (int word = 0; word < static_cast<int>(std::size(kRecomputeWords)); ++word) modes.push_back({.word = word});
    if (devices > 1) modes.push_back({.word = kFullRecomputation, .stages = first_stages(devices / 2)});
    modes.push_back({.word = kFullRecomputation, .fewest = true});
    return modes;
  }
  for (const std::string& text : *named) {
    RecomputeMode mode = read_mode(text, place);
    if (std::find(modes.begin(), modes.end(), mode) == modes.end()) modes.push_back(std::move(mode));
  }
  const auto is_fewest = [](const RecomputeMode& mode) { return mode.fewest; };
  if (std::any_of(modes.begin(), modes.end(), is_fewest) &&
      std::find(modes.begin(), modes.end(), RecomputeMode{}) == modes.end()) {
    fail("C004", place, "\"full:first\" recomputes the fewest blocks where \"none\" does not fit, which is not allowed",
         "add none: --only recompute=none,full:first, or say how many blocks of each stage: full:first:4");
  }
  return modes;
}

void say_recompute_modes(bool open, bool fewest, std::vector<std::string>& restrictions) {
  if (open) {
    restrictions.emplace_back(
        "where some stages alone recompute, they are the first, half as many as devices: --only recompute=full:0-2 "
        "names others");
  }
  if (fewest) {
    restrictions.emplace_back(
        "where a run fits only with recomputation, also the fewest of the first blocks of each stage recompute with "
        "which it fits, if its order does not depend on costs: --fix recompute=full:first:4 says how many");
  }
}

}  // namespace debubble
