#include "schedules/zero_bubble/split_interleaved.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "schedules/common/group_walk.hpp"

namespace debubble {

namespace {

// The device's ops of one kind, one after another: its forwards, or its backwards, which are the same microbatches,
// chunks from the last to the first.
class Ops {
 public:
  Ops(const SplitInterleaved& shape, std::int32_t device, OpKind kind)
      : shape_(shape), device_(device), kind_(kind), walk_(shape.group, shape.chunks) {}

  Op next() {
    const std::int32_t chunk = kind_ == OpKind::kForward ? walk_.chunk() : shape_.chunks - 1 - walk_.chunk();
    const Op op{kind_, false, chunk * shape_.devices + device_, walk_.microbatch()};
    walk_.next();
    return op;
  }

 private:
  SplitInterleaved shape_;
  std::int32_t device_;
  OpKind kind_;
  GroupWalk walk_;
};

}  // namespace

std::vector<Op> split_interleaved_row(const SplitInterleaved& shape, int device, int delay) {
  const std::int64_t group = shape.group;
  const std::int64_t groups = (shape.microbatches + group - 1) / group;
  const std::int64_t total = groups * group * shape.chunks;
  const std::int64_t warmup = std::min((shape.chunks - 1) * group + (shape.devices - 1 - device), total);
  std::vector<Op> row;
  row.reserve(3 * static_cast<std::size_t>(shape.microbatches) * static_cast<std::size_t>(shape.chunks));
  const auto put = [&row, last = shape.microbatches - 1](const Op& op) {
    if (op.microbatch <= last) row.push_back(op);
  };
  Ops forwards(shape, device, OpKind::kForward);
  Ops input_grads(shape, device, OpKind::kInputGrad);
  Ops weight_grads(shape, device, OpKind::kWeightGrad);
  for (std::int64_t k = 0; k < warmup; ++k) put(forwards.next());
  for (std::int64_t k = 0; k < total; ++k) {
    if (warmup + k < total) put(forwards.next());
    put(input_grads.next());
    if (k >= delay) put(weight_grads.next());
  }
  for (std::int64_t k = std::max(total - delay, std::int64_t{0}); k < total; ++k) put(weight_grads.next());
  return row;
}

}  // namespace debubble
