#include <cmath>

#include "gpu/workload/reference_math.hpp"

namespace debubble::reference {
namespace {

// One head of one sample: where its numbers are.
struct Head {
  std::size_t query;    // first column in a row of qkv
  std::size_t key;      // "
  std::size_t value;    // "
  std::size_t context;  // first column in a row of context
  std::size_t sample;
};

struct Sizes {
  explicit Sizes(const Shard& shard)
      : samples(static_cast<std::size_t>(shard.samples)),
        sequence(static_cast<std::size_t>(shard.sequence)),
        groups(static_cast<std::size_t>(shard.groups)),
        queries(static_cast<std::size_t>(shard.queries)),
        head_size(static_cast<std::size_t>(shard.head_size)) {}

  [[nodiscard]] std::vector<Head> heads() const {
    std::vector<Head> result;
    for (std::size_t sample = 0; sample < samples; ++sample) {
      for (std::size_t group = 0; group < groups; ++group) {
        const std::size_t first = group * (queries + 2) * head_size;
        for (std::size_t query = 0; query < queries; ++query) {
          result.push_back({first + query * head_size, first + queries * head_size, first + (queries + 1) * head_size,
                            (group * queries + query) * head_size, sample});
        }
      }
    }
    return result;
  }
  [[nodiscard]] std::size_t row(const Head& head, std::size_t position) const {
    return position * samples + head.sample;
  }
  [[nodiscard]] double scale() const { return 1 / std::sqrt(static_cast<double>(head_size)); }

  std::size_t samples, sequence, groups, queries, head_size;
};

// Of the query at `position`, for the keys 0 to itself.
Numbers probabilities(const Sizes& sizes, const Matrix& qkv, const Head& head, std::size_t position) {
  Numbers result(position + 1);
  double total = 0;
  for (std::size_t key = 0; key <= position; ++key) {
    double score = 0;
    for (std::size_t i = 0; i < sizes.head_size; ++i) {
      score += qkv.at(sizes.row(head, position), head.query + i) * qkv.at(sizes.row(head, key), head.key + i);
    }
    result[key] = std::exp(score * sizes.scale());
    total += result[key];
  }
  for (double& number : result) number /= total;
  return result;
}

void add_grad(const Sizes& sizes, const Matrix& qkv, const Matrix& dcontext, const Head& head, std::size_t position,
              Matrix& dqkv) {
  const Numbers p = probabilities(sizes, qkv, head, position);
  const std::size_t self = sizes.row(head, position);
  Numbers dp(position + 1);
  double average = 0;
  for (std::size_t key = 0; key <= position; ++key) {
    const std::size_t other = sizes.row(head, key);
    for (std::size_t i = 0; i < sizes.head_size; ++i) {
      dp[key] += dcontext.at(self, head.context + i) * qkv.at(other, head.value + i);
      dqkv.at(other, head.value + i) += p[key] * dcontext.at(self, head.context + i);
    }
    average += p[key] * dp[key];
  }
  for (std::size_t key = 0; key <= position; ++key) {
    const std::size_t other = sizes.row(head, key);
    const double dscore = p[key] * (dp[key] - average) * sizes.scale();
    for (std::size_t i = 0; i < sizes.head_size; ++i) {
      dqkv.at(self, head.query + i) += dscore * qkv.at(other, head.key + i);
      dqkv.at(other, head.key + i) += dscore * qkv.at(self, head.query + i);
    }
  }
}

}  // namespace

Matrix attention(const Shard& shard, const Matrix& qkv) {
  const Sizes sizes(shard);
  Matrix context(qkv.rows, sizes.groups * sizes.queries * sizes.head_size);
  for (const Head& head : sizes.heads()) {
    for (std::size_t position = 0; position < sizes.sequence; ++position) {
      const Numbers p = probabilities(sizes, qkv, head, position);
      for (std::size_t key = 0; key <= position; ++key) {
        for (std::size_t i = 0; i < sizes.head_size; ++i) {
          context.at(sizes.row(head, position), head.context + i) +=
              p[key] * qkv.at(sizes.row(head, key), head.value + i);
        }
      }
    }
  }
  return context;
}

Matrix attention_grad(const Shard& shard, const Matrix& qkv, const Matrix& dcontext) {
  const Sizes sizes(shard);
  Matrix dqkv(qkv.rows, qkv.columns);
  for (const Head& head : sizes.heads()) {
    for (std::size_t position = 0; position < sizes.sequence; ++position) {
      add_grad(sizes, qkv, dcontext, head, position, dqkv);
    }
  }
  return dqkv;
}

}  // namespace debubble::reference
