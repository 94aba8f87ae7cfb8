// modelled_profile: a Profile computed from a transformer's sizes, one accelerator's figures and the links between
// them, in the form of a measured one, so that everything that takes a profile takes a modelled model.
//
// A layer's time is the sum of its kernels' (kernel_time) and of its collectives that nothing hides.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cost_models/collectives/collective.hpp"
#include "cost_models/collectives/nccl_model.hpp"
#include "cost_models/transformer/kernel_time.hpp"
#include "cost_models/transformer/setup.hpp"
#include "sim/core/link_graph.hpp"
#include "sim/core/profile.hpp"
#include "sim/core/rank_layout.hpp"

namespace debubble {

class KnownLayers;  // cost_models/transformer/known_layers.hpp
// What an eager framework's host spends on one kernel of the model: 720 runs of Megatron-DeepSpeed on one machine of
// A100 (VIA-Research/vTrain, data/ground_truth_single.csv, every other row), where layers take 3 to 4 ms for each
// microbatch however small they are, are predicted best with it. cudaLaunchKernel alone takes 6 us on an H100's host
// (traces/recordings, nsys_h100_mfu_2gpu_before); the rest is Python, autograd and kernels that the model takes as one.
inline constexpr Nanoseconds kEagerLaunch = 62'000;

struct ModelRequest {
  TrainingSetup setup;
  KernelModel kernels;
  CollectiveModel collectives;               // where there is no generation
  std::optional<LinkGeneration> generation;  // NCCL's latencies and efficiencies on such links
  // The cluster and the job's place on it; null: every group has a switch of its own, with the hardware's link figures.
  const LinkGraph* graph = nullptr;
  const RankLayout* layout = nullptr;
  KnownDrafts* drafts = nullptr;  // these two on the graph; null: none are kept
  KnownLayers* layers = nullptr;
  Nanoseconds host_launch = 0;  // of one kernel; 0: kernels run from CUDA graphs, and the host is never late
  int place = 0;                // the device of the pipeline whose ranks' groups count
};

// Collectives run in all groups of one device of the pipeline (`place`) side by side. Throws InputError (F001 to F003)
// where the model does not fit the split (more tensor ranks than heads, more expert ranks than experts, ...), all
// reasons at once.
[[nodiscard]] Profile modelled_profile(const ModelRequest& request);

// Throws InputError with everything that makes the setup impossible.
void check_setup(const TrainingSetup& setup);

// How long one collective of a layer takes with nothing else around, calibration included, and how much longer compute
// that overlaps it takes (CollectiveModel::slow_down).
struct OpTime {
  Nanoseconds alone = 0;
  double slow_down = 0;
};
[[nodiscard]] OpTime collective_time(const LayerOp& op, const ModelRequest& request);

// The links that collectives inside layers take at the request's place, in numbers that count from there: two places
// with equal ones have equal times. Empty without a graph or without such collectives.
[[nodiscard]] std::vector<std::int64_t> links_inside(const ModelRequest& request);

// Of one device in the format that the setup computes in, per second; 0: it has no such units.
[[nodiscard]] double peak_flops(const Hardware& hardware, NumberFormat format);

}  // namespace debubble
