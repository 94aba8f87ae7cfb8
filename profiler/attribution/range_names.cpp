#include "profiler/attribution/range_names.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <utility>

#include "formats/profile/layer_runs.hpp"
#include "formats/text/text.hpp"
#include "sim/core/error.hpp"
#include "sim/core/words.hpp"

namespace debubble::attribution {
namespace {

constexpr std::string_view kEngine = "autograd::engine::evaluate_function: ";
constexpr std::string_view kPhasePrefix = "debubble.phase:";
constexpr std::size_t kLongestName = 1000;  // std::regex recurses per character

std::regex compiled(const std::string& pattern, const char* flag) {
  try {
    return std::regex(pattern, std::regex::ECMAScript | std::regex::optimize);
  } catch (const std::regex_error& error) {
    throw InputError({"A001", flag, in_quotes(pattern) + " is not a regular expression: " + error.what(),
                      "ECMAScript syntax; the first group is the name, as in \"^block\\.(\\d+)$\""});
  }
}

// The first group of a match, the whole match of a pattern without groups.
std::optional<std::string> matched(const std::string& name, const std::regex& pattern) {
  std::smatch match;
  if (name.size() > kLongestName || !std::regex_search(name, match, pattern)) return std::nullopt;
  return match.size() > 1 ? match[1].str() : match[0].str();
}

bool starts_with(std::string_view text, std::string_view part) { return text.substr(0, part.size()) == part; }

// Calls of torch.distributed and of its backend for CPUs; those of NCCL are kernels as well.
bool is_host_communication(std::string_view name) { return starts_with(name, "c10d::") || starts_with(name, "gloo:"); }

bool contains_nccl(std::string_view text) {
  return contains_text(text, "nccl") || contains_text(text, "NCCL") || contains_text(text, "Nccl");
}

// "MulBackward0", "CheckpointFunctionBackward": what autograd calls its nodes.
bool is_node_name(std::string_view name) {
  const std::size_t last = name.find_last_not_of("0123456789");
  constexpr std::string_view kEnd = "Backward";
  return last != std::string_view::npos && last + 1 >= kEnd.size() &&
         name.substr(last + 1 - kEnd.size(), kEnd.size()) == kEnd;
}

bool contains_any(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) { return contains_text(text, part); });
}

// "_LayerNormLinearBackward" of TransformerEngine, "LinearWithGradAccumulationAndAsyncCommunicationBackward" of
// Megatron Core: autograd numbers the names of its own nodes only. Kernels of such functions run without operators.
std::optional<NodeKind> fused_kind(std::string_view name) {
  const bool own = !name.empty() && is_digit(name.back());
  if (own || contains_text(name, "FrozenWeight")) return std::nullopt;  // the latter has an input gradient only
  if (contains_text(name, "GroupedLinear")) return NodeKind::kFusedGrouped;
  if (contains_text(name, "MLP")) return NodeKind::kFusedMlp;
  return contains_text(name, "Linear") ? std::optional(NodeKind::kFusedLinear) : std::nullopt;
}

NodeKind node_kind(std::string_view name) {
  if (contains_text(name, "AccumulateGrad")) return NodeKind::kAccumulation;
  if (contains_any(name, {"CppNode", "OperationFuser"})) return NodeKind::kBothAtOnce;
  if (starts_with(name, "TBackward")) return NodeKind::kEmbedding;  // a linear transposes its weight
  if (const std::optional<NodeKind> fused = fused_kind(name)) return *fused;
  if (contains_text(name, "AddmmBackward") || contains_text(name, "LinearBackward")) return NodeKind::kInputFirst;
  if (contains_text(name, "BmmBackward")) return NodeKind::kOrdinary;
  if (contains_text(name, "MmBackward")) return NodeKind::kWeightFirst;
  if (contains_any(name, {"LayerNorm", "RmsNorm", "RMSNorm", "GroupNorm"})) return NodeKind::kNorm;
  if (contains_text(name, "Embedding")) return NodeKind::kEmbedding;
  if (contains_any(name, {"Convolution", "BatchNorm", "CompiledFunction"})) return NodeKind::kBothAtOnce;
  return NodeKind::kOrdinary;
}

OpKind op_kind(std::string_view name) {
  using Entry = std::pair<std::string_view, OpKind>;
  constexpr std::array<Entry, 7> kOps{Entry{"aten::mm", OpKind::kMatmul},
                                      {"aten::matmul", OpKind::kMatmul},
                                      {"aten::bmm", OpKind::kBatchedMatmul},
                                      {"aten::baddbmm", OpKind::kBatchedMatmul},
                                      {"aten::addmm", OpKind::kBiasedMatmul},
                                      {"aten::linear", OpKind::kLinear},
                                      {"aten::sum", OpKind::kSum}};
  // Megatron Core's function: its first operands are those of a linear, too.
  if (starts_with(name, "LinearWithGradAccumulation")) return OpKind::kLinear;
  const auto* found = std::find_if(kOps.begin(), kOps.end(), [&](const Entry& entry) { return entry.first == name; });
  return found == kOps.end() ? OpKind::kOther : found->second;
}

std::optional<Phase> phase_named(std::string_view name) {
  if (!starts_with(name, kPhasePrefix)) return std::nullopt;
  for (const Phase phase :
       {Phase::kForward, Phase::kInputGrad, Phase::kWeightGrad, Phase::kBackward, Phase::kRecompute}) {
    if (name.substr(kPhasePrefix.size()) == to_string(phase)) return phase;
  }
  return std::nullopt;
}

bool is_optimizer(std::string_view name) {
  return starts_with(name, "Optimizer.step") || starts_with(name, "Optimizer.zero_grad");
}

RangeName of_kind(RangeKind kind) {
  RangeName result;
  result.kind = kind;
  return result;
}

// Names that frameworks give: operators, calls of the runtime, and what PyTorch does between them.
bool is_frameworks(std::string_view name) {
  return contains_text(name, "::") || contains_text(name, "cuda") || name == "detach" || name == "detach_" ||
         name == "record_param_comms";
}

RangeName node_named(std::string_view name, RangeKind kind) {
  RangeName result = of_kind(kind);
  result.node = node_kind(name);
  return result;
}

}  // namespace

RangeNames::RangeNames(const AttributionRules& rules)
    : layers_(compiled(rules.layers, "--layers")), steps_(compiled(rules.steps, "--steps")) {}

const RangeName& RangeNames::classify(std::string_view name) {
  const std::uint32_t id = names_.intern(name);
  if (id == kOverflowName) return overflow_ = parse(std::string(name));
  while (known_.size() <= id) {
    known_.push_back(known_.empty() ? RangeName{} : parse(names_.text(static_cast<std::uint32_t>(known_.size()))));
  }
  ++known_[id].count;
  return known_[id];
}

RangeName RangeNames::parse(const std::string& name) {
  if (const std::optional<std::string> layer = matched(name, layers_)) {
    RangeName result = of_kind(RangeKind::kLayer);
    result.layer = layer_number(*layer);
    return result;
  }
  if (const std::optional<Phase> phase = phase_named(name)) {
    RangeName result = of_kind(RangeKind::kPhase);
    result.phase = *phase;
    return result;
  }
  if (matched(name, steps_)) return of_kind(RangeKind::kStep);
  if (is_optimizer(name)) return of_kind(RangeKind::kOptimizer);
  if (starts_with(name, kEngine)) {
    return node_named(std::string_view(name).substr(kEngine.size()), RangeKind::kEngineNode);
  }
  if (is_node_name(name) || contains_text(name, "AccumulateGrad")) return node_named(name, RangeKind::kNode);
  if (contains_nccl(name) || is_host_communication(name)) return of_kind(RangeKind::kCommunication);
  RangeName result;
  result.op = op_kind(name);
  result.node = node_kind(name);
  return result;
}

std::uint32_t RangeNames::layer_number(const std::string& layer) {
  const auto [found, fresh] = layer_numbers_.emplace(layer, static_cast<std::uint32_t>(layer_names_.size()));
  if (!fresh) return found->second;
  if (layer_names_.size() >= kMostLayers) {
    throw InputError({"P017", "", "more than " + std::to_string(kMostLayers) + " layers",
                      "the pattern of layers must give the same layer the same name in every step"});
  }
  layer_names_.push_back(layer);
  return found->second;
}

std::vector<std::string> RangeNames::candidates(std::size_t most) const {
  std::vector<std::pair<std::int64_t, std::string>> found;
  for (std::uint32_t id = 1; id < known_.size(); ++id) {
    const std::string& name = names_.text(id);
    if (known_[id].kind == RangeKind::kOther && known_[id].count > 1 && !is_frameworks(name)) {
      found.emplace_back(-known_[id].count, name);
    }
  }
  std::sort(found.begin(), found.end());
  if (found.size() > most) found.resize(most);
  std::vector<std::string> names;
  for (auto& [count, name] : found) names.push_back(std::move(name));
  return names;
}

}  // namespace debubble::attribution
