// What a modelled step consists of by kinds of work, and how far measurements of each kind scatter about the model's
// figures.
//
// Shares are of the step's critical path: what it takes longer if all work of the kind takes longer. Scatter is the
// standard deviation of log(measured / modelled): of the error that one measured row in ten exceeds, over 1.645 as of a
// normal distribution. A kind of work that this GPU or machine has no table of is modelled by formulas, whose errors
// are larger.
#pragma once

#include <string>
#include <vector>

#include "scenario/request/scenario.hpp"
#include "sim/analysis/report.hpp"
#include "sim/analysis/step_range.hpp"

namespace debubble {

// Of a run of the scenario that has a result; empty without a --model. In the order of their names.
[[nodiscard]] std::vector<TimeKind> time_kinds(const Scenario& scenario, const Report& report);

// Whether there are experts' products among them: such models have ends of their own.
[[nodiscard]] bool have_experts(const std::vector<TimeKind>& kinds);

// Errors that one measured row in ten exceeds, of what has no table with errors of its own. Each says where it is from.
namespace scatter {

// Of 12 pairs on H200, GB200 and GB300 (causal forward, heads of 128, 2048 to 16384 tokens): one library's attention
// over another's, NVIDIA/cudnn-frontend@3929da2 and TensorRT-LLM 1.3 in ai-dynamo/aiconfigurator@095f58a.
inline constexpr double kAttention = 0.29;
// Of 6 pairs there: RMS norms of over 60 MB by PyTorch, eager and compiled, over cuDNN's, whose medians the tables hold
// (forward: eager backwards are several kernels). The largest.
inline constexpr double kPasses = 0.28;
// Collectives and transfers on sizes that the tables leave out (traces/collectives/README.md).
inline constexpr double kMeasuredCollectives = 0.127;
inline constexpr double kMeasuredTransfers = 0.14;
// NCCL's own tuning figures, between machines and where no table is: against all-reduces of 16 H100 over EFA they are
// within 18 % from 128 MiB on and 30 % and more too short below (traces/collectives/README.md).
inline constexpr double kModelledCollectives = 0.3;
// DeepEP and NVLink exchanges of tokens: the middle of six machines (cost_models/collectives/token_exchange.hpp).
inline constexpr double kTokenExchange = 0.38;
// Whether software hides an exchange behind compute is one of two, and a set-up that does not say leaves it open: of
// the time that the model lets it add, a coin's deviation is a half. The same for what tensor ranks exchange, which
// user buffers hide better and no overlap hides worse than what the model takes (models.md).
inline constexpr double kOpenOverlap = 0.5 * 1.6449;
// Products by formulas with the shares of another GPU: bf16 on H100, H200, B300, GB200 and GB300, of 1024 and more each
// way (tests/kernels/left_out.csv; tests/accuracy/ranges_test.cpp).
inline constexpr double kFormulas = 0.62;
// Of one host, 323 runs of kEagerLaunch's source that wait for it: 0.10. Between hosts, what a launch alone takes in
// the median of each of seven recordings that have any (traces/recordings), over the H100's: the second largest, 0.46.
inline constexpr double kHost = 0.47;

}  // namespace scatter
}  // namespace debubble
