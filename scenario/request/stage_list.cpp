#include "scenario/request/stage_list.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "sim/core/error.hpp"
#include "sim/core/numbers.hpp"
#include "sim/core/split.hpp"

namespace debubble {
namespace {

constexpr std::int64_t kMostStageNumber = 1 << 16;

}  // namespace

std::vector<int> parse_stage_list(std::string_view text, const std::string& place, const char* what) {
  std::vector<int> stages;
  for (const std::string& item : split(text)) {
    const std::size_t dash = std::min(item.find('-'), item.size());
    const std::optional<std::int64_t> first = count_of(item.substr(0, dash), kMostStageNumber);
    const std::optional<std::int64_t> last =
        dash < item.size() ? count_of(item.substr(dash + 1), kMostStageNumber) : first;
    if (!first || !last || *last < *first) {
      fail("C012", place, "\"" + item + "\" is neither a " + what + "'s number nor a range of them",
           "write it like " + (place.find(' ') == std::string::npos ? place + " 0-2,5" : "0-2"));
    }
    for (std::int64_t stage = *first; stage <= *last; ++stage) stages.push_back(static_cast<int>(stage));
  }
  std::sort(stages.begin(), stages.end());
  stages.erase(std::unique(stages.begin(), stages.end()), stages.end());
  return stages;
}

std::vector<bool> named_stages(const std::vector<int>& named, int stages, const std::string& place) {
  std::vector<bool> is_named(static_cast<std::size_t>(stages), false);
  for (const int stage : named) {
    if (stage >= stages) {
      fail("C012", place, "there is no stage " + std::to_string(stage) + " of " + std::to_string(stages),
           "stages are numbered from 0 in the model's order, over all devices and chunks");
    }
    is_named[static_cast<std::size_t>(stage)] = true;
  }
  return is_named;
}

}  // namespace debubble
