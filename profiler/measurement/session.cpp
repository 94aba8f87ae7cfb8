#include "profiler/measurement/session.hpp"

#include <algorithm>
#include <array>
#include <memory>

#include "gpu/cuda_device.hpp"
#include "profiler/cupti/recorder.hpp"
#include "profiler/measurement/session_fit.hpp"
#include "profiler/measurement/session_profile.hpp"
#include "profiler/measurement/session_steps.hpp"
#include "profiler/measurement/temporary_file.hpp"
#include "profiler/records/record_file.hpp"
#include "sim/core/error.hpp"
#include "sim/core/median.hpp"
#include "sim/core/words.hpp"

namespace debubble {
namespace {

using SessionProgress = std::function<void(int, int, const std::string&)>;

// The model on the device; where it does not fit, the error says what would.
std::unique_ptr<TransformerModel> make_model(CudaDevice& device, const SessionOptions& options) {
  const Bytes free = device.free_memory();
  try {
    auto model = std::make_unique<TransformerModel>(device, options.shape, options.size);
    device.synchronise();
    return model;
  } catch (const UnavailableError& error) {
    Diagnostic diagnostic = error.diagnostic();
    if (diagnostic.code != "U026") throw;
    diagnostic.message += "; this size needs " + mebibytes(needed_memory(options.shape, options.size)) + " (" +
                          memory_by_layer(options.shape, options.size) + ")";
    diagnostic.help = fitting_size(options.shape, options.size, free);
    throw UnavailableError(diagnostic);
  }
}

PassTimes medians(std::vector<PassTimes>& runs) {
  PassTimes result{};
  std::vector<Nanoseconds> times(runs.size());
  for (std::size_t pass = 0; pass < kStepPasses; ++pass) {
    std::transform(runs.begin(), runs.end(), times.begin(), [pass](const PassTimes& run) { return run[pass]; });
    result[pass] = upper_median(times);
  }
  return result;
}

Nanoseconds recorded_time(const ProfileLayer& layer, Pass pass) {
  switch (pass) {
    case Pass::kForward:
      return layer.forward.median;
    case Pass::kInputGrad:
      return layer.input_grad ? layer.input_grad->median : 0;
    case Pass::kWeightGrad:
      return layer.weight_grad ? layer.weight_grad->median : 0;
  }
  return 0;
}

std::vector<SessionResult::Check> checks(const StepRunner& runner, const PassTimes& by_events,
                                         const std::vector<ProfileLayer>& measured) {
  std::vector<SessionResult::Check> found;
  for (std::size_t k = 0; k < kStepPasses; ++k) {
    const StepPass& pass = runner.passes()[k];
    const auto layer = std::find_if(measured.begin(), measured.end(),
                                    [&pass](const ProfileLayer& one) { return one.name == pass.layer->name(); });
    const Nanoseconds by_kernels = layer == measured.end() ? 0 : recorded_time(*layer, pass.pass);
    found.push_back({pass.layer->name(), pass.pass, by_kernels, by_events[k]});
  }
  return found;
}

}  // namespace

SessionResult measure_workload(const SessionOptions& options, const SessionProgress& progress) {
  const int total = options.steps + 3;
  progress(0, total, "starting");
  const auto libraries = load_cuda_libraries();
  const TemporaryFile file(options.record_file);
  // CUPTI first: it must be there before the first CUDA call. Stopped before the file is read.
  Recorder recorder({.file = file.path(), .cupti_library = options.cupti_library});
  CudaDevice device(libraries, options.device, options.size.type);
  recorder.push("setup");  // its kernels belong to no layer, but their origin is known
  const std::unique_ptr<TransformerModel> model = make_model(device, options);
  recorder.pop();
  StepRunner runner(device, *model, recorder);

  progress(1, total, "warming up");
  const WarmUp warm = warm_up(runner, recorder);
  std::vector<PassTimes> runs = record_steps(
      runner, recorder, options.steps, [&progress, total](int done) { progress(1 + done, total, "recording steps"); });
  recorder.stop();

  AttributionRules rules;
  rules.explain = options.explain;
  rules.warm_up_steps = warm.recorded;
  Attributor attributor(rules);
  const RecordFileEnd end = read_record_file(file.path(), attributor);
  attributor.end_of_stream(end.complete);
  SessionResult result{attributor.finish(layer_facts(*model)), {}};
  result.checks = checks(runner, medians(runs), result.attribution.profile.layers);
  complete_profile(result.attribution, options, device.facts(), warm);
  progress(total, total, "done");
  return result;
}

}  // namespace debubble
