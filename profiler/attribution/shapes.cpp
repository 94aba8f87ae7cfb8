#include "profiler/attribution/shapes.hpp"

#include <cstddef>
#include <optional>

#include "sim/core/numbers.hpp"

namespace debubble::attribution {
namespace {

constexpr std::int64_t kLargestDimension = std::int64_t{1} << 40;

// Reads "[[8, 512], [], [64]]" list by list.
class SizesReader {
 public:
  explicit SizesReader(std::string_view text) : text_(text) { skip('['); }

  // The next operand as a matrix: all but the last dimension folded. Nothing for scalars, vectors and malformed text.
  Matrix next() {
    Matrix matrix;
    std::size_t dimensions = 0;
    std::int64_t last = 1;
    std::int64_t folded = 1;
    if (!skip('[')) return {};
    while (!skip(']')) {
      const std::optional<std::int64_t> size = number();
      if (!size || __builtin_mul_overflow(folded, last, &folded)) return {};
      last = *size;
      ++dimensions;
      skip(',');
    }
    skip(',');
    if (dimensions >= 2 && folded <= kLargestDimension) matrix = {folded, last};
    return matrix;
  }

 private:
  bool skip(char wanted) {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }

  std::optional<std::int64_t> number() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    std::string_view rest = text_.substr(at_);
    const auto value = take_whole<std::int64_t>(rest);
    if (!value || *value < 0 || *value > kLargestDimension) return std::nullopt;
    at_ = text_.size() - rest.size();
    return value;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

Matrix transposed(const Matrix& matrix) { return {matrix.columns, matrix.rows}; }

}  // namespace

Matmul matmul_of(OpKind op, std::string_view sizes) {
  if (sizes.empty()) return {};
  SizesReader reader(sizes);
  switch (op) {
    case OpKind::kBiasedMatmul: {
      (void)reader.next();  // the bias
      const Matrix input = reader.next();
      return {input, reader.next()};
    }
    case OpKind::kLinear:
    case OpKind::kMatmul: {
      const Matrix input = reader.next();
      return {input, reader.next()};
    }
    case OpKind::kBatchedMatmul:
    case OpKind::kSum:
    case OpKind::kOther:
      return {};
  }
  return {};
}

Matrix result_of(OpKind op, std::string_view sizes) {
  SizesReader reader(sizes);
  if (op == OpKind::kBiasedMatmul) (void)reader.next();
  const Matrix left = reader.next();
  const Matrix right = reader.next();
  if (!left.known() || !right.known() || left.columns != right.rows) return {};
  return {left.rows, right.columns};
}

Gradient gradient_of(const Matmul& forward, const Matrix& result, NodeKind order, int earlier) {
  if (!forward.known() || !result.known()) return {};
  const bool weight = result == forward.weight || result == transposed(forward.weight);
  const bool input = result == forward.input || result == transposed(forward.input);
  // Of a square matmul shapes say nothing. PyTorch's derivatives compute the two in a fixed order, which the kind of
  // node tells.
  if (weight && input) {
    const bool weight_now = (order == NodeKind::kWeightFirst) == (earlier == 0);
    return {weight_now ? Phase::kWeightGrad : Phase::kInputGrad, Rule::kOrder};
  }
  if (weight) return {Phase::kWeightGrad, Rule::kShape};
  if (input) return {Phase::kInputGrad, Rule::kShape};
  return {};
}

}  // namespace debubble::attribution
