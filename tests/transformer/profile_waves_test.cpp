// Waves of a profiled transformer: sizes in between of modelled truths, whose staircase is that of tiles and memory.
#include "cost_models/transformer/profile_waves.hpp"

#include "cost_models/sizes/profile_at.hpp"
#include "cost_models/transformer/model_catalog.hpp"
#include "cost_models/transformer/modelled_profile.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

struct Truth {
  std::string model = "gpt3-22b";
  int tensor = 1;
  KernelModel kernels;
};

KernelModel kernels_of(const std::string& hardware) {
  KernelModel kernels;
  kernels.hardware = *find_hardware(hardware);
  kernels.efficiency = usual_efficiency(kernels.hardware);
  return kernels;
}

// As the built-in workload would measure it on such hardware: unfused attention, no collectives.
NamedProfile profile_of(const Truth& truth, const RunSize& size, bool tells_shape) {
  ModelRequest request;
  for (const CatalogModel& known : model_catalog()) {
    if (known.shape.name == truth.model) request.setup.shape = known.shape;
  }
  REQUIRE(request.setup.shape.hidden > 0);
  request.setup.shape.layers = 1;
  request.setup.shape.positions = 0;
  request.setup.microbatch_size = size.microbatch;
  request.setup.sequence = size.sequence;
  request.setup.flash_attention = false;
  request.setup.tensor_overlap = false;
  request.setup.parallel.tensor = truth.tensor;
  request.kernels = truth.kernels;
  request.generation = LinkGeneration::kHopper;
  Profile profile = modelled_profile(request);
  for (ProfileLayer& layer : profile.layers) {  // a workload on one device measures no collective
    layer.forward.median -= layer.forward_collective;
    layer.backward->median -= layer.backward_collective;
    layer.input_grad.reset();
    layer.weight_grad.reset();
  }
  if (tells_shape) {
    const TransformerShape& shape = request.setup.shape;
    profile.transformer =
        ProfiledTransformer{shape.hidden,     shape.heads, shape.kv_heads, shape.head_size, shape.feed_forward,
                            shape.vocabulary, shape.gated, false,          truth.tensor};
  }
  return {"b" + std::to_string(size.microbatch) + "-s" + std::to_string(size.sequence), profile};
}

// Of all times of all layers at sizes in between, as shares of the time.
struct Errors {
  double mean = 0;
  double worst = 0;
};

Errors errors_of(const Truth& truth, bool by_waves) {
  std::vector<NamedProfile> measured;
  for (const std::int64_t sequence : {512, 2048}) {
    for (const std::int64_t microbatch : {1, 3, 8}) {
      measured.push_back(profile_of(truth, {microbatch, sequence}, by_waves));
    }
  }
  check_one_model(measured);
  const LayerWaves waves = profile_waves(measured.front().profile, truth.kernels.hardware);
  CHECK(static_cast<bool>(waves) == by_waves);
  Errors errors;
  double count = 0;
  const auto add = [&](Nanoseconds found, Nanoseconds real) {
    const double error = std::abs(static_cast<double>(found - real)) / static_cast<double>(real);
    errors.worst = std::max(errors.worst, error);
    errors.mean += (error - errors.mean) / ++count;
  };
  for (const std::int64_t sequence : {512, 768, 1024, 1536, 2048}) {
    for (const std::int64_t microbatch : {1, 2, 4, 5, 6, 7}) {
      const RunSize size{microbatch, sequence};
      const Profile found = profile_at(measured, size, waves);
      const Profile real = profile_of(truth, size, by_waves).profile;
      for (std::size_t k = 0; k < real.layers.size(); ++k) {
        add(found.layers[k].forward.median, real.layers[k].forward.median);
        add(found.layers[k].backward->median, real.layers[k].backward->median);
      }
    }
  }
  return errors;
}

TEST_CASE("profile waves: a truth of the same staircase is found again within rounding") {
  for (const std::string hardware : {"a100-80", "h100", "v100"}) {
    for (const int tensor : {1, 8}) {
      CAPTURE(hardware);
      CAPTURE(tensor);
      CHECK(errors_of({"gpt3-22b", tensor, kernels_of(hardware)}, true).worst < 1e-5);
    }
  }
}

TEST_CASE("profile waves: a truth whose kernels reach other shares of the peak is met better than by the rate") {
  Truth truth{"gpt3-22b", 8, kernels_of("h100")};
  truth.kernels.efficiency.matrix = 0.55;
  truth.kernels.efficiency.half_k = 600;
  truth.kernels.efficiency.memory = 0.9;
  truth.kernels.efficiency.per_kernel = 6'000;
  const Errors by_waves = errors_of(truth, true);
  const Errors by_rate = errors_of(truth, false);
  MESSAGE("by waves: mean " << 100 * by_waves.mean << " %, worst " << 100 * by_waves.worst << " %");
  MESSAGE("by the achieved rate: mean " << 100 * by_rate.mean << " %, worst " << 100 * by_rate.worst << " %");
  CHECK(by_waves.mean < 0.01);
  CHECK(by_waves.worst < 0.1);
  CHECK(by_rate.mean < 0.04);
  CHECK(by_rate.worst < 0.15);
  CHECK(by_waves.mean < by_rate.mean);
}

TEST_CASE("profile waves: only ratios mean anything, and unknown work has none") {
  const Truth truth{"gpt3-22b", 1, kernels_of("h100")};
  Profile profile = profile_of(truth, {2, 1024}, true).profile;
  const LayerWaves waves = profile_waves(profile, truth.kernels.hardware);
  // Layers: embedding, block, head.
  for (const std::size_t layer : {std::size_t{0}, std::size_t{1}, std::size_t{2}}) {
    CHECK(waves(layer, CostPhase::kForward, {4, 1024}) > waves(layer, CostPhase::kForward, {2, 1024}));
    CHECK(waves(layer, CostPhase::kBackward, {2, 1024}) ==
          doctest::Approx(waves(layer, CostPhase::kInputGrad, {2, 1024}) +
                          waves(layer, CostPhase::kWeightGrad, {2, 1024})));
  }
  CHECK(waves(1, CostPhase::kForward, {2, 0}) == 0);  // no sequence
  CHECK(waves(1, CostPhase::kForward, {2'000'000'000, 2'000'000'000}) == 0);
  profile.layers[1].kind = "conv";
  CHECK(profile_waves(profile, truth.kernels.hardware)(1, CostPhase::kForward, {2, 1024}) == 0);
  profile.dtype = "unknown";
  CHECK_FALSE(static_cast<bool>(profile_waves(profile, truth.kernels.hardware)));
}

TEST_CASE("hardware is found by what a driver calls it") {
  const auto name = [](const char* device) {
    const Hardware* found = hardware_of_device(device);
    return found == nullptr ? std::string() : found->name;
  };
  CHECK(name("NVIDIA H100 80GB HBM3") == "h100");
  CHECK(name("NVIDIA A100-SXM4-80GB") == "a100-80");
  CHECK(name("NVIDIA A100-SXM4-40GB") == "a100-40");
  CHECK(name("Tesla V100-SXM2-32GB") == "v100");
  CHECK(name("NVIDIA H200") == "h200");
  CHECK(name("NVIDIA GeForce RTX 4090").empty());
}

}  // namespace
}  // namespace debubble
