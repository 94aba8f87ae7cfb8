#include "profiler/ranks/differences.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "formats/text/text.hpp"
#include "sim/core/quantities.hpp"

namespace debubble {
namespace {

constexpr std::int64_t kQuarter = 4;
constexpr Nanoseconds kLeastTime = 5'000;  // launches and clocks differ by as much
constexpr std::size_t kMostNamedLayers = 3;

Nanoseconds backward_median(const ProfileLayer& layer) {
  if (layer.backward) return layer.backward->median;
  return (layer.input_grad ? layer.input_grad->median : 0) + (layer.weight_grad ? layer.weight_grad->median : 0);
}

struct ComparedSize {
  const char* what;
  bool time;
  std::int64_t (*of)(const ProfileLayer&);
};

constexpr std::array<ComparedSize, 4> kComparedSizes{{
    {"forward", true, [](const ProfileLayer& layer) -> std::int64_t { return layer.forward.median; }},
    {"backward", true, [](const ProfileLayer& layer) -> std::int64_t { return backward_median(layer); }},
    {"parameters", false, [](const ProfileLayer& layer) -> std::int64_t { return layer.parameters; }},
    {"kept for backward", false, [](const ProfileLayer& layer) -> std::int64_t { return layer.activation; }},
}};

std::string amount_text(const ComparedSize& quantity, std::int64_t value) {
  return quantity.time ? format_duration(value) : format_size(value);
}

struct Named {
  const std::string* label;
  const ProfileLayer* layer;
};

// "forward 9 us on rank 0, 40 us on rank 1", of the first quantity that is apart.
std::optional<std::string> apart_in(const std::vector<Named>& layers) {
  for (const ComparedSize& quantity : kComparedSizes) {
    const auto [least, most] = std::minmax_element(layers.begin(), layers.end(), [&](const Named& a, const Named& b) {
      return quantity.of(*a.layer) < quantity.of(*b.layer);
    });
    const std::int64_t low = quantity.of(*least->layer);
    const std::int64_t high = quantity.of(*most->layer);
    if (high - low <= low / kQuarter || (quantity.time && high - low <= kLeastTime)) continue;
    return std::string(quantity.what) + " " + amount_text(quantity, low) + " on " + *least->label + ", " +
           amount_text(quantity, high) + " on " + *most->label;
  }
  return std::nullopt;
}

}  // namespace

std::string differences_between(const std::vector<RankProfile>& ranks) {
  std::map<std::string, std::vector<Named>> by_name;
  std::vector<std::string> order;
  for (const RankProfile& rank : ranks) {
    for (const ProfileLayer& layer : rank.profile->layers) {
      std::vector<Named>& named = by_name[layer.name];
      if (named.empty()) order.push_back(layer.name);
      named.push_back({&rank.label, &layer});
    }
  }
  std::string text;
  std::size_t count = 0;
  for (const std::string& name : order) {
    const std::optional<std::string> apart = apart_in(by_name[name]);
    if (apart && ++count <= kMostNamedLayers)
      text += (text.empty() ? "" : ", ") + in_quotes(name) + " (" + *apart + ")";
  }
  if (count == 0) return {};
  if (count > kMostNamedLayers) text += " and " + std::to_string(count - kMostNamedLayers) + " more";
  return "layers of one name differ between ranks: " + text +
         "; if these are stages and no replicas, --rank N takes one alone";
}

}  // namespace debubble
