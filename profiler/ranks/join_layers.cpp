#include "profiler/ranks/join_layers.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "formats/profile/layer_runs.hpp"
#include "formats/text/text.hpp"
#include "profiler/ranks/block_name.hpp"
#include "sim/core/error.hpp"

namespace debubble {
namespace {

enum class BesideBlock : std::uint8_t { kBlock, kBefore, kAfter };

// A layer and where it belongs: beside which block of which stage.
struct PlacedLayer {
  ProfileLayer layer;
  BesideBlock side = BesideBlock::kBlock;
  std::size_t stage = 0;
  std::size_t list = 0;  // of its block, in order of first appearance over the stages
  std::int64_t number = 0;
  std::size_t position = 0;  // in its stage

  [[nodiscard]] auto key() const { return std::tie(list, number, stage, position); }
};

// What debubble_hooks calls the part in front of the blocks, of a second chunk of a rank too: "GPT.embedding".
bool runs_before_blocks(const std::string& layer) { return layer == "embedding" || layer.ends_with(".embedding"); }

class LayerJoin {
 public:
  LayerJoin(std::vector<StageLayers> stages, std::vector<std::string>& notes)
      : stages_(std::move(stages)), notes_(notes) {
    for (std::size_t stage = 0; stage < stages_.size(); ++stage) place(stage);
    std::stable_sort(placed_.begin(), placed_.end(),
                     [](const PlacedLayer& left, const PlacedLayer& right) { return left.key() < right.key(); });
  }

  JoinedLayers result() {
    refuse_doubles();
    note_stages();
    note_missing();
    rename();
    JoinedLayers joined;
    for (PlacedLayer& placed : placed_) {
      if (placed.layer.name.empty()) continue;
      joined.layers.push_back(std::move(placed.layer));
      joined.stage.push_back(placed.stage);
    }
    return joined;
  }

 private:
  std::size_t list_number(const std::string& list) {
    const auto known = std::find(lists_.begin(), lists_.end(), list);
    if (known != lists_.end()) return static_cast<std::size_t>(known - lists_.begin());
    lists_.push_back(list);
    return lists_.size() - 1;
  }

  // A stage without blocks stands where the order of the stages puts it: behind the blocks of those before it.
  void place(std::size_t stage) {
    std::vector<ProfileLayer>& layers = stages_[stage].layers;
    const auto is_block = [](const ProfileLayer& layer) { return block_name(layer.name).has_value(); };
    const auto first = std::find_if(layers.begin(), layers.end(), is_block);
    PlacedLayer where;
    where.stage = stage;
    where.side = first == layers.end() && stage > 0 ? BesideBlock::kAfter : BesideBlock::kBefore;
    if (first != layers.end()) {
      beside(first->name, where);
    } else if (lists_.empty()) {
      where.number = -1;
    } else {
      where.list = lists_.size() - 1;
      where.number = std::numeric_limits<std::int64_t>::max();
    }
    for (std::size_t k = 0; k < layers.size(); ++k) {
      const bool block = is_block(layers[k]);
      if (block) beside(layers[k].name, where);
      PlacedLayer placed = where;
      const auto next = std::find_if(layers.begin() + static_cast<std::ptrdiff_t>(k), layers.end(), is_block);
      if (!block && runs_before_blocks(layers[k].name) && next != layers.end()) {
        beside(next->name, placed);
        placed.side = BesideBlock::kBefore;
      }
      if (block) placed.side = BesideBlock::kBlock;
      if (block) where.side = BesideBlock::kAfter;
      placed.position = k;
      placed.layer = std::move(layers[k]);
      placed_.push_back(std::move(placed));
    }
  }

  void beside(const std::string& block, PlacedLayer& where) {
    const std::optional<BlockName> name = block_name(block);
    where.list = list_number(name->list);
    where.number = name->number;
  }

  void refuse_doubles() const {
    std::map<std::string, std::size_t> stage_of;
    for (const PlacedLayer& placed : placed_) {
      if (placed.side != BesideBlock::kBlock) continue;
      const auto [known, fresh] = stage_of.emplace(placed.layer.name, placed.stage);
      if (fresh) continue;
      const auto [one, other] = std::minmax(known->second, placed.stage);
      throw InputError({"L020", "FILE",
                        "the layer " + in_quotes(placed.layer.name) + " is in both " + stages_[one].label + " and " +
                            stages_[other].label,
                        "give one profile of each stage: replicas of a stage have the same layers"});
    }
  }

  // "rank 0 (layers.0 to layers.1, layers.4 to layers.5)"
  void note_stages() {
    std::string text;
    for (std::size_t stage = 0; stage < stages_.size(); ++stage) {
      std::map<std::size_t, std::set<std::int64_t>> numbers;
      for (const PlacedLayer& placed : placed_) {
        if (placed.stage == stage && placed.side == BesideBlock::kBlock) numbers[placed.list].insert(placed.number);
      }
      std::string blocks;
      for (const auto& [list, some] : numbers) blocks += (blocks.empty() ? "" : ", ") + runs_of(lists_[list], some);
      text += (text.empty() ? "" : ", ") + stages_[stage].label + " (" +
              (blocks.empty() ? "no numbered layer: placed in this order" : blocks) + ")";
    }
    notes_.push_back(std::to_string(stages_.size()) + " stages of a pipeline as one model: " + text);
  }

  static std::string runs_of(const std::string& list, const std::set<std::int64_t>& numbers) {
    std::string text;
    for (auto begin = numbers.begin(); begin != numbers.end();) {
      auto last = begin;
      while (std::next(last) != numbers.end() && *std::next(last) == *last + 1) ++last;
      text += (text.empty() ? "" : ", ") + list + std::to_string(*begin) +
              (begin == last ? "" : " to " + list + std::to_string(*last));
      begin = std::next(last);
    }
    return text;
  }

  // From 0 to the largest number. What follows the last one nobody can know.
  void note_missing() {
    std::string text;
    for (std::size_t list = 0; list < lists_.size(); ++list) {
      std::set<std::int64_t> missing;
      std::int64_t next = 0;
      for (const PlacedLayer& placed : placed_) {  // by number
        if (placed.list != list || placed.side != BesideBlock::kBlock) continue;
        for (; next < placed.number && missing.size() < kMostLayers; ++next) missing.insert(next);
        next = placed.number + 1;
      }
      if (missing == std::set<std::int64_t>{0}) {
        notes_.push_back("no recording has " + lists_[list] + "0: it is missing unless these layers count from 1");
      } else if (!missing.empty()) {
        text += (text.empty() ? "" : ", ") + runs_of(lists_[list], missing);
      }
    }
    if (!text.empty()) notes_.push_back("not in the model, for no recording has them: " + text);
  }

  [[nodiscard]] static bool is_empty(const ProfileLayer& layer) {
    return layer.kernels.empty() && layer.forward.median == 0 && layer.activation == 0 && layer.parameters == 0;
  }

  // Which of those of one name keeps it, for it lies around all blocks: the first before them, the last after them. One
  // where nothing ran gives way.
  [[nodiscard]] std::map<std::string, std::size_t> owners() const {
    const auto is_block = [](const PlacedLayer& placed) { return placed.side == BesideBlock::kBlock; };
    const auto first = std::find_if(placed_.begin(), placed_.end(), is_block);
    const auto last = std::find_if(placed_.rbegin(), placed_.rend(), is_block).base();
    std::map<std::string, std::size_t> owner;
    for (auto placed = placed_.begin(); placed != placed_.end(); ++placed) {
      if (placed >= first && placed < last && !is_block(*placed)) continue;
      const auto k = static_cast<std::size_t>(placed - placed_.begin());
      const auto [known, fresh] = owner.emplace(placed->layer.name, k);
      const PlacedLayer& other = placed_[known->second];
      const bool gives_way = other.side == BesideBlock::kAfter || is_empty(other.layer);
      if (!fresh && gives_way && !is_empty(placed->layer)) known->second = k;
    }
    return owner;
  }

  void rename() {
    const std::map<std::string, std::size_t> owner = owners();
    std::map<std::string, int> count;
    for (const PlacedLayer& placed : placed_) ++count[placed.layer.name];
    std::set<std::string> taken;
    for (const auto& [name, times] : count) taken.insert(name);
    std::string renamed;
    for (std::size_t k = 0; k < placed_.size(); ++k) {
      PlacedLayer& placed = placed_[k];
      const auto keeps = owner.find(placed.layer.name);
      if (count[placed.layer.name] == 1 || (keeps != owner.end() && keeps->second == k)) continue;
      if (is_empty(placed.layer)) {
        placed.layer.name.clear();
        continue;
      }
      const std::string base = placed.layer.name + " of " + stages_[placed.stage].label;
      placed.layer.name = base;
      for (int again = 2; !taken.insert(placed.layer.name).second; ++again) {
        placed.layer.name = base + ", " + std::to_string(again);
      }
      renamed += (renamed.empty() ? "" : ", ") + in_quotes(placed.layer.name);
    }
    if (!renamed.empty()) {
      notes_.push_back(
          "what ran around the blocks within the pipeline stays beside them, and another cut of the model "
          "may have less of it: " +
          renamed);
    }
  }

  std::vector<StageLayers> stages_;
  std::vector<std::string>& notes_;
  std::vector<std::string> lists_;
  std::vector<PlacedLayer> placed_;
};

}  // namespace

JoinedLayers join_layers(std::vector<StageLayers> stages, std::vector<std::string>& notes) {
  return LayerJoin(std::move(stages), notes).result();
}

}  // namespace debubble
