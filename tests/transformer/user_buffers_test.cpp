// --tensor-overlap userbuffers: which products run in parts, and what of their exchanges nothing hides.
#include "cost_models/transformer/layer_cost.hpp"
#include "cost_models/transformer/model_catalog.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

using Phase = LayerOp::Phase;

constexpr int kBufferRanks = 8;
constexpr int kSumParts = 4;
constexpr std::int64_t kGigaBytes = 1'000'000'000;

// 8 tensor ranks on a switch of their own, whose links bring `bandwidth` each and take no time otherwise.
ModelRequest buffered_request(const std::string& name, std::int64_t bandwidth, UserBuffers buffers) {
  ModelRequest request;
  for (const CatalogModel& known : model_catalog()) {
    if (known.shape.name == name) request.setup.shape = known.shape;
  }
  REQUIRE(request.setup.shape.layers > 0);
  request.setup.sequence = 4096;
  request.setup.parallel.tensor = kBufferRanks;
  request.setup.parallel.sequence = true;
  request.setup.user_buffers = buffers;
  request.kernels.hardware = *find_hardware("h100");
  request.kernels.hardware.link_bandwidth = bandwidth;
  request.kernels.hardware.link_latency = 0;
  request.kernels.efficiency = usual_efficiency(request.kernels.hardware);
  return request;
}

constexpr UserBuffers kBothBuffers{true, true};

LayerCost buffered_block(const ModelRequest& request) {
  for (LayerCost& layer : layer_costs(request)) {
    if (layer.place.kind == LayerPlace::Kind::kBlock) return std::move(layer);
  }
  FAIL("no block");
  return {};
}

bool is_exchange(const OpCost& cost) { return cost.op.kind == LayerOp::Kind::kCollective && cost.op.parts > 1; }
bool is_gather(const OpCost& cost) { return cost.op.collective == CollectiveKind::kAllGather; }

// The product that an exchange runs beside.
const OpCost& beside_exchange(const LayerCost& layer, std::size_t exchange) {
  return layer.ops.at(is_gather(layer.ops[exchange]) ? exchange + 1 : exchange - 1);
}

// Of one part of the rows, as an op of its own.
Nanoseconds part_time(const LayerOp& product, const ModelRequest& request) {
  LayerOp part = product;
  part.parts = part.kernels = 1;
  part.m = product.m / product.parts;
  part.flops = 2.0 * static_cast<double>(part.m) * static_cast<double>(part.n) * static_cast<double>(part.k);
  part.bytes = 2 * ((part.m + part.n) * part.k + part.m * part.n);
  return kernel_time(part, request.kernels);
}

}  // namespace

TEST_CASE("user buffers: products of attention and dense MLPs run in parts, those of one rank and others do not") {
  const LayerCost block = buffered_block(buffered_request("llama2-70b", kGigaBytes, kBothBuffers));
  std::vector<std::string> gathers;
  std::vector<std::string> sums;
  for (std::size_t k = 0; k < block.ops.size(); ++k) {
    if (!is_exchange(block.ops[k])) continue;
    const LayerOp& product = beside_exchange(block, k).op;
    CHECK(product.kind == LayerOp::Kind::kMatmul);
    CHECK(product.parts == block.ops[k].op.parts);
    CHECK(product.kernels == product.parts);
    CHECK(product.parts == (is_gather(block.ops[k]) ? kBufferRanks : kSumParts));
    const std::string pass = product.phase == Phase::kForward ? "F " : "I ";
    (is_gather(block.ops[k]) ? gathers : sums).push_back(pass + product.name);
  }
  CHECK(gathers == std::vector<std::string>{"F qkv", "F mlp up", "I mlp down", "I attention out"});
  CHECK(sums == std::vector<std::string>{"F attention out", "F mlp down"});
  const auto cut_ops = [](const ModelRequest& request) {
    std::vector<std::string> names;
    for (const LayerCost& layer : layer_costs(request)) {
      for (const OpCost& cost : layer.ops) {
        if (cost.op.parts > 1 && cost.op.kind == LayerOp::Kind::kMatmul) names.push_back(cost.op.name);
      }
    }
    return names;
  };
  CHECK(cut_ops(buffered_request("llama2-70b", kGigaBytes, {true, false})).size() == 4);
  CHECK(cut_ops(buffered_request("llama2-70b", kGigaBytes, {false, true})).size() == 2);
  CHECK(cut_ops(buffered_request("llama2-70b", kGigaBytes, {})).empty());
  for (const std::string& name : cut_ops(buffered_request("deepseek-v3", kGigaBytes, kBothBuffers))) {
    CAPTURE(name);  // no projection of latent attention, no routed expert, no logits
    CHECK((name == "attention out" || name.starts_with("mlp ") || name.starts_with("shared experts ")));
  }
  ModelRequest alone = buffered_request("llama2-70b", kGigaBytes, kBothBuffers);
  alone.setup.parallel.tensor = 1;
  alone.setup.parallel.sequence = false;
  CHECK(cut_ops(alone).empty());
  ModelRequest plain = alone;
  plain.setup.user_buffers = {};
  CHECK(buffered_block(alone).forward.total == buffered_block(plain).forward.total);
}

TEST_CASE("user buffers: a product in parts takes the time of its parts, which is no less than that of the whole") {
  const ModelRequest request = buffered_request("llama2-70b", kGigaBytes, kBothBuffers);
  const LayerCost cut = buffered_block(request);
  ModelRequest on = request;
  on.setup.user_buffers = {};
  const LayerCost whole = buffered_block(on);
  REQUIRE(cut.ops.size() == whole.ops.size());
  int seen = 0;
  for (std::size_t k = 0; k < cut.ops.size(); ++k) {
    const OpCost& cost = cut.ops[k];
    if (cost.op.kind != LayerOp::Kind::kMatmul || cost.op.parts == 1) continue;
    ++seen;
    CHECK(cost.own.alone == cost.op.parts * part_time(cost.op, request));
    CHECK(cost.own.alone >= whole.ops[k].own.alone);
    CHECK(cost.op.flops == whole.ops[k].op.flops);
    CHECK(cost.op.bytes - whole.ops[k].op.bytes == (cost.op.parts - 1) * 2 * cost.op.n * cost.op.k);
  }
  CHECK(seen == 6);
}

TEST_CASE("user buffers: the host makes one call for a product in parts") {
  ModelRequest request = buffered_request("llama2-70b", kGigaBytes, kBothBuffers);
  request.host_launch = 1'000'000'000;
  const LayerCost cut = buffered_block(request);
  request.setup.user_buffers = {};
  const LayerCost whole = buffered_block(request);
  CHECK(cut.forward.total == whole.forward.total);  // as many calls
  CHECK(cut.backward.total == whole.backward.total);
}

TEST_CASE("user buffers: behind long products a gather is hidden, and of a sum the last part is left") {
  const LayerCost block = buffered_block(buffered_request("llama2-70b", 100'000 * kGigaBytes, kBothBuffers));
  for (std::size_t k = 0; k < block.ops.size(); ++k) {
    const OpCost& cost = block.ops[k];
    if (!is_exchange(cost)) continue;
    REQUIRE(cost.own.alone < beside_exchange(block, k).own.alone / kBufferRanks);
    if (is_gather(cost)) {
      CHECK(cost.whole == 0);
    } else {
      CHECK(cost.whole == (cost.own.alone + kSumParts / 2) / kSumParts);
    }
  }
}

TEST_CASE("user buffers: where exchanges last longer they bound the time, with one part of the product around them") {
  const LayerCost block = buffered_block(buffered_request("llama2-70b", kGigaBytes, kBothBuffers));
  for (std::size_t k = 0; k < block.ops.size(); ++k) {
    const OpCost& cost = block.ops[k];
    if (!is_exchange(cost)) continue;
    const Nanoseconds product = beside_exchange(block, k).own.alone;
    REQUIRE(cost.own.alone > product);
    // The first share is there: its part runs while the second arrives. The first part's sum follows it.
    const Nanoseconds all = cost.own.alone + product / cost.op.parts;
    CHECK(cost.whole + product >= all - 2 * kBufferRanks);
    CHECK(cost.whole + product <= all + 2 * kBufferRanks);
  }
}

TEST_CASE("user buffers: at any bandwidth an exchange costs no less than nothing and no more than alone") {
  for (std::int64_t bandwidth = kGigaBytes; bandwidth < 100'000 * kGigaBytes; bandwidth *= 3) {
    CAPTURE(bandwidth);
    for (const Recompute recompute : {Recompute::kNone, Recompute::kFull}) {
      ModelRequest request = buffered_request("llama2-70b", bandwidth, kBothBuffers);
      request.setup.recompute = recompute;
      request.collectives.slow_down = 0.1;
      const LayerCost block = buffered_block(request);
      Nanoseconds in_a_row = 0;
      for (std::size_t k = 0; k < block.ops.size(); ++k) {
        const OpCost& cost = block.ops[k];
        if (cost.op.phase == Phase::kForward) in_a_row += cost.own.alone;
        if (!is_exchange(cost)) continue;
        CHECK(cost.whole >= 0);
        CHECK(cost.whole <= cost.own.alone + kBufferRanks);
        if (is_gather(cost)) {
          const Nanoseconds step = (cost.own.alone + (kBufferRanks - 1) / 2) / (kBufferRanks - 1);
          const Nanoseconds part = (beside_exchange(block, k).own.alone + kBufferRanks / 2) / kBufferRanks;
          CHECK(cost.whole == (kBufferRanks - 1) * std::max<Nanoseconds>(0, step - part));
        }
      }
      CHECK(block.forward.total <= in_a_row + 6 * kBufferRanks);
    }
  }
}

}  // namespace debubble
