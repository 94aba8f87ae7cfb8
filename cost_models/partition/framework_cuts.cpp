// How frameworks cut a model, each over the items that it deals out (dealt_items): embedding, blocks, final norm, head.
//
// torchtitan counts embedding and head as so many blocks and shares all evenly, first stages first. nanotron goes once
// along the items and gives a rank the one that carries it past its share of all costs. DeepSpeed's table has, for the
// first `end` items in `part` parts, the cut whose heaviest and lightest part differ least, made of the best cut before
// the last part. That is DeepSpeed's own recurrence and not the optimum: the best whole need not begin with the best
// beginning. So the table is kept as it is, equal ones included, of which the last counts: O(items^2 * parts) steps.
#include "cost_models/partition/framework_cuts.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "sim/core/at.hpp"
#include "sim/core/error.hpp"
#include "sim/core/numbers.hpp"
#include "sim/core/transformer.hpp"

namespace debubble {
namespace {

constexpr std::array<std::string_view, 4> kCuttingFrameworks{"torchtitan", "nanotron", "deepspeed", "neox"};

[[noreturn]] void refuse_rule(std::string_view text) {
  fail("S061", "--partition", "\"" + std::string(text) + "\" is no rule of a framework",
       "write torchtitan, torchtitan:2,3 (layers less on the first and on the last stage), nanotron, deepspeed, neox, "
       "or deepspeed: or neox: with parameters, uniform or type:NAME|NAME");
}

// What a framework deals out. The final norm is an item of its own where it lies in the head's layer.
struct CutItem {
  LayerRole role = LayerRole::kBlock;
  std::string names;  // of its class, in the frameworks that cut by names
  Bytes parameters = 0;
  int layers = 1;  // of the profile
};

// GPT2ModelPipe.init_specs: functions, which DeepSpeed finds by their names and which weigh nothing.
void add_neox_functions(std::vector<CutItem>& items) {
  const auto is_block = [](const CutItem& item) { return item.role == LayerRole::kBlock; };
  const auto first = std::find_if(items.begin(), items.end(), is_block);
  const auto last = std::find_if(items.rbegin(), items.rend(), is_block).base();
  const auto before = first - items.begin();
  items.insert(last, {LayerRole::kBlock, "_post_transformer_block", 0, 0});
  items.insert(items.begin() + before, {LayerRole::kBlock, "_pre_transformer_block", 0, 0});
}

std::vector<CutItem> dealt_items(const LayersToCut& cut) {
  const LayerCounts counts = count_layers(*cut.profile);
  const int blocks_end = counts.embedding + counts.blocks;
  std::vector<CutItem> items;
  for (const ProfileLayer& layer : cut.profile->layers) {
    const auto number = static_cast<int>(&layer - cut.profile->layers.data());
    const LayerRole role = number < counts.embedding ? LayerRole::kEmbedding
                           : number < blocks_end     ? LayerRole::kBlock
                                                     : role_of(layer.kind);
    Bytes parameters = layer.parameters;
    if (role == LayerRole::kHead && cut.sizes.head_norm > 0 && (items.empty() || items.back().role != role)) {
      items.push_back({LayerRole::kHead, "LayerNorm NormPipe", cut.sizes.head_norm, 0});
      parameters -= std::min(parameters, cut.sizes.head_norm);
    }
    std::string names = layer.kind + (role == LayerRole::kEmbedding ? " EmbeddingPipe"
                                      : role == LayerRole::kBlock   ? " ParallelTransformerLayerPipe block"
                                      : cut.sizes.tied              ? " EmbeddingPipe"
                                                                    : " LMHeadPipe ParallelLinearPipe");
    items.push_back({role, std::move(names), parameters, 1});
  }
  return items;
}

std::vector<int> uniform_parts(int items, int parts) {
  std::vector<int> sizes(to_index(parts), items / parts);
  for (int k = 0; k < items % parts; ++k) ++at(sizes, k);
  return sizes;
}

bool contains_name(std::string_view names, std::string_view name) {
  const auto same = [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); };
  return std::search(names.begin(), names.end(), name.begin(), name.end(), same) != names.end();
}

// DeepSpeed takes a regular expression: names without signs, and what lies between them, are all that is understood.
std::vector<double> weights_by_name(std::string_view names, const std::vector<CutItem>& items) {
  const bool plain =
      std::all_of(names.begin(), names.end(), [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '|'; });
  if (!plain || names.empty()) refuse_rule("deepspeed:type:" + std::string(names));
  std::vector<double> weights(items.size(), 0);
  for (std::size_t begin = 0; begin <= names.size();) {
    const std::size_t end = std::min(names.find('|', begin), names.size());
    const std::string_view name = names.substr(begin, end - begin);
    for (std::size_t k = 0; k < items.size(); ++k) {
      if (contains_name(items[k].names, name)) weights[k] = 1;
    }
    begin = end + 1;
  }
  if (std::count(weights.begin(), weights.end(), 1.0) == 0) {
    fail("L004", "--partition", "DeepSpeed finds no layers of the type \"" + std::string(names) + "\"",
         "blocks are transformer, besides embedding and norm");
  }
  return weights;
}

std::vector<int> deepspeed_parts(std::string_view method, const LayersToCut& cut, const std::vector<CutItem>& items) {
  constexpr std::string_view kByType = "type:";
  if (method == "uniform") return uniform_parts(static_cast<int>(items.size()), cut.stages);
  if (method.starts_with(kByType)) {
    return deepspeed_balance(weights_by_name(method.substr(kByType.size()), items), cut.stages);
  }
  if (!method.empty() && method != "parameters") refuse_rule("deepspeed:" + std::string(method));
  std::vector<double> weights;
  for (const CutItem& item : items) weights.push_back(static_cast<double>(item.parameters));
  return deepspeed_balance(weights, cut.stages);
}

// Item by item, each on the rank that has not yet reached its share of the cost: one that passes it is the rank's last.
std::vector<int> nanotron_parts(const LayersToCut& cut, const std::vector<CutItem>& items) {
  const CutSizes& sizes = cut.sizes;
  if (sizes.hidden < 1 || sizes.heads < 1 || sizes.feed_forward < 1 || sizes.vocabulary < 1) {
    fail("C004", "--partition", "nanotron's cut follows from the model's sizes, and the profile does not say them",
         "give the model with --model, or how many layers each stage gets");
  }
  const auto hidden = static_cast<double>(sizes.hidden);
  const double attention = 4.0 * static_cast<double>(sizes.heads * (sizes.hidden / sizes.heads));
  const double block = (attention + sizes.mlp_matrices * static_cast<double>(sizes.feed_forward)) * hidden;
  std::vector<double> sums;
  double sum = 0;
  for (const CutItem& item : items) {
    if (item.role == LayerRole::kBlock) sum += block;
    if (item.role == LayerRole::kHead && item.layers > 0) sum += static_cast<double>(sizes.vocabulary) * hidden;
    sums.push_back(sum);
  }
  std::vector<int> parts(to_index(cut.stages), 0);
  int rank = 0;
  for (const double reached : sums) {
    ++at(parts, rank);
    if (reached > sum * (static_cast<double>(rank + 1) / cut.stages)) ++rank;
  }
  return parts;
}

struct LessLayers {
  std::int64_t first = 1;
  std::int64_t last = 1;
};

LessLayers parse_less_layers(std::string_view text) {
  if (text.empty()) return {};
  const std::size_t comma = std::min(text.find(','), text.size());
  const auto first = read_whole<int>(text.substr(0, comma));
  const auto last = comma < text.size() ? read_whole<int>(text.substr(comma + 1)) : std::nullopt;
  if (!first || !last || *first < 0 || *last < 0) refuse_rule("torchtitan:" + std::string(text));
  return {*first, *last};
}

// Embedding and head weigh as much as so many blocks, and the stages with one more come first.
std::vector<int> torchtitan_layers(std::string_view text, const LayersToCut& cut) {
  const LessLayers less = parse_less_layers(text);
  const LayerCounts counts = count_layers(*cut.profile);
  const int behind = counts.head + counts.predictors;
  if (cut.stages == 1) return {counts.embedding + counts.blocks + behind};
  const std::int64_t all = counts.blocks + less.first + less.last;
  const std::int64_t each = all / cut.stages;
  if (each < 1 || less.first > each || less.last > each) {
    fail("L004", "--partition",
         "torchtitan refuses " + std::to_string(counts.blocks) + " blocks, and first and last stage less " +
             std::to_string(less.first) + " and " + std::to_string(less.last) + ", on " + std::to_string(cut.stages) +
             " stages: " + std::to_string(each) + " for each",
         each < 1 ? "use fewer stages"
                  : "let pipeline_parallel_first_ and last_stage_less_layers be at most " + std::to_string(each));
  }
  std::vector<int> layers = uniform_parts(static_cast<int>(all), cut.stages);
  layers.front() += counts.embedding - static_cast<int>(less.first);
  layers.back() += behind - static_cast<int>(less.last);
  return layers;
}

std::vector<int> layers_of_parts(const std::vector<int>& parts, const std::vector<CutItem>& items) {
  std::vector<int> layers;
  auto item = items.begin();
  for (const int part : parts) {
    layers.push_back(
        std::accumulate(item, item + part, 0, [](int sum, const CutItem& one) { return sum + one.layers; }));
    item += part;
  }
  return layers;
}

struct DeepspeedPrefix {
  bool known = false;
  double most = 0;
  double least = std::numeric_limits<double>::infinity();
  int from = 0;
};

}  // namespace

bool is_framework_cut(std::string_view text) {
  const std::string_view name = text.substr(0, text.find(':'));
  return std::find(kCuttingFrameworks.begin(), kCuttingFrameworks.end(), name) != kCuttingFrameworks.end();
}

std::vector<int> framework_cut(std::string_view text, const LayersToCut& cut) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string_view name = text.substr(0, colon);
  const std::string_view method = colon < text.size() ? text.substr(colon + 1) : std::string_view();
  if (colon < text.size() && (method.empty() || name == "nanotron")) refuse_rule(text);
  std::vector<int> layers;
  if (name == "torchtitan") {
    layers = torchtitan_layers(method, cut);
  } else {
    std::vector<CutItem> items = dealt_items(cut);
    const bool neox = name == "neox";
    if (neox) add_neox_functions(items);
    const std::string_view own = neox && method.empty() ? "type:transformer|mlp" : method;
    layers = layers_of_parts(name == "nanotron" ? nanotron_parts(cut, items) : deepspeed_parts(own, cut, items), items);
  }
  const auto none = std::find_if(layers.begin(), layers.end(), [](int count) { return count < 1; });
  // nanotron's last ranks may have the loss alone, which is the head's here.
  if (none == layers.end() || name == "nanotron") return layers;
  fail("L004", "--partition",
       std::string(name) + "'s cut " + partition_text(layers) + " leaves stage " +
           std::to_string(none - layers.begin()) + " without layers",
       "use fewer devices or chunks");
}

CutSizes cut_sizes(const TransformerShape& shape, int weight_bytes) {
  CutSizes sizes;
  sizes.hidden = shape.hidden;
  sizes.heads = shape.heads;
  sizes.feed_forward = shape.feed_forward;
  sizes.vocabulary = shape.vocabulary;
  sizes.mlp_matrices = shape.gated ? 3 : 2;
  sizes.head_norm = norm_parameters(shape, shape.hidden) * weight_bytes;
  sizes.tied = shape.tied_embedding;
  return sizes;
}

std::vector<int> deepspeed_balance(const std::vector<double>& weights, int parts) {
  const auto count = static_cast<int>(weights.size());
  if (count <= parts) {
    std::vector<int> sizes(to_index(parts), 0);
    std::fill_n(sizes.begin(), count, 1);
    return sizes;
  }
  constexpr double kMostSteps = 4e9;
  if (1.0 * count * count * parts > kMostSteps) {
    fail("S063", "--partition",
         "DeepSpeed's balance of " + std::to_string(count) + " layers over " + std::to_string(parts) +
             " stages takes too long",
         "give the layers per stage");
  }
  std::vector<double> sums(to_index(count + 1), 0);
  std::partial_sum(weights.begin(), weights.end(), sums.begin() + 1);
  std::vector<std::vector<DeepspeedPrefix>> best(to_index(count + 1),
                                                 std::vector<DeepspeedPrefix>(to_index(parts + 1)));
  best[0][0].known = true;
  for (int end = 1; end <= count; ++end) {
    for (int part = 1; part <= std::min(end, parts); ++part) {
      DeepspeedPrefix& here = at(at(best, end), part);
      for (int from = 0; from < end; ++from) {
        const DeepspeedPrefix& before = at(at(best, from), part - 1);
        if (!before.known) continue;
        const double size = at(sums, end) - at(sums, from);
        const double most = std::max(before.most, size);
        const double least = std::min(before.least, size);
        // The last of several equal ones.
        if (!here.known || most - least <= here.most - here.least) here = {true, most, least, from};
      }
    }
  }
  std::vector<int> sizes(to_index(parts), 0);
  int end = count;
  for (int part = parts; part > 0; --part) {
    const int from = at(at(best, end), part).from;
    at(sizes, part - 1) = end - from;
    end = from;
  }
  return sizes;
}

}  // namespace debubble
