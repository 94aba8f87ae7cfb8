// What the name of a range says: a layer, a step, a phase, a node of autograd, an operator, or nothing.
//
//     debubble.layer:block.3                                   layer "block.3"
//     autograd::engine::evaluate_function: AddmmBackward0      a node, as the engine sees it
//     AddmmBackward0                                           the node itself (only with a sequence number)
//     aten::mm, aten::linear, ...                              operators that tell gradients or weights apart
//
// Every name is looked at once; regexes are slow.
#pragma once

#include <cstdint>
#include <map>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/attribution/attribution.hpp"
#include "profiler/attribution/name_table.hpp"
#include "profiler/attribution/slot.hpp"

namespace debubble::attribution {

enum class RangeKind : std::uint8_t { kOther, kLayer, kStep, kPhase, kOptimizer, kCommunication, kNode, kEngineNode };

// What a backward node's work is for, as far as its name tells.
enum class NodeKind : std::uint8_t {
  kOrdinary,     // input gradient
  kInputFirst,   // Addmm: one matmul per operand, the input's first
  kWeightFirst,  // Mm: the second operand's, the weight's, first
  kNorm,         // told apart by kernel names
  kEmbedding,    // weight gradient alone; also of the transposition of a weight, which takes time on a CPU
  kBothAtOnce,   // convolutions, compiled graphs and C++ functions: cannot be told apart
  kFusedLinear,  // told apart by the order of the kernels of its products, as are the next two
  kFusedMlp,
  kFusedGrouped,
  kAccumulation,  // AccumulateGrad: adds to a parameter's gradient
};

enum class OpKind : std::uint8_t { kOther, kMatmul, kBatchedMatmul, kBiasedMatmul, kLinear, kSum };

struct RangeName {
  RangeKind kind = RangeKind::kOther;
  NodeKind node = NodeKind::kOrdinary;  // also of kOther, which the engine may run as a node
  OpKind op = OpKind::kOther;
  Phase phase = Phase::kForward;  // of kPhase
  std::uint32_t layer = 0;        // of kLayer: its number
  std::int64_t count = 0;         // how often it was pushed
};

class RangeNames {
 public:
  explicit RangeNames(const AttributionRules& rules);  // throws InputError A001

  // The same object for the same name, until the next call.
  [[nodiscard]] const RangeName& classify(std::string_view name);

  [[nodiscard]] const std::vector<std::string>& layers() const { return layer_names_; }
  // Names that could have been meant as layers, for the error message: those that repeat, the most frequent first.
  [[nodiscard]] std::vector<std::string> candidates(std::size_t most) const;

 private:
  [[nodiscard]] RangeName parse(const std::string& name);
  [[nodiscard]] std::uint32_t layer_number(const std::string& layer);

  std::regex layers_;
  std::regex steps_;
  NameTable names_;
  std::vector<RangeName> known_;  // by number of the name
  RangeName overflow_;
  std::map<std::string, std::uint32_t> layer_numbers_;
  std::vector<std::string> layer_names_;
};

}  // namespace debubble::attribution
