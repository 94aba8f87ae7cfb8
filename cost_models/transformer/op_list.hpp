// OpList: collects a layer's ops part by part: forwards in their order, backwards in the opposite one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cost_models/transformer/layer_ops.hpp"

namespace debubble {

// A share of `value` among `ranks`, rounded up.
[[nodiscard]] constexpr std::int64_t share_of(std::int64_t value, std::int64_t ranks) {
  return (value + ranks - 1) / ranks;
}

// Sizes of one microbatch on one rank that every part needs.
struct RankSizes {
  explicit RankSizes(const TrainingSetup& setup);

  std::int64_t tensor = 1;
  std::int64_t sequence = 0;   // tokens of a sample on this context rank
  std::int64_t tokens = 0;     // of the microbatch inside tensor-parallel regions
  std::int64_t row_share = 0;  // of these between them: split over the tensor ranks with sequence parallelism
  Bytes element = 2;           // of an activation
};

// Of the tokens of all tensor ranks, those whose copies the ranks that split an expert have: each brings its own.
[[nodiscard]] inline double tokens_gathered(const Parallelism& sizes) {
  return static_cast<double>(sizes.split_of_expert()) / sizes.tensor;
}

// What a pass over memory computes, and what of its bytes would not move inside the kernel before it, forward and
// backward.
struct PassWork {
  double forward = 0;  // operations of the ordinary units; an exponential or an activation function counts as one
  double backward = 0;
  bool normalises = false;
  LayerOp::Joins forward_joins = LayerOp::Joins::kNothing;
  Bytes forward_fusable = 0;
  LayerOp::Joins backward_joins = LayerOp::Joins::kNothing;
  Bytes backward_fusable = 0;
};

// One matmul with weights, `batch` of them for experts.
struct Linear {
  std::string name;
  std::int64_t m = 0;  // of the forward, output m x n; the backward permutes them
  std::int64_t k = 0;
  std::int64_t n = 0;
  std::int64_t batch = 1;
  double imbalance = 1;
  bool wide = false;  // 16 bits where other products have 8
  // One of the layers that have user buffers: qkv, proj, fc1 and fc2 in Transformer Engine's initialize_ub.
  bool user_buffers = false;
  bool bias = false;  // it adds one to its output
  // Columns of the products that frameworks without joined ones run one by one; empty: it is one.
  std::vector<std::int64_t> joins{};
  bool never_kept = false;  // the router, and products of many experts (kOp)
};

// The collectives around a matmul over the tensor ranks.
enum class TensorSide {
  kNone,    // every rank has its own weights, or there is one rank
  kColumn,  // outputs are split: gathers its input with sequence parallelism, sums its input gradient
  kRow      // inputs are split: sums its output
};

class OpList {
 public:
  explicit OpList(const TrainingSetup& setup) : setup_(setup), sizes_(setup) {}

  [[nodiscard]] const RankSizes& sizes() const { return sizes_; }

  // Ops that belong together; their backward runs in the order in which it is added.
  void begin_part();
  void linear(const Linear& linear, TensorSide side = TensorSide::kNone);
  void elementwise(const std::string& name, Bytes forward, Bytes backward, int kernels = 1, int backward_kernels = 1,
                   const PassWork& work = {});
  // `batch` matmuls of m x k by k x n without weights: two matmuls backward.
  void matmul(const std::string& name, std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k);
  // A collective forward, and another one backward.
  void collective(const std::string& name, Dimension group, CollectiveKind forward, CollectiveKind backward,
                  Bytes bytes, double imbalance = 1);
  // Tokens to the ranks of their experts, or back; `bytes` of all copies of a token.
  void token_exchange(const std::string& name, Bytes bytes, double imbalance);
  void forward(LayerOp op);
  void backward(LayerOp op);
  // The host waits for the GPU before it launches this part's forward.
  void host_waits_before(std::size_t part);
  // The forwards of the parts from `first_part` on run again before their backwards.
  void recompute_from(std::size_t first_part);
  [[nodiscard]] std::size_t parts() const { return parts_.size(); }

  // Everything runs again before the backwards but what makes the outputs that `setup` keeps.
  void recompute_unkept();
  // What of the forwards is kept then.
  struct Kept {
    Bytes bytes = 0;
    std::int32_t tensors = 0;
  };
  [[nodiscard]] Kept kept() const;

  [[nodiscard]] std::vector<LayerOp> finish(bool recompute_all);

 private:
  struct Part {
    std::vector<LayerOp> forward;
    std::vector<LayerOp> backward;
  };
  // A tensor that a forward op makes, one of several where it joins products.
  struct Output {
    std::size_t part = 0;
    std::size_t op = 0;
    std::int64_t columns = 0;
    Bytes bytes = 0;
    double flops = 0;
    bool counted = false;  // a product with weights
    bool kept = true;
  };
  struct Product {
    std::size_t part = 0;
    std::size_t op = 0;
    std::vector<std::int64_t> columns;
  };

  [[nodiscard]] std::vector<Output> outputs() const;
  void add_outputs(std::size_t part, std::size_t op, std::vector<Output>& list) const;
  [[nodiscard]] LayerOp without(LayerOp op, std::int64_t columns) const;

  [[nodiscard]] NumberFormat format_of(const Linear& linear) const;
  [[nodiscard]] LayerOp matmul_op(const Linear& linear, LayerOp::Phase phase) const;
  [[nodiscard]] std::int64_t further_launches(const Linear& linear) const;
  static void cut(LayerOp& product, int parts);
  void cast(const Linear& linear);
  void sum_biases(const Linear& linear, std::int64_t rows);
  // Into how many parts a product is cut whose input is gathered over the tensor ranks, or whose output is summed.
  [[nodiscard]] int gathered_parts(const Linear& linear) const;
  [[nodiscard]] int summed_parts(const Linear& linear) const;
  [[nodiscard]] LayerOp tensor_collective(const std::string& name, CollectiveKind kind, Bytes bytes,
                                          LayerOp::Phase phase) const;

  const TrainingSetup& setup_;
  RankSizes sizes_;
  std::vector<Part> parts_;
  std::vector<std::pair<std::size_t, std::size_t>> again_;  // [first part, one past the last)
  std::vector<Product> products_;                           // with weights, in the order of the forwards
  std::vector<LayerOp> unkept_;                             // run again at once, before all backwards
};

// Who carries tokens to their experts, and among which they are.
[[nodiscard]] TokenExchange token_exchange_of(const TrainingSetup& setup);
[[nodiscard]] LayerOp elementwise_op(const std::string& name, LayerOp::Phase phase, Bytes bytes, int kernels = 1);

}  // namespace debubble
