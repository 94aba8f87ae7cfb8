#include "profiler/ranks/rank_comparison.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <sstream>
#include <tuple>
#include <utility>

#include "formats/text/text.hpp"
#include "profiler/ranks/block_name.hpp"
#include "sim/core/median.hpp"
#include "sim/core/quantities.hpp"

namespace debubble {
namespace {

constexpr double kApart = 0.1;
constexpr double kLeastApart = 5'000;  // per layer: launches and clocks differ by as much
constexpr Bytes kTwentieth = 20;
constexpr double kMillion = 1e6;

// List, what follows the number, kind, parameters, output.
using LayerLikeness = std::tuple<std::string, std::string, std::string, Bytes, Bytes>;

std::optional<LayerLikeness> likeness_of(const ProfileLayer& layer) {
  const std::optional<BlockName> block = block_name(layer.name);
  if (!block) return std::nullopt;
  const std::size_t end = std::min(layer.name.find('.', block->list.size()), layer.name.size());
  return LayerLikeness{block->list, layer.name.substr(end), layer.kind, layer.parameters, layer.output};
}

Nanoseconds whole_time(const ProfileLayer& layer) {
  if (layer.backward) return layer.forward.median + layer.backward->median;
  return layer.forward.median + (layer.input_grad ? layer.input_grad->median : 0) +
         (layer.weight_grad ? layer.weight_grad->median : 0);
}

// Layers that are alike: their times on each rank that has them.
struct AlikeLayers {
  std::map<std::size_t, std::vector<Nanoseconds>> times;
  Bytes least_kept = 0;
  Bytes most_kept = 0;

  void add(std::size_t rank, const ProfileLayer& layer) {
    least_kept = times.empty() ? layer.activation : std::min(least_kept, layer.activation);
    most_kept = std::max(most_kept, layer.activation);
    times[rank].push_back(whole_time(layer));
  }
  // One that recomputes takes longer by itself.
  [[nodiscard]] bool comparable() const { return times.size() > 1 && most_kept - least_kept <= most_kept / kTwentieth; }
  [[nodiscard]] Nanoseconds usual() const {
    std::vector<Nanoseconds> medians;
    for (const auto& [rank, some] : times) medians.push_back(lower_median(some));
    return lower_median(medians);
  }
};

struct AgainstOthers {
  double own = 0;
  double usual = 0;
  int layers = 0;

  // 0: as long as the others take.
  [[nodiscard]] std::int64_t ppm() const {
    if (usual <= 0 || std::abs(own - usual) <= std::max(kApart * usual, kLeastApart * layers)) return 0;
    return std::clamp<std::int64_t>(std::llround((own / usual - 1) * kMillion), -900'000, 99'000'000);  // as files take
  }
};

std::string factor_text(std::int64_t ppm) {
  std::ostringstream text;
  text.precision(2);
  text << std::fixed << 1 + static_cast<double>(ppm) / kMillion;
  return text.str();
}

std::string apart_note(const std::string& rank, const AgainstOthers& times) {
  const auto each = [&](double sum) { return format_duration(std::llround(sum / times.layers)); };
  return rank + " takes " + factor_text(times.ppm()) +
         " times as long as other ranks for layers of the same kind: " + each(times.own) + " a layer, not " +
         each(times.usual) +
         "; its times stay as measured, and a simulation on as many devices slows that device, not its layers, down "
         "(`debubble explain step --profile` tries another cut)";
}

}  // namespace

RankComparison compare_ranks(const std::vector<StageLayers>& ranks) {
  std::map<LayerLikeness, AlikeLayers> alike;
  bool sizes = false;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    for (const ProfileLayer& layer : ranks[rank].layers) {
      const std::optional<LayerLikeness> like = likeness_of(layer);
      if (like && whole_time(layer) > 0) alike[*like].add(rank, layer);
      sizes = sizes || layer.parameters > 0;
    }
  }
  std::vector<AgainstOthers> sums(ranks.size());
  for (const auto& [like, layers] : alike) {
    if (!layers.comparable()) continue;
    const auto usual = static_cast<double>(layers.usual());
    for (const auto& [rank, times] : layers.times) {
      for (const Nanoseconds time : times) sums[rank].own += static_cast<double>(time);
      sums[rank].usual += usual * static_cast<double>(times.size());
      sums[rank].layers += static_cast<int>(times.size());
    }
  }
  RankComparison found;
  std::string alone;
  std::size_t compared = 0;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    found.ppm.push_back(sums[rank].layers == 0 ? 0 : sums[rank].ppm());
    compared += sums[rank].layers > 0 ? 1U : 0U;
    if (sums[rank].layers == 0) alone += (alone.empty() ? "" : ", ") + ranks[rank].label;
    if (found.ppm.back() != 0) found.notes.push_back(apart_note(ranks[rank].label, sums[rank]));
  }
  if (compared == 0) {
    found.notes.emplace_back(
        "no layer is like one of another rank (name but for its number, kind, sizes): a slow rank cannot be told from "
        "slow layers");
  } else if (compared < ranks.size()) {
    found.notes.push_back("no layer like those of " + alone +
                          " is on another rank: whether it is slow, or its layers are, cannot be told");
  }
  if (found.any_apart() && !sizes) {
    found.notes.emplace_back("the layers' sizes are not known: which of them are alike follows from their names");
  }
  return found;
}

}  // namespace debubble
