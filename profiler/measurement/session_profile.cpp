#include "profiler/measurement/session_profile.hpp"

#include <array>
#include <chrono>
#include <ctime>
#include <stdexcept>
#include <utility>
#include <vector>

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

}  // namespace

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

std::string today() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 16> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%d", &parts);
  return {text.data(), length};
}

}  // namespace debubble
