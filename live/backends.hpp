// The backends, one function each. All throw InputError for requests they cannot run and WrongDataError when a checksum
// chain is broken; a run that gets stuck is a result (LiveResult::stall).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gpu/workload/transformer_model.hpp"
#include "live/live.hpp"
#include "sim/core/transformer.hpp"

namespace debubble::live {

// One pinned thread per device, real matmuls (OpenBLAS where it is installed, else our own). Any clock.
// Throws UnavailableError U050 when the wall clock is asked for and there are fewer usable cores than devices + 1.
[[nodiscard]] LiveResult run_on_cpu(const LiveRequest& request, const LiveProgress& progress);

// All devices in one process, as parts of one GPU (green contexts) or one GPU each.
struct CudaOptions {
  TransformerShape shape;      // the model; its layers are cut into the schedule's stages by `partition`
  std::vector<int> partition;  // layers per stage, embedding and head among them: shape.layers + 2 in all
  WorkloadSize size;
  bool graph = false;         // the whole iteration as one CUDA graph; else eager, while a gate is closed
  bool one_gpu_each = false;  // devices are GPUs 0 ... p - 1, with peer copies; else parts of GPU `gpu`
  int gpu = 0;
};
// `request.costs` are not needed: they are calibrated, first alone, then with all partitions busy, and returned. The
// clock is the GPU's. Throws UnavailableError U020 to U027 as the profiler does, U060 for what only live needs.
[[nodiscard]] LiveResult run_on_cuda(const LiveRequest& request, const CudaOptions& options,
                                     const LiveProgress& progress);

// One MPI rank per device; call in every rank. Only rank 0 gets the iterations; the others' `iterations` are empty.
// Throws UnavailableError U052 where debubble was built, or runs, without MPI, and InputError E010 when the number of
// ranks is not the number of devices, E011 when the ranks mean different runs.
struct MpiOptions {
  bool gpus = false;         // work on one GPU per rank, transfers by NCCL; else work on the CPU, transfers by MPI
  CudaOptions model;         // with `gpus`: shape, partition and size
  std::string version = {};  // debubble's own: ranks of different versions do not run together
};
[[nodiscard]] LiveResult run_over_mpi(const LiveRequest& request, const MpiOptions& options,
                                      const LiveProgress& progress);
// Whether this process was started by mpirun, and which rank it is then; looks at the environment only.
[[nodiscard]] std::optional<int> mpi_rank_of_environment();

// One Python process per device, with PyTorch's autograd and torch.distributed, on this host. `request.costs` are not
// needed: they are measured, each process alone, and returned; the clock is the wall's. The gradients are compared with
// those of the unsplit model: the result's assumptions say with what outcome, and WrongDataError is thrown where they
// differ. Throws UnavailableError U058 without PyTorch, U051 where no process starts; InputError E040 for schedules
// that it cannot run, E003 for transfers and faults, E013 for errors of the user's stages.
struct TorchOptions {
  std::string package;                // the folder that holds debubble_torch
  std::string stages = {};            // "module:factory" of the user's stages; empty: the built-in chain
  std::string folder = {};            // where that module is looked for first
  std::vector<int> partition = {};    // layers per stage of the factory's nn.Sequential; empty: evenly
  std::string precision = "float64";  // or "float32"
  bool gpus = false;                  // one GPU per process, NCCL; else the CPU, gloo
  int timings = 11;                   // of every op, before the run
};
// When a signal ends the run, it returns without iterations, and the signal is raised again.
[[nodiscard]] LiveResult run_on_torch(const LiveRequest& request, const TorchOptions& options,
                                      const LiveProgress& progress);

}  // namespace debubble::live
