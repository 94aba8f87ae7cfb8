#include "profiler/measurement/session.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "gpu/cuda_device.hpp"
#include "profiler/attribution/attribution.hpp"
#include "profiler/cupti/recorder.hpp"
#include "profiler/measurement/session_fit.hpp"
#include "profiler/measurement/session_steps.hpp"
#include "profiler/measurement/temporary_file.hpp"
#include "profiler/records/record_file.hpp"
#include "sim/core/error.hpp"
#include "sim/core/median.hpp"
#include "sim/core/words.hpp"

namespace debubble {
namespace {

const ProfileLayer& layer_called(const std::vector<ProfileLayer>& layers, std::string_view name) {
  for (const ProfileLayer& layer : layers) {
    if (layer.name == name) return layer;
  }
  throw std::logic_error("the attribution found no layer " + std::string(name));
}

// What the matmuls were made of; attention is always unfused here.
ProfiledTransformer transformer_of(const SessionOptions& options) {
  const TransformerShape& shape = options.shape;
  ProfiledTransformer transformer;
  transformer.hidden = shape.hidden;
  transformer.heads = shape.heads;
  transformer.kv_heads = shape.kv_heads;
  transformer.head_size = shape.head_size;
  transformer.feed_forward = shape.feed_forward;
  transformer.vocabulary = shape.vocabulary;
  transformer.gated = shape.gated;
  transformer.tensor_parallel = options.size.tensor_parallel;
  return transformer;
}

// The workload always splits its backward; a half without kernels is a half that takes no time.
void complete_halves(ProfileLayer& layer) {
  const std::int64_t n = layer.forward.n;
  if (!layer.input_grad) layer.input_grad = TimeStatistics{0, 0, 0, n};
  if (!layer.weight_grad) layer.weight_grad = TimeStatistics{0, 0, 0, n};
}

std::vector<ProfileLayer> model_layers(const std::vector<ProfileLayer>& measured, std::int64_t blocks) {
  std::vector<ProfileLayer> layers;
  layers.reserve(static_cast<std::size_t>(blocks) + 2);
  layers.push_back(layer_called(measured, "embedding"));
  const ProfileLayer& block = layer_called(measured, "block");
  for (std::int64_t k = 0; k < blocks; ++k) {
    layers.push_back(block);
    layers.back().name = "block." + std::to_string(k);
  }
  layers.push_back(layer_called(measured, "head"));
  for (ProfileLayer& layer : layers) complete_halves(layer);
  return layers;
}

// What CUPTI cannot see of the three layers: kind, parameters, bytes kept. By layer name.
std::map<std::string, LayerFacts> layer_facts(TransformerModel& model) {
  std::map<std::string, LayerFacts> facts;
  for (WorkLayer* layer : {&model.embedding(), &model.block(), &model.head()}) {
    const LayerMemory memory = layer->memory();
    LayerFacts& of_layer = facts[layer->name()];
    of_layer.kind = layer->kind();
    of_layer.parameters = memory.parameters;
    of_layer.output = memory.output;
    of_layer.activation = memory.activation;
    of_layer.weight_grad_held = memory.weight_grad_held;
    of_layer.workspace = memory.workspace;
  }
  return facts;
}

// How the times were taken, one paragraph.
std::string method_text(const SessionOptions& options, const WarmUp& warm_up) {
  std::string text =
      "debubble's own workload: one embedding, one block and one head, run as training steps on random data; all "
      "blocks "
      "of the model are given the measured block's times. A time is the sum of the kernel times of one pass, by CUPTI "
      "Activity; gaps between kernels are not in it. Caches are as warm as the passes before leave them. Attention is "
      "unfused: scores and probabilities are kept. Warm-up: " +
      std::to_string(warm_up.steps) +
      " steps, until the GPU had been busy for a second and three steps agreed within 3 %";
  text += warm_up.settled ? ". " : ", which they did not in three busy seconds. ";
  text +=
      "Overhead: groups of five steps, in turns with recording on and off; CUPTI stays attached in both, so it "
      "is a lower bound.";
  if (options.size.tensor_parallel > 1) {
    text += " One of " + std::to_string(options.size.tensor_parallel) +
            " tensor-parallel shares; the collectives between them were not measured.";
  }
  return text;
}

// "2026-11-20", of now, UTC.
std::string today() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 16> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%d", &parts);
  return {text.data(), length};
}

// Makes the measured layers "embedding", "block" and "head" into a model: embedding, block.0 to block.N-1, head. Fills
// in model, sizes and origin. A gradient pass that launched nothing (an embedding has no input gradient) takes 0 ns.
void complete_profile(Attribution& attribution, const SessionOptions& options, const DeviceFacts& facts,
                      const WarmUp& warm_up) {
  Profile& profile = attribution.profile;
  profile.layers = model_layers(profile.layers, options.shape.layers);
  profile.model = options.shape.name;
  profile.dtype = to_string(options.size.type);
  profile.microbatch_size = options.size.microbatch;
  profile.sequence_length = options.size.sequence;
  profile.transformer = transformer_of(options);
  profile.origin.times = Source::kMeasured;
  profile.origin.memory = Source::kMeasured;
  profile.origin.device = facts.name;
  profile.origin.driver = facts.driver;
  profile.origin.cuda = facts.cuda;
  profile.origin.method = method_text(options, warm_up);
  profile.origin.date = today();
  profile.origin.repetitions = options.steps;
}

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
