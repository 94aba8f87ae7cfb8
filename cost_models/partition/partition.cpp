#include "cost_models/partition/partition.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "cost_models/partition/balance.hpp"
#include "cost_models/partition/framework_cuts.hpp"
#include "cost_models/partition/layout.hpp"
#include "cost_models/partition/memory.hpp"
#include "sim/core/error.hpp"
#include "sim/core/layout_letters.hpp"
#include "sim/core/numbers.hpp"

namespace debubble {
namespace {

class PartitionParser {
 public:
  PartitionParser(std::string_view text, int stages, int layers) : text_(text), stages_(stages), layers_(layers) {}

  std::vector<int> parse() {
    std::string_view rest = text_;
    for (std::size_t comma = rest.find(','); comma != std::string_view::npos; comma = rest.find(',')) {
      add(rest.substr(0, comma));
      rest.remove_prefix(comma + 1);
    }
    add(rest);
    if (problems_.empty()) check_totals();
    if (!problems_.empty()) throw InputError(std::move(problems_));
    return std::move(sizes_);
  }

 private:
  void complain(std::string code, std::string message, std::string help) {
    problems_.push_back({std::move(code), "--partition", std::move(message), std::move(help)});
  }

  void add(std::string_view item) {
    const auto read = read_whole<int>(item);
    const int size = read.value_or(0);
    const std::string which = "stage " + std::to_string(sizes_.size()) + " gets ";
    sizes_.push_back(size);
    if (!read && !item.empty() && item.find_first_not_of("0123456789") == std::string_view::npos) {
      complain("L007", which + "more layers than can be counted", "the model has " + std::to_string(layers_));
    } else if (!read) {
      complain("S061", which + "\"" + std::string(item) + "\", which is not a number of layers",
               "write one whole number per stage, as in 6,6,5,5; auto, even or memory");
    } else if (size < 1) {
      complain("L004", which + std::to_string(size) + " layers", "every stage needs at least one layer");
    }
  }

  void check_totals() {
    if (sizes_.size() != static_cast<std::size_t>(stages_)) {
      complain(
          "L005",
          "the pipeline has " + std::to_string(stages_) + " stages, the partition " + std::to_string(sizes_.size()),
          "give one number per stage (devices times chunks)");
    }
    std::int64_t placed = 0;
    for (const int size : sizes_) placed += size;
    if (placed != layers_) {
      complain("L006", "layers in model / layers placed: " + std::to_string(layers_) + " / " + std::to_string(placed),
               "the numbers must add up to " + std::to_string(layers_));
    }
  }

  std::string_view text_;
  int stages_;
  int layers_;
  std::vector<int> sizes_;
  std::vector<Diagnostic> problems_;
};

std::vector<int> even_layers(const LayersToCut& layers) {
  const LayerCounts counts = count_layers(*layers.profile);
  if (auto even = even_cut(counts, layers.stages)) return *std::move(even);
  throw InputError({"F003", "--partition",
                    std::to_string(counts.blocks) + " blocks cannot be shared evenly by " +
                        std::to_string(layers.stages) + (layers.stages == 1 ? " stage" : " stages"),
                    "write --partition auto, or how many layers each stage gets: --partition a,b,c"});
}

std::vector<int> layers_of_stages(const CutRule& rule, const LayersToCut& layers) {
  switch (rule.how) {
    case CutRule::How::kBalanced:
      return layers.times.empty() ? balanced_partition(*layers.profile, layers.stages) : staged_partition(layers);
    case CutRule::How::kEven:
      return even_layers(layers);
    case CutRule::How::kLayout:
      return parse_layout(rule.text, layers.stages, *layers.profile);
    case CutRule::How::kFramework:
      return framework_cut(rule.text, layers);
    case CutRule::How::kLayers:
      return rule.layers;
    case CutRule::How::kMemory:
    case CutRule::How::kTyped:
      break;
  }
  return PartitionParser(rule.text, layers.stages, static_cast<int>(layers.profile->layers.size())).parse();
}

Nanoseconds median_of_halves(const ProfileLayer& layer) {
  const auto median = [](const std::optional<TimeStatistics>& times) { return times ? times->median : 0; };
  return median(layer.input_grad) + median(layer.weight_grad);
}

}  // namespace

Nanoseconds layer_time(const ProfileLayer& layer) { return layer.forward.median + whole_backward(layer); }

Nanoseconds whole_backward(const ProfileLayer& layer) {
  return layer.backward ? layer.backward->median : median_of_halves(layer);
}

Nanoseconds least_backward(const ProfileLayer& layer) {
  const bool split = layer.input_grad && layer.weight_grad;
  return split ? std::min(median_of_halves(layer), whole_backward(layer)) : whole_backward(layer);
}

CutRule parse_cut_rule(const std::string& text) {
  using How = CutRule::How;
  CutRule rule;
  rule.for_devices = text == kBalancedCut;
  if (rule.for_devices) return rule;
  rule.how = text == kMemoryCut       ? How::kMemory
             : text == kEvenCut       ? How::kEven
             : is_framework_cut(text) ? How::kFramework
             : is_layout(text)        ? How::kLayout
                                      : How::kTyped;
  rule.text = text;
  return rule;
}

CutRule as_cut(std::vector<int> layers) {
  std::string text = partition_text(layers);
  return {CutRule::How::kLayers, std::move(text), std::move(layers)};
}

std::string partition_text(const std::vector<int>& partition) {
  std::string text;
  for (const int layers : partition) text += (text.empty() ? "" : ",") + std::to_string(layers);
  return text;
}

LayerCut cut_layers(const CutRule& rule, const LayersToCut& layers) {
  if (rule.how == CutRule::How::kMemory && layers.memory != nullptr) return memory_partition(*layers.memory);
  return {layers_of_stages(rule, layers), {}, 0};
}

}  // namespace debubble
