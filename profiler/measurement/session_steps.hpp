// StepRunner: training steps of a TransformerModel on a GPU, each a numbered range that holds ranges of layers and
// phases, so that the recorded kernels find their place.
//
//     debubble.step:7
//       debubble.layer:embedding   debubble.phase:F
//       debubble.layer:block       debubble.phase:F
//       debubble.layer:head        debubble.phase:F, I, W
//       debubble.layer:block       debubble.phase:I, W
//       debubble.layer:embedding   debubble.phase:I, W
//       (wait for the GPU)
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "gpu/cuda_device.hpp"
#include "gpu/workload/transformer_model.hpp"
#include "profiler/cupti/recorder.hpp"

namespace debubble {

// One pass of one layer, in the order of a step.
struct StepPass {
  WorkLayer* layer = nullptr;
  Pass pass = Pass::kForward;
};
inline constexpr std::size_t kStepPasses = 9;
using PassTimes = std::array<Nanoseconds, kStepPasses>;

class StepRunner {
 public:
  StepRunner(CudaDevice& device, TransformerModel& model, Recorder& recorder);

  // Issues everything, then waits. Returns the time between the first and the last point on the GPU.
  Nanoseconds step();
  // The same without any range: no step to whoever reads the records.
  Nanoseconds plain_step();

  // One step without any range, its passes timed by events. The GPU is held up first, so that the host has issued all
  // of it before it begins, and launching does not show.
  [[nodiscard]] PassTimes timed_passes();
  [[nodiscard]] const std::array<StepPass, kStepPasses>& passes() const { return passes_; }

 private:
  template <typename RunPass>
  Nanoseconds run_step(const RunPass& run_pass);

  CudaDevice& device_;
  Recorder& recorder_;
  std::array<StepPass, kStepPasses> passes_;
  int steps_ = 0;
  Nanoseconds issuing_ = 0;  // host time that issuing a step took last
};

// Steps until the GPU has been busy for a second (its clock settles), at least three, and until the last three agree
// within 3 %; gives up on agreement after three busy seconds. The first three are recorded, so that whatever the
// profiler does at its first records happens here; the others run with the recorder paused, and are no numbered steps.
struct WarmUp {
  int steps = 0;
  int recorded = 0;     // of these
  bool settled = true;  // false: the last three steps still differed by more than 3 %
};
[[nodiscard]] WarmUp warm_up(StepRunner& runner, Recorder& recorder);

// Groups of five steps, taken in turns with and without the profiler, until `steps` are recorded. Ends paused. Returns
// passes timed by events, eleven times or more, some after each group: a GPU at its power
// limit changes its clock within a second, so that what is to be compared must be timed at the same time.
[[nodiscard]] std::vector<PassTimes> record_steps(StepRunner& runner, Recorder& recorder, int steps,
                                                  const std::function<void(int)>& recorded);

}  // namespace debubble
