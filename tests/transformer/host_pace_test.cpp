// The host beside the GPU: launches of experts' products one by one, and waits for the counts of their tokens.
#include "cost_models/transformer/host_pace.hpp"

#include "cost_models/transformer/layer_cost.hpp"
#include "cost_models/transformer/model_catalog.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

using Phase = LayerOp::Phase;

// Qwen3-30B's layer on one machine: 16 of 128 experts on each of 8 ranks.
ModelRequest paced_request(Fp8Recipe recipe) {
  ModelRequest request;
  TransformerShape& shape = request.setup.shape;
  for (const CatalogModel& known : model_catalog()) {
    if (known.shape.name == "deepseek-v3") shape = known.shape;
  }
  shape.experts = 128;
  shape.expert_feed_forward = 768;
  request.setup.sequence = 4096;
  request.setup.parallel.data = request.setup.parallel.expert = 8;
  request.setup.compute = NumberFormat::kFp8;
  request.setup.fp8_recipe = recipe;
  request.kernels.hardware = *find_hardware("h100");
  request.kernels.efficiency = usual_efficiency(request.kernels.hardware);
  request.generation = LinkGeneration::kHopper;
  request.host_launch = kEagerLaunch;
  return request;
}

LayerCost paced_experts(const ModelRequest& request) {
  for (LayerCost& layer : layer_costs(request)) {
    if (layer.place.moe) return layer;
  }
  FAIL("no layer with experts");
  return {};
}

const LayerOp& paced_op(const LayerCost& layer, std::string_view name, Phase phase = Phase::kForward) {
  const auto found = std::find_if(layer.ops.begin(), layer.ops.end(),
                                  [&](const OpCost& cost) { return cost.op.name == name && cost.op.phase == phase; });
  REQUIRE_MESSAGE(found != layer.ops.end(), std::string(name));
  return found->op;
}

TEST_CASE("host: it is late by what kernels are shorter than their launches, and not where they are longer") {
  CHECK(device_waits({{10, 1, 30, false}, {10, 1, 5, false}}) == 0);
  CHECK(device_waits({{30, 1, 10, false}, {30, 1, 20, false}}) == 30);
  CHECK(device_waits({}) == 0);
}

TEST_CASE("host: where it waits for the GPU its lead is gone, and the GPU waits for the next launch") {
  const HostStep lead{10, 1, 50, false};
  CHECK(device_waits({lead, {40, 1, 10, false}}) == 0);
  CHECK(device_waits({lead, {40, 1, 10, true}}) == 40);
  // Of four kernels the first can start after its own launch, and the last ends after the last launch.
  CHECK(device_waits({lead, {40, 4, 100, true}}) == 10);
  CHECK(device_waits({lead, {40, 4, 8, true}}) == 42);  // 34 here, and 8 for the first of the next
}

TEST_CASE("host: each expert's product is a launch, with 28/48 of the time of a kernel that is counted") {
  const LayerCost layer = paced_experts(paced_request(Fp8Recipe::kDelayed));
  CHECK(host_time(paced_op(layer, "experts up"), 48'000) == 48'000 + 15 * 28'000);
  CHECK(host_time(paced_op(layer, "experts down", Phase::kWeightGrad), 48'000) == 48'000 + 15 * 28'000);
  CHECK(host_time(paced_op(layer, "shared experts up"), 48'000) == 48'000);
  CHECK(host_time(paced_op(layer, "experts activation"), 48'000) == 48'000);
  CHECK(host_time(paced_op(layer, "experts up"), 0) == 0);
}

TEST_CASE("host: experts' rows are cast in one launch with scales of earlier steps, else one by one") {
  const LayerCost delayed = paced_experts(paced_request(Fp8Recipe::kDelayed));
  CHECK(host_time(paced_op(delayed, "experts up: cast to fp8"), 48'000) == 48'000);
  const LayerCost mxfp8 = paced_experts(paced_request(Fp8Recipe::kMxfp8));
  CHECK(host_time(paced_op(mxfp8, "experts up: cast to fp8"), 48'000) == 48'000 + 15 * 28'000);
  CHECK(host_time(paced_op(mxfp8, "shared experts up: cast to fp8"), 48'000) == 48'000);
}

TEST_CASE("host: it waits where tokens are counted on the GPU, not where a capacity says how many there are") {
  const auto waiting = [](const ModelRequest& request) {
    std::vector<std::string> names;
    for (const OpCost& cost : paced_experts(request).ops) {
      if (cost.op.host_waits) names.push_back(cost.op.name);
    }
    return names;
  };
  ModelRequest request = paced_request(Fp8Recipe::kDelayed);
  CHECK(waiting(request) == std::vector<std::string>{"permute"});
  request.setup.dispatch = MoeDispatch::kDeepEp;
  CHECK(waiting(request) == std::vector<std::string>{"all-to-all of tokens to their experts"});
  request.setup.capacity_factor = 1.25;
  CHECK(waiting(request).empty());
}

TEST_CASE("host: launches one by one and counts on the host each make a layer longer, CUDA graphs neither") {
  ModelRequest request = paced_request(Fp8Recipe::kDelayed);
  request.setup.sequence = 512;
  const LayerCost both = paced_experts(request);
  CHECK(both.forward.launches > 0);
  request.setup.effects.counted_tokens = false;
  const LayerCost known = paced_experts(request);
  CHECK(known.forward.launches < both.forward.launches);
  CHECK(known.backward.total == both.backward.total);
  request.setup.effects.expert_launches = false;
  CHECK(paced_experts(request).forward.launches < known.forward.launches);
  request.setup.effects = {};
  request.host_launch = 0;
  const LayerCost graphs = paced_experts(request);
  CHECK(graphs.forward.launches == 0);
  CHECK(graphs.backward.launches == 0);
  CHECK(graphs.forward.total < both.forward.total);
}

}  // namespace
}  // namespace debubble
