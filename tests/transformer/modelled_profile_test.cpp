// Modelled profiles: sums of kernels and of collectives that nothing hides.
#include "cost_models/transformer/modelled_profile.hpp"

#include <random>

#include "cost_models/transformer/layer_ops.hpp"
#include "cost_models/transformer/model_catalog.hpp"
#include "sim/topologies/catalog.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

ModelRequest request_of(const std::string& name, int tensor) {
  ModelRequest request;
  for (const CatalogModel& known : model_catalog()) {
    if (known.shape.name == name) request.setup.shape = known.shape;
  }
  request.setup.sequence = 2048;
  request.setup.parallel.tensor = tensor;
  request.kernels.hardware = *find_hardware("h100");
  request.kernels.efficiency = usual_efficiency(request.kernels.hardware);
  request.generation = LinkGeneration::kHopper;
  return request;
}

std::string refusal(const ModelRequest& request) {
  return problems_of([&] { (void)modelled_profile(request); });
}

}  // namespace

TEST_CASE("a layer's time is the sum of its kernels and collectives, phase by phase") {
  ModelRequest request = request_of("gpt3-22b", 8);
  request.setup.tensor_overlap = false;
  const Profile profile = modelled_profile(request);
  REQUIRE(profile.layers.size() == 50);
  CHECK(profile.origin.times == Source::kModelled);
  CHECK(profile.peak_flops == 989.4e12);
  const ProfileLayer& block = profile.layers[7];
  CHECK(block.name == "block 6");
  Nanoseconds forward = 0;
  Nanoseconds input_grad = 0;
  Nanoseconds weight_grad = 0;
  Nanoseconds collectives = 0;
  for (const LayerOp& op : layer_ops(request.setup, {})) {
    const bool collective = op.kind == LayerOp::Kind::kCollective;
    const Nanoseconds time = collective ? collective_time(op, request).alone : kernel_time(op, request.kernels);
    (op.phase == LayerOp::Phase::kForward     ? forward
     : op.phase == LayerOp::Phase::kInputGrad ? input_grad
                                              : weight_grad) += time;
    if (collective) collectives += time;
  }
  CHECK(block.forward.median == forward);
  CHECK(block.input_grad->median == input_grad);
  CHECK(block.weight_grad->median == weight_grad);
  CHECK(block.backward->median == input_grad + weight_grad);
  CHECK(block.forward_collective + block.backward_collective == collectives);
  CHECK(block.forward_collective > 0);
}

TEST_CASE("what runs beside a product is hidden, but for the slow-down") {
  ModelRequest request = request_of("gpt3-22b", 8);
  const Profile hidden = modelled_profile(request);
  request.setup.tensor_overlap = false;
  const Profile exposed = modelled_profile(request);
  CHECK(hidden.layers[1].forward.median == exposed.layers[1].forward.median);
  CHECK(hidden.layers[1].backward->median < exposed.layers[1].backward->median);
  // Split in two, input and weight gradient have nothing to hide behind.
  CHECK(hidden.layers[1].input_grad->median == exposed.layers[1].input_grad->median);
  CHECK(hidden.layers[1].backward->median < hidden.layers[1].input_grad->median + hidden.layers[1].weight_grad->median);
}

TEST_CASE("calibration divides times: compute by one factor, collectives by the other") {
  ModelRequest request = request_of("gpt3-22b", 8);
  request.setup.tensor_overlap = false;
  request.kernels.efficiency.per_kernel = 0;
  const ProfileLayer plain = modelled_profile(request).layers[1];
  request.kernels.efficiency.compute_scale = 0.5;
  const ProfileLayer slow = modelled_profile(request).layers[1];
  CHECK(slow.forward_collective == plain.forward_collective);
  const Nanoseconds compute = plain.forward.median - plain.forward_collective;
  CHECK(static_cast<double>(slow.forward.median - slow.forward_collective) ==
        doctest::Approx(2.0 * static_cast<double>(compute)).epsilon(1e-4));
  request.kernels.efficiency.network_scale = 0.5;
  const ProfileLayer far = modelled_profile(request).layers[1];
  CHECK(static_cast<double>(far.forward_collective) ==
        doctest::Approx(2.0 * static_cast<double>(plain.forward_collective)).epsilon(1e-4));
}

TEST_CASE("one rank has no collectives, one sample's FLOPs are the model's") {
  const ModelRequest request = request_of("llama3-8b", 1);
  const Profile profile = modelled_profile(request);
  double flops = 0;
  for (const ProfileLayer& layer : profile.layers) {
    CHECK(layer.forward_collective + layer.backward_collective == 0);
    flops += layer.model_flops;
  }
  // 6 FLOPs per weight and token, and attention beside.
  const double weights = 6.0 * 2048 * 7.5e9;
  CHECK(flops > weights * 0.99);
  CHECK(flops < weights * 1.1);
}

TEST_CASE("recomputing everything adds a forward to each block's backward") {
  ModelRequest request = request_of("llama3-8b", 1);
  const ProfileLayer plain = modelled_profile(request).layers[1];
  request.setup.recompute = Recompute::kFull;
  const Profile full = modelled_profile(request);
  CHECK(full.layers[1].backward->median == plain.backward->median + plain.forward.median);
  CHECK(full.layers[1].weight_grad->median == plain.weight_grad->median);
  CHECK(full.layers[1].checkpoint.has_value());
}

TEST_CASE("a split that does not fit is refused, all reasons at once") {
  ModelRequest request = request_of("gpt3-22b", 7);
  request.setup.parallel.context = 3;
  request.setup.parallel.expert = 2;
  const std::string text = refusal(request);
  CHECK(contains(text, "F003"));
  CHECK(contains(text, "--tp 4 or 8"));
  CHECK(contains(text, "F003"));
  CHECK(contains(text, "F003"));
  request = request_of("gpt3-22b", 8);
  request.setup.sequence = 4096;
  CHECK(contains(refusal(request), "F002"));
  request = request_of("mixtral-8x7b", 1);
  request.setup.parallel.data = 4;
  request.setup.parallel.expert = 3;
  CHECK(contains(refusal(request), "--ep 2 or 4"));
}

TEST_CASE("devices of the pipeline whose wires read the same have the same times") {
  const LinkGraph graph = describe_topology("dgx-h100:4").graph;
  std::mt19937 random(7);
  int same = 0;
  int other = 0;
  for (const int tensor : {2, 3, 4, 5, 6, 8}) {
    for (const bool shuffled : {false, true}) {
      CAPTURE(tensor);
      CAPTURE(shuffled);
      ModelRequest request = request_of("gpt3-22b", tensor);
      request.setup.shape.heads = request.setup.shape.kv_heads = 120;
      request.setup.shape.hidden = 120 * 16;
      request.setup.shape.head_size = 16;
      request.setup.shape.feed_forward = 120 * 64;
      RankLayout layout;
      layout.sizes.tensor = tensor;
      layout.sizes.pipeline = graph.device_count() / tensor;
      for (std::int32_t device = 0; device < graph.device_count(); ++device) layout.devices.push_back(device);
      if (shuffled) std::shuffle(layout.devices.begin(), layout.devices.end(), random);
      request.graph = &graph;
      request.layout = &layout;
      std::map<std::vector<std::int64_t>, Nanoseconds> known;
      for (request.place = 0; request.place < layout.sizes.pipeline; ++request.place) {
        const Nanoseconds time = modelled_profile(request).layers[1].forward.median;
        const auto [found, is_new] = known.try_emplace(links_inside(request), time);
        CHECK(found->second == time);
        ++(is_new ? other : same);
      }
      // Whole groups in each machine are all alike.
      if (!shuffled && 8 % tensor == 0) CHECK(known.size() == 1);
    }
  }
  CHECK(same > 50);
  CHECK(other > 20);
}

}  // namespace debubble
