#include "scenario/request/rank_lists.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "sim/core/error.hpp"
#include "sim/core/numbers.hpp"
#include "sim/core/split.hpp"

namespace debubble {

namespace {

constexpr std::int32_t kMostListed = 1 << 22;

std::optional<Dimension> dimension_of(std::string_view word) {
  for (const Dimension one : {Dimension::kTensor, Dimension::kContext, Dimension::kData, Dimension::kPipeline}) {
    if (word == to_string(one)) return one;
  }
  return std::nullopt;
}

std::optional<std::int32_t> rank_number(std::string_view text) {
  const auto number = read_whole<std::int32_t>(text);
  return number && *number >= 0 && *number < kMostListed ? number : std::nullopt;
}

}  // namespace

std::vector<Dimension> parse_rank_order(std::string_view text, const std::string& place) {
  std::vector<Dimension> order;
  for (const std::string_view word : split(text)) {
    const std::optional<Dimension> dimension = dimension_of(word);
    if (!dimension) {
      fail("B015", place, "\"" + std::string(word) + "\" is not one of: tp, cp, dp, pp",
           word == "ep"                           ? "experts are split over the ranks of dp (and cp): leave ep out"
           : place.find(' ') == std::string::npos ? "write it like " + place + " tp,cp,dp,pp"
                                                  : "write it like " + place + "=tp-cp-dp-pp");
    }
    if (std::find(order.begin(), order.end(), *dimension) != order.end()) {
      fail("B015", place, "\"" + std::string(word) + "\" is given twice", "name each dimension once");
    }
    order.push_back(*dimension);
  }
  const auto has = [&](Dimension one) { return std::find(order.begin(), order.end(), one) != order.end(); };
  for (const Dimension one : {Dimension::kTensor, Dimension::kData, Dimension::kPipeline}) {
    if (!has(one)) {
      fail("B015", place, std::string(to_string(one)) + " is missing", "name tp, dp and pp, and cp where there is one");
    }
  }
  if (!has(Dimension::kContext)) {
    order.insert(std::find(order.begin(), order.end(), Dimension::kTensor) + 1, Dimension::kContext);
  }
  return order;
}

std::vector<std::int32_t> parse_device_list(std::string_view text, const std::string& place) {
  std::vector<std::int32_t> devices;
  std::set<std::int32_t> seen;
  for (const std::string_view item : split(text)) {
    const std::size_t dash = std::min(item.find('-'), item.size());
    const std::optional<std::int32_t> first = rank_number(item.substr(0, dash));
    const std::optional<std::int32_t> last = dash < item.size() ? rank_number(item.substr(dash + 1)) : first;
    if (!first || !last || *last < *first) {
      fail("B015", place, "\"" + std::string(item) + "\" is neither a GPU's number nor a range of them",
           "write it like " + place + " 0-7,16-23");
    }
    for (std::int32_t device = *first; device <= *last; ++device) {
      if (!seen.insert(device).second) {
        fail("B015", place, "GPU " + std::to_string(device) + " is given twice", "a GPU holds one rank");
      }
      devices.push_back(device);
    }
  }
  return devices;
}

}  // namespace debubble
