// GpuWorker: runs a rank's ops on its GPU, one after another, and keeps its transfers going meanwhile.
#pragma once

#include <memory>

#include "live/cuda/lane.hpp"
#include "live/cuda/stage_work.hpp"
#include "live/job.hpp"
#include "live/mpi/nccl_library.hpp"
#include "live/mpi/nccl_transport.hpp"
#include "live/mpi/rank_run.hpp"
#include "live/worker.hpp"

namespace debubble::live {

// One GPU with the layers of one rank's stages.
struct RankGpu {
  std::unique_ptr<GpuParts> parts;
  std::unique_ptr<LaneDevice> lane;
  std::unique_ptr<StageWork> work;
  OwnedHandle<cuda::Event> ended;  // recorded after the running op
  Nccl nccl;
};

class GpuWorker final : public Worker {
 public:
  // All must outlive it.
  GpuWorker(const Job& job, std::int32_t device, RankGpu& gpu, NcclTransport& transport);

  // Memory is planned beforehand and counted there (StageWork::peak_memory), so the ledger stays empty.
  void start(Ledger&) override {}
  void begin(const Op& op) override;
  // Tensors are on the GPU, so nothing comes in and nothing goes out here. Throws UnavailableError U057 when the op has
  // not ended after the request's patience, U027 when the GPU fails.
  [[nodiscard]] Payload work(const Op& op, std::span<const std::byte> input) override;
  void end(const Op&) override {}

 private:
  [[nodiscard]] bool has_ended() const;
  [[noreturn]] void refuse_to_wait(const Op& op) const;

  const Job& job_;
  double slowdown_;
  RankGpu& gpu_;
  NcclTransport& transport_;
};

}  // namespace debubble::live
