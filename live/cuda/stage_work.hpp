// StageWork: the stages of one device, as real layers on a GPU: parameters once, activations and gradients for every
// microbatch, each at an address that never changes.
//
//     stage 1 of 3, layers 5 ... 8:    incoming 0F3 ─► [5]─[6]─[7]─[8] ─► outgoing 1F3
//                                      outgoing 1B3 ◄─ [5]─[6]─[7]─[8] ◄─ incoming 2B3
//
// A tensor that stays on the device has one buffer; one that travels has a buffer at each end. After the payload
// comes the tensor's chain value (live/checksum.hpp), so that both travel together: `tensor_bytes` covers both.
//
// Nothing is waited for. Whoever calls sees to the order: an op runs when its inputs are in their incoming buffers.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "gpu/workload/layers.hpp"
#include "gpu/workload/shard.hpp"
#include "live/cuda/stage_memory.hpp"
#include "live/plan.hpp"
#include "sim/core/schedule.hpp"
#include "sim/core/stage_costs.hpp"
#include "sim/core/transformer.hpp"

namespace debubble::live {

// A model cut into stages: `partition` counts layers per stage, embedding and head among them.
struct StagedModel {
  TransformerShape shape;
  std::vector<int> partition;
  WorkloadSize size;  // of a whole microbatch
};

// Throws InputError with all that is wrong: L005 (not one number per stage, or a stage without layers), L006 (the
// numbers do not add up to the model's layers + 2), F003 (a microbatch that does not divide into the schedule's
// pieces), and F001, F002, X005.
void check_model(const StagedModel& model, const Schedule& schedule);

// What each stage holds of a whole microbatch; times are 0. Throws like check_model.
[[nodiscard]] StageCosts memory_costs(const StagedModel& model, const Schedule& schedule);

class StageWork {
 public:
  // The work of row `index` of the schedule. `device` must outlive it. Throws InputError like check_model, and
  // UnavailableError U026 where it does not fit.
  StageWork(WorkDevice& device, const Schedule& schedule, std::int32_t index, const StagedModel& model);
  ~StageWork();
  StageWork(const StageWork&) = delete;
  StageWork& operator=(const StageWork&) = delete;

  // Issues the kernels of one op; B is I and W.
  void run(const Op& op);

  // Where this device has, or wants, a tensor; std::logic_error for one that it neither makes nor uses.
  [[nodiscard]] DeviceAddress outgoing(const Tensor& tensor) const;
  [[nodiscard]] DeviceAddress incoming(const Tensor& tensor) const;
  [[nodiscard]] Bytes payload_bytes() const;
  [[nodiscard]] Bytes tensor_bytes() const;  // payload, then the chain value at chain_offset()
  [[nodiscard]] Bytes chain_offset() const;

  // Memory of a stage as the simulator counts it, per microbatch; times are 0.
  [[nodiscard]] StageCost memory_of(std::int32_t stage) const;
  // By the allocator: see RunIteration.
  [[nodiscard]] Bytes peak_activation() const;
  [[nodiscard]] Bytes peak_memory() const;
  [[nodiscard]] Bytes transfer_buffers() const;  // among them
  // Arena bytes that no buffer ever used, because places do not fit each other without gaps.
  [[nodiscard]] Bytes arena_gaps() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace debubble::live
