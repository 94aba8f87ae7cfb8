#include "live/cuda/trace_buffer.hpp"

#include "sim/core/at.hpp"

namespace debubble::live {

TraceBuffer::TraceBuffer(const Job& job, std::int32_t device, WorkDevice& memory) : memory_(memory) {
  const Schedule& schedule = job.schedule();
  const std::vector<Op>& row = at(schedule.rows, device);
  std::size_t next = kFirst + 4 * row.size();
  for (const Op& op : row) {
    Tensor tensor;
    if (output_of(schedule, op, tensor) && user(schedule, tensor) != device) {
      sends_[tensor] = next;
      next += 3;
    }
    if (input_of(schedule, op, tensor) && maker(schedule, tensor) != device) receives_[tensor] = next++;
    const auto key = std::pair(at(schedule.replica_of, op.microbatch), op.stage);
    if (weights_.emplace(key, next).second) ++next;
  }
  words_.assign(next, 0);
  data_ = memory_.allocate(bytes());  // NOLINT(cppcoreguidelines-prefer-member-initializer): sized by words_
}

TraceBuffer::~TraceBuffer() { memory_.release(data_); }

}  // namespace debubble::live
