#include "schedules/zero_bubble/split_interleaved.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace debubble {

namespace {

class Row {
 public:
  Row(const SplitInterleaved& shape, int device) : shape_(shape), device_(device) {
    row_.reserve(3 * static_cast<std::size_t>(shape.microbatches) * static_cast<std::size_t>(shape.chunks));
  }

  // The k-th forward of the device, or its k-th backward: the same microbatches, chunks from the last to the first.
  void put(OpKind kind, std::int64_t k) {
    const std::int64_t group = shape_.group;
    const std::int64_t microbatch = k / (group * shape_.chunks) * group + k % group;
    if (microbatch >= shape_.microbatches) return;
    const auto turn = static_cast<std::int32_t>(k / group % shape_.chunks);
    const std::int32_t chunk = kind == OpKind::kForward ? turn : shape_.chunks - 1 - turn;
    row_.push_back({kind, false, chunk * shape_.devices + device_, static_cast<std::int32_t>(microbatch)});
  }

  [[nodiscard]] std::vector<Op> take() { return std::move(row_); }

 private:
  const SplitInterleaved& shape_;
  std::int32_t device_;
  std::vector<Op> row_;
};

}  // namespace

std::vector<Op> split_interleaved_row(const SplitInterleaved& shape, int device, int delay) {
  const std::int64_t group = shape.group;
  const std::int64_t groups = (shape.microbatches + group - 1) / group;
  const std::int64_t total = groups * group * shape.chunks;
  const std::int64_t warmup = std::min((shape.chunks - 1) * group + (shape.devices - 1 - device), total);
  Row row(shape, device);
  for (std::int64_t k = 0; k < warmup; ++k) row.put(OpKind::kForward, k);
  std::int64_t weight = 0;
  for (std::int64_t k = 0; k < total; ++k) {
    if (warmup + k < total) row.put(OpKind::kForward, warmup + k);
    row.put(OpKind::kInputGrad, k);
    if (k >= delay) row.put(OpKind::kWeightGrad, weight++);
  }
  while (weight < total) row.put(OpKind::kWeightGrad, weight++);
  return row.take();
}

}  // namespace debubble
