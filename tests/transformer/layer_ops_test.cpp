// What a layer's ops add up to on one rank: traffic, split, order.
#include "cost_models/transformer/layer_ops.hpp"

#include "cost_models/transformer/layer_memory.hpp"
#include "cost_models/transformer/model_catalog.hpp"
#include "cost_models/transformer/op_list.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

using Kind = LayerOp::Kind;
using Phase = LayerOp::Phase;

TransformerShape layer_ops_model(const std::string& name) {
  for (const CatalogModel& known : model_catalog()) {
    if (known.shape.name == name) return known.shape;
  }
  FAIL("no model " << name);
  return {};
}

TrainingSetup layer_ops_setup_of(const std::string& name, int tensor = 1, bool sequence = false) {
  TrainingSetup setup;
  setup.shape = layer_ops_model(name);
  setup.sequence = 4096;
  setup.microbatch_size = 2;
  setup.parallel.tensor = tensor;
  setup.parallel.sequence = sequence;
  return setup;
}

constexpr LayerPlace kBlock{LayerPlace::Kind::kBlock, 0, false};
constexpr LayerPlace kExpertBlock{LayerPlace::Kind::kBlock, 5, true};

struct Traffic {
  int count = 0;
  Bytes bytes = 0;
};

Traffic traffic(const std::vector<LayerOp>& ops, Dimension group, CollectiveKind kind, bool forward) {
  Traffic sum;
  for (const LayerOp& op : ops) {
    const bool matches = op.kind == Kind::kCollective && op.group == group && op.collective == kind;
    if (!matches || (op.phase == Phase::kForward) != forward) continue;
    ++sum.count;
    sum.bytes += op.collective_bytes;
  }
  return sum;
}

double matrix_flops(const std::vector<LayerOp>& ops) {
  double sum = 0;
  for (const LayerOp& op : ops) sum += op.kind == Kind::kMatmul ? op.flops : 0;
  return sum;
}

}  // namespace

TEST_CASE("tensor parallelism: two all-reduces of 2bsh bytes forward, two backward") {
  const std::vector<LayerOp> ops = layer_ops(layer_ops_setup_of("gpt3-22b", 8), kBlock);
  const Bytes each = Bytes{2} * 2 * 4096 * 6144;
  for (const bool forward : {true, false}) {
    const Traffic sums = traffic(ops, Dimension::kTensor, CollectiveKind::kAllReduce, forward);
    CHECK(sums.count == 2);
    CHECK(sums.bytes == 2 * each);
  }
}

TEST_CASE("sequence parallelism moves as much as an all-reduce, and gathers saved inputs once more") {
  const std::vector<LayerOp> ops = layer_ops(layer_ops_setup_of("gpt3-22b", 8, true), kBlock);
  const Bytes each = Bytes{2} * 2 * 4096 * 6144;
  CHECK(traffic(ops, Dimension::kTensor, CollectiveKind::kAllReduce, true).count == 0);
  CHECK(traffic(ops, Dimension::kTensor, CollectiveKind::kAllGather, true).bytes == 2 * each);
  CHECK(traffic(ops, Dimension::kTensor, CollectiveKind::kReduceScatter, true).bytes == 2 * each);
  CHECK(traffic(ops, Dimension::kTensor, CollectiveKind::kAllGather, false).bytes == 4 * each);
  CHECK(traffic(ops, Dimension::kTensor, CollectiveKind::kReduceScatter, false).bytes == 2 * each);
}

TEST_CASE("context parallelism sends keys and values around forward, and twice as much backward") {
  TrainingSetup setup = layer_ops_setup_of("llama3-8b");
  setup.parallel.context = 4;
  const std::vector<LayerOp> ops = layer_ops(setup, kBlock);
  // (c - 1) steps of 2 * 2 b (s/c) h g/a bytes: an all-gather whose result is the whole.
  const Bytes whole = Bytes{2} * 2 * 2 * 4096 * 8 * 128;
  CHECK(traffic(ops, Dimension::kContext, CollectiveKind::kAllGather, true).bytes == whole);
  CHECK(traffic(ops, Dimension::kContext, CollectiveKind::kAllGather, false).bytes == whole);
  CHECK(traffic(ops, Dimension::kContext, CollectiveKind::kReduceScatter, false).bytes == whole);
}

TEST_CASE("context ranks may exchange heads for tokens: the same products over all tokens of fewer heads") {
  TrainingSetup setup = layer_ops_setup_of("llama3-8b");
  setup.parallel.context = 4;
  const auto attention = [&setup] {
    double flops = 0;
    for (const LayerOp& op : layer_ops(setup, kBlock)) flops += op.kind == Kind::kAttention ? op.flops : 0;
    return flops;
  };
  const double ring = attention();
  setup.context_all_to_all = true;
  CHECK(attention() == ring);
  const std::vector<LayerOp> ops = layer_ops(setup, kBlock);
  // Queries, keys and values of 1024 tokens and two samples; then the output.
  const Bytes there = Bytes{2} * 2 * 1024 * (32 + 8 + 8) * 128;
  const Bytes back = Bytes{2} * 2 * 1024 * 32 * 128;
  for (const bool forward : {true, false}) {
    CHECK(traffic(ops, Dimension::kContext, CollectiveKind::kAllToAll, forward).bytes == there + back);
    CHECK(traffic(ops, Dimension::kContext, CollectiveKind::kAllGather, forward).count == 0);
  }
  const auto op = std::find_if(ops.begin(), ops.end(), [](const LayerOp& one) { return one.kind == Kind::kAttention; });
  CHECK(op->batch == 2 * 32 / 4);
  CHECK(op->m == 4096);
}

TEST_CASE("an all-gather of tokens: each rank's once to all, sums back, and no all-to-all") {
  for (const std::int64_t ranks : {2, 4, 8}) {
    TrainingSetup setup = layer_ops_setup_of("mixtral-8x7b");
    setup.parallel.expert = static_cast<int>(ranks);
    setup.dispatch = MoeDispatch::kAllGather;
    const std::vector<LayerOp> ops = layer_ops(setup, kExpertBlock);
    const Bytes all = Bytes{2} * 2 * 4096 * 4096 * ranks;
    for (const bool forward : {true, false}) {
      CHECK(traffic(ops, Dimension::kExpert, CollectiveKind::kAllGather, forward).bytes == all);
      CHECK(traffic(ops, Dimension::kExpert, CollectiveKind::kReduceScatter, forward).bytes == all);
      CHECK(traffic(ops, Dimension::kExpert, CollectiveKind::kAllToAll, forward).count == 0);
    }
    setup.dispatch = MoeDispatch::kAllToAll;
    CHECK(matrix_flops(ops) == matrix_flops(layer_ops(setup, kExpertBlock)));
  }
}

TEST_CASE("expert parallelism: dispatch and combine of 2bsh topk bytes, forward and backward") {
  TrainingSetup setup = layer_ops_setup_of("mixtral-8x7b");
  setup.parallel.data = 8;
  setup.parallel.expert = 8;
  for (const double imbalance : {1.0, 1.5}) {
    setup.expert_imbalance = imbalance;
    const std::vector<LayerOp> ops = layer_ops(setup, kExpertBlock);
    for (const bool forward : {true, false}) {
      const Traffic sums = traffic(ops, Dimension::kExpert, CollectiveKind::kAllToAll, forward);
      CHECK(sums.count == 2);
      CHECK(sums.bytes == 2 * Bytes{2} * 2 * 4096 * 4096 * 2);
    }
    const auto busiest =
        std::find_if(ops.begin(), ops.end(), [](const LayerOp& op) { return op.name == "experts up"; });
    CHECK(busiest->batch == 1);
    CHECK(busiest->m == static_cast<std::int64_t>(2 * 4096 * 2 * imbalance));
  }
  setup.expert_imbalance = 1;
  setup.capacity_factor = 1.25;
  const std::vector<LayerOp> padded = layer_ops(setup, kExpertBlock);
  const auto experts =
      std::find_if(padded.begin(), padded.end(), [](const LayerOp& op) { return op.name == "experts up"; });
  CHECK(experts->m == 2 * 4096 * 2 * 5 / 4);
}

TEST_CASE("an exchange that knows tokens needs them permuted once, where they arrive") {
  TrainingSetup setup = layer_ops_setup_of("deepseek-v3");
  setup.parallel.data = setup.parallel.expert = 8;
  const auto bytes_of_passes = [&setup](const char* name) {
    Bytes sum = 0;
    for (const LayerOp& op : layer_ops(setup, kExpertBlock)) sum += op.name == name ? op.bytes : 0;
    return sum;
  };
  const Bytes token = 7168 * 2;
  const Bytes copies = 2 * 4096 * 8 * token;  // as many arrive as are sent
  CHECK(bytes_of_passes("permute") == 2 * (2 * 4096 * token + copies));
  CHECK(bytes_of_passes("sort by expert") == 2 * (2 * copies));
  setup.dispatch = MoeDispatch::kDeepEp;
  CHECK(bytes_of_passes("permute") == 0);
  CHECK(bytes_of_passes("unpermute") == 0);
  // 8 experts in 4 of 8 groups, of 32 experts on a rank each: a rank of the four has none of the 8 among its 32 of 128
  // with a chance of (96 over 8) / (128 over 8).
  double none = 1;
  for (int k = 0; k < 8; ++k) none *= (96.0 - k) / (128.0 - k);
  const double landed = ranks_reached({MoeDispatch::kDeepEp, 8, 256, 8, 4}, 8) / 8;
  CHECK(landed == doctest::Approx(4 * (1 - none) / 8).epsilon(1e-9));
  for (const char* name : {"sort by expert", "sort by rank"}) {
    CHECK(static_cast<double>(bytes_of_passes(name)) ==
          doctest::Approx(2 * static_cast<double>(copies) * (1 + landed)).epsilon(1e-6));
  }
  setup.effects.one_permutation = false;
  CHECK(bytes_of_passes("permute") == 2 * (2 * 4096 * token + copies));
}

TEST_CASE("8-bit products of experts take rows in whole multiples: copied apart before them and together behind") {
  TrainingSetup setup = layer_ops_setup_of("deepseek-v3");
  setup.parallel.data = setup.parallel.expert = 8;
  setup.dispatch = MoeDispatch::kDeepEp;
  const auto bytes_of_passes = [&setup] {
    Bytes sum = 0;
    for (const LayerOp& op : layer_ops(setup, kExpertBlock)) {
      if (op.name == "pad rows of experts" || op.name == "unpad rows of experts") sum += op.bytes;
    }
    return sum;
  };
  CHECK(bytes_of_passes() == 0);
  setup.compute = NumberFormat::kFp8;
  const Bytes copies = 2 * 4096 * 8 * 7168 * 2;
  CHECK(bytes_of_passes() == 4 * 2 * copies);  // two forward, two backward, each reads and writes all
  setup.dispatch = MoeDispatch::kAllToAll;
  CHECK(bytes_of_passes() == 4 * 2 * copies);
  setup.effects.padded_rows = false;
  CHECK(bytes_of_passes() == 0);
  setup.effects.padded_rows = true;
  setup.dispatch = MoeDispatch::kHybrid;  // permutes into padded rows
  CHECK(bytes_of_passes() == 0);
  setup.dispatch = MoeDispatch::kDeepEp;
  setup.capacity_factor = 1;
  CHECK(bytes_of_passes() == 0);
}

TEST_CASE("gradients of biases are sums over the output's gradient, in passes of their own beside unfused attention") {
  TrainingSetup setup = layer_ops_setup_of("gpt3-22b");
  setup.flash_attention = false;
  const auto bytes_of_passes = [&setup] {
    std::map<std::string, Bytes> bytes;
    for (const LayerOp& op : layer_ops(setup, kBlock)) {
      const std::size_t at = op.name.find(": sum of its bias");
      if (at != std::string::npos) bytes[op.name.substr(0, at)] += op.bytes;
    }
    return bytes;
  };
  // Hidden 6144, each output's gradient once in 16 bits.
  const Bytes plane = Bytes{2} * setup.microbatch_size * setup.sequence * 6144;
  CHECK(bytes_of_passes() ==
        std::map<std::string, Bytes>{
            {"qkv", 3 * plane}, {"attention out", plane}, {"mlp up", 4 * plane}, {"mlp down", plane}});
  setup.flash_attention = true;  // Transformer Engine's products have them in passing
  CHECK(bytes_of_passes().empty());
  setup.flash_attention = false;
  setup.shape.biases = false;
  CHECK(bytes_of_passes().empty());
}

TEST_CASE("logits and routers stay in 16 bits where products are in 8") {
  TrainingSetup setup = layer_ops_setup_of("deepseek-v3");
  setup.compute = NumberFormat::kFp8;
  const auto formats = [&setup](const LayerPlace& place, const std::string& name) {
    std::vector<NumberFormat> found;
    for (const LayerOp& op : layer_ops(setup, place)) {
      if (op.name == name) found.push_back(op.format);
      CHECK(op.name != name + ": cast to fp8");
    }
    return found;
  };
  const std::vector<NumberFormat> wide(3, NumberFormat::kBf16);
  CHECK(formats({LayerPlace::Kind::kHead, 0, false}, "logits") == wide);
  CHECK(formats(kExpertBlock, "router") == wide);
  for (const LayerOp& op : layer_ops(setup, kExpertBlock)) {
    if (op.name == "experts up") CHECK(op.format == NumberFormat::kFp8);
  }
  setup.compute = NumberFormat::kFp32;
  CHECK(formats({LayerPlace::Kind::kHead, 0, false}, "logits") == std::vector<NumberFormat>(3, NumberFormat::kFp32));
}

TEST_CASE("tensor ranks share the work of every layer") {
  for (const char* name : {"gpt3-22b", "llama3-405b", "deepseek-v3", "mixtral-8x7b"}) {
    for (const LayerPlace& place : {kBlock, LayerPlace{LayerPlace::Kind::kHead, 0, false}}) {
      CAPTURE(name);
      const TrainingSetup one = layer_ops_setup_of(name);
      const TrainingSetup eight = layer_ops_setup_of(name, 8, true);
      const double alone = matrix_flops(layer_ops(one, place));
      const double eighth = matrix_flops(layer_ops(eight, place));
      // More ranks fill the vocabulary up further.
      const auto rows = [&](const TrainingSetup& setup) { return static_cast<double>(padded_vocabulary(setup)); };
      const double more = place.kind == LayerPlace::Kind::kHead ? rows(eight) / rows(one) : 1;
      CHECK(8 * eighth == doctest::Approx(more * alone).epsilon(1e-9));
    }
  }
}

TEST_CASE("forwards come first, backwards in the opposite order, recomputation between them") {
  TrainingSetup setup = layer_ops_setup_of("llama3-8b", 8, true);
  setup.recompute = Recompute::kFull;
  const std::vector<LayerOp> ops = layer_ops(setup, kBlock);
  const auto first_back =
      std::find_if(ops.begin(), ops.end(), [](const LayerOp& op) { return op.phase != Phase::kForward; });
  const auto first_gradient = std::find_if(first_back, ops.end(), [](const LayerOp& op) { return !op.recompute; });
  CHECK(std::none_of(first_back, ops.end(), [](const LayerOp& op) { return op.phase == Phase::kForward; }));
  CHECK(std::none_of(first_gradient, ops.end(), [](const LayerOp& op) { return op.recompute; }));
  const auto forwards = static_cast<std::size_t>(first_back - ops.begin());
  REQUIRE(static_cast<std::size_t>(first_gradient - first_back) == forwards);
  for (std::size_t k = 0; k < forwards; ++k) {
    CHECK(ops[forwards + k].name == ops[k].name);
    CHECK(ops[forwards + k].phase == Phase::kInputGrad);
  }
  CHECK(ops.front().name == "norm before attention");
  CHECK(ops.back().name == "norm before attention");
}

TEST_CASE("collectives run beside products only where that is allowed") {
  TrainingSetup setup = layer_ops_setup_of("llama3-8b", 8, true);
  const auto hidden = [&setup] {
    const std::vector<LayerOp> ops = layer_ops(setup, kBlock);
    return std::count_if(ops.begin(), ops.end(), [](const LayerOp& op) { return op.beside_next; });
  };
  CHECK(hidden() == 4);  // of two column products: the gathered input and the summed gradient
  setup.tensor_overlap = false;
  CHECK(hidden() == 0);
}

TEST_CASE("weight gradients are summed by their products, or in passes of their own") {
  TrainingSetup setup = layer_ops_setup_of("gpt3-175b", 8);
  const auto bytes = [&setup](Kind kind) {
    Bytes sum = 0;
    for (const LayerOp& op : layer_ops(setup, kBlock)) {
      if (op.phase == Phase::kWeightGrad && op.kind == kind) sum += op.bytes;
    }
    return sum;
  };
  const Bytes fused = bytes(Kind::kMatmul);
  CHECK(bytes(Kind::kElementwise) == 0);
  setup.fused_accumulation = false;
  // A product writes 2 bytes per weight instead of reading and writing 4; the pass reads 2 and 4, and writes 4.
  const Bytes weights = Bytes{12} * 12288 * 12288 / 8;
  CHECK(fused - bytes(Kind::kMatmul) == 6 * weights);
  CHECK(bytes(Kind::kElementwise) == 10 * weights);
}

TEST_CASE("a causal softmax reads no score that is masked, and one without a mask reads all") {
  TrainingSetup setup = layer_ops_setup_of("gpt3-22b", 8);
  setup.flash_attention = false;
  setup.dropout = true;
  const Bytes scores = Bytes{2} * (2 * 8) * 4096 * 4096;  // two bytes for each pair of tokens in 8 heads of 2 samples
  const auto bytes_of = [&](const char* name, Phase phase) {
    const std::vector<LayerOp> ops = layer_ops(setup, kBlock);
    const auto op = std::find_if(ops.begin(), ops.end(),
                                 [&](const LayerOp& one) { return one.name == name && one.phase == phase; });
    REQUIRE(op != ops.end());
    return op->bytes;
  };
  CHECK(bytes_of("softmax", Phase::kForward) == scores / 2 + scores);
  CHECK(bytes_of("softmax", Phase::kInputGrad) == scores / 2 + scores / 2 + scores);
  const Bytes dropped = bytes_of("attention dropout", Phase::kForward);
  CHECK(dropped == 2 * scores + scores / 2);
  setup.effects.causal_softmax = false;
  CHECK(bytes_of("softmax", Phase::kForward) == 2 * scores);
  setup.effects.causal_softmax = true;
  setup.causal = false;
  CHECK(bytes_of("softmax", Phase::kForward) == 2 * scores);
  CHECK(bytes_of("softmax", Phase::kInputGrad) == 3 * scores);
  CHECK(bytes_of("attention dropout", Phase::kForward) == dropped);
}

TEST_CASE("8-bit products cast what they read") {
  TrainingSetup setup = layer_ops_setup_of("llama3-8b");
  setup.compute = NumberFormat::kFp8;
  int casts = 0;
  for (const LayerOp& op : layer_ops(setup, kBlock)) {
    if (op.name.ends_with("cast to fp8")) ++casts;
    if (op.kind == Kind::kMatmul) CHECK(op.format == NumberFormat::kFp8);
    if (op.kind == Kind::kAttention) CHECK(op.format == NumberFormat::kBf16);
  }
  CHECK(casts == 8);
}

TEST_CASE("layers of a model: embedding, blocks, head, predictors, experts where they belong") {
  const std::vector<LayerPlace> places = layer_places(layer_ops_model("deepseek-v3"));
  REQUIRE(places.size() == 1 + 61 + 1 + 1);
  CHECK(places.front().kind == LayerPlace::Kind::kEmbedding);
  CHECK_FALSE(places[3].moe);
  CHECK(places[4].moe);
  CHECK(places[62].kind == LayerPlace::Kind::kHead);
  CHECK(places[63].kind == LayerPlace::Kind::kPredictor);
}

TEST_CASE("FLOPs of ops are those that utilisation counts, but for what only some of them do") {
  for (const char* name : {"gpt3-175b", "llama3-405b", "mixtral-8x7b", "deepseek-v2", "deepseek-v3"}) {
    TrainingSetup setup = layer_ops_setup_of(name);
    setup.flash_attention = false;
    for (const LayerPlace& place : layer_places(setup.shape)) {
      CAPTURE(name);
      double flops = 0;
      for (const LayerOp& op : layer_ops(setup, place)) flops += op.flops;
      CHECK(flops == doctest::Approx(model_flops(setup, place) * 2).epsilon(0.001));
    }
  }
}

}  // namespace debubble
