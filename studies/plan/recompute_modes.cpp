#include "studies/plan/recompute_modes.hpp"

#include <algorithm>
#include <iterator>

#include "formats/text/choice.hpp"
#include "scenario/request/stage_list.hpp"
#include "sim/core/error.hpp"
#include "studies/plan/choice.hpp"

namespace debubble {
namespace {

constexpr int kFull = 2;

std::string first_stages(int count) { return count == 1 ? "0" : "0-" + std::to_string(count - 1); }

RecomputeMode read_mode(const std::string& text, const std::string& place) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  RecomputeMode mode{static_cast<int>(choice_of(text.substr(0, colon), "none|selective|full", place)), ""};
  if (colon == text.size()) return mode;
  mode.stages = text.substr(colon + 1);
  (void)parse_stage_list(mode.stages, place);
  if (mode.word == 0) fail("C002", place, "\"none\" has no stages", "write it like full:0-2");
  return mode;
}

}  // namespace

std::vector<RecomputeMode> recompute_modes(const std::vector<std::string>* named, int devices,
                                           const std::string& place) {
  std::vector<RecomputeMode> modes;
  if (named == nullptr) {
    for (int word = 0; word < static_cast<int>(std::size(kRecomputeWords)); ++word) modes.push_back({word, ""});
    if (devices > 1) modes.push_back({kFull, first_stages(devices / 2)});
    return modes;
  }
  for (const std::string& text : *named) {
    RecomputeMode mode = read_mode(text, place);
    const bool known = std::any_of(modes.begin(), modes.end(), [&](const RecomputeMode& one) {
      return one.word == mode.word && one.stages == mode.stages;
    });
    if (!known) modes.push_back(std::move(mode));
  }
  return modes;
}

}  // namespace debubble
