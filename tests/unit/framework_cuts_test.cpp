// Cuts that the packages themselves gave: torchtitan 0.3.0, nanotron 0.4 and DeepSpeed 0.19.8.
#include "cost_models/partition/framework_cuts.hpp"
#include "sim/core/transformer.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

using Cut = std::vector<int>;

TransformerShape cut_shape(std::int64_t layers, std::int64_t hidden, std::int64_t feed_forward,
                           std::int64_t vocabulary) {
  TransformerShape shape;
  shape.layers = layers;
  shape.hidden = hidden;
  shape.heads = 8;
  shape.feed_forward = feed_forward;
  shape.vocabulary = vocabulary;
  shape.norm = NormKind::kRmsNorm;
  shape.gated = true;
  shape.tied_embedding = false;
  return shape;
}

// Embedding, blocks of 4 h^2 + 3 h f weights and two norms, and a head with the final norm: one byte each.
Cut cut_of(const std::string& rule, const TransformerShape& shape, int stages) {
  Profile profile;
  profile.layers.resize(static_cast<std::size_t>(shape.layers + 2));
  const Bytes table = shape.vocabulary * shape.hidden;
  for (ProfileLayer& layer : profile.layers) {
    layer.kind = "transformer";
    layer.parameters = (4 * shape.hidden + 3 * shape.feed_forward + 2) * shape.hidden;
  }
  profile.layers.front().kind = "embedding";
  profile.layers.front().parameters = table;
  profile.layers.back().kind = "head";
  profile.layers.back().parameters = table + shape.hidden;
  LayersToCut layers{&profile, stages};
  layers.sizes = cut_sizes(shape, 1);
  return cut_layers(parse_cut_rule(rule), layers).layers;
}

std::string framework_cut_complaint(const std::string& rule, const TransformerShape& shape, int stages) {
  return problems_of([&] { (void)cut_of(rule, shape, stages); });
}

TEST_CASE("torchtitan: embedding and head weigh as blocks, and what is left over goes to the first stages") {
  struct {
    int blocks;
    int stages;
    const char* rule;
    Cut cut;  // with embedding and head
  } const rows[]{{22, 4, "torchtitan", {6, 6, 6, 6}},     {25, 6, "torchtitan", {5, 5, 5, 4, 4, 4}},
                 {19, 3, "torchtitan:0,0", {8, 6, 7}},    {30, 5, "torchtitan:3,1", {5, 7, 7, 7, 6}},
                 {17, 4, "torchtitan:4,4", {4, 6, 6, 3}}, {3, 1, "torchtitan:9,9", {5}},
                 {2, 4, "torchtitan", {1, 1, 1, 1}}};
  for (const auto& row : rows) {
    CAPTURE(row.rule);
    CHECK(cut_of(row.rule, cut_shape(row.blocks, 64, 256, 512), row.stages) == row.cut);
  }
  CHECK(framework_cut_complaint("torchtitan:5,1", cut_shape(12, 64, 256, 512), 4) ==
        "error[L004]: torchtitan refuses 12 blocks, and first and last stage less 5 and 1, on 4 stages: 4 for each\n"
        "  --> --partition\n"
        "  = help: let pipeline_parallel_first_ and last_stage_less_layers be at most 4\n");
  CHECK(framework_cut_complaint("torchtitan", cut_shape(5, 64, 256, 512), 8).starts_with("error[L004]"));
}

TEST_CASE("nanotron: a rank takes what carries it past its share of the blocks' and the head's cost") {
  CHECK(cut_of("nanotron", cut_shape(12, 512, 2048, 32000), 4) == Cut{5, 4, 4, 1});
  CHECK(cut_of("nanotron", cut_shape(20, 1024, 4096, 32000), 4) == Cut{7, 5, 6, 4});
  CHECK(cut_of("nanotron", cut_shape(9, 256, 1024, 1024), 2) == Cut{6, 5});
  // The head alone is more than a share: the loss is all that is left for the last rank.
  CHECK(cut_of("nanotron", cut_shape(4, 256, 1024, 32000), 3) == Cut{5, 1, 0});
  Profile unknown;
  unknown.layers.resize(6);
  CHECK(problems_of([&] {
          (void)cut_layers(parse_cut_rule("nanotron"), {&unknown, 2});
        }).starts_with("error[C004]: nanotron's cut follows"));
}

TEST_CASE("DeepSpeed: weights, numbers or types of layers, and the final norm is a layer") {
  const TransformerShape shape = cut_shape(14, 256, 1024, 6400);
  CHECK(cut_of("deepspeed", shape, 4) == cut_of("deepspeed:parameters", shape, 4));
  CHECK(cut_of("deepspeed", shape, 4) == Cut{4, 4, 4, 4});
  CHECK(cut_of("deepspeed:uniform", shape, 4) == Cut{5, 4, 4, 3});
  CHECK(cut_of("deepspeed:type:transformer", shape, 4) == Cut{5, 4, 3, 4});
  CHECK(cut_of("deepspeed:type:Transformer|EMBEDDING", shape, 5) == Cut{3, 3, 3, 3, 4});
  CHECK(framework_cut_complaint("deepspeed:type:mamba", shape, 4).starts_with("error[L004]: DeepSpeed finds no"));
  for (const char* rule : {"deepspeed:", "deepspeed:best", "deepspeed:type:a.*", "torchtitan:1", "torchtitan:-1,1",
                           "torchtitan:a,b", "nanotron:2"}) {
    CAPTURE(rule);
    CHECK(framework_cut_complaint(rule, shape, 2).starts_with("error[S061]"));
  }
}

TEST_CASE("GPT-NeoX: DeepSpeed's cut of a list with a function before the blocks and one behind them") {
  const TransformerShape shape = cut_shape(24, 1024, 2048, 50304);
  CHECK(cut_of("neox", shape, 4) == Cut{7, 7, 6, 6});
  CHECK(cut_of("neox:type:transformer|mlp", shape, 4) == Cut{7, 7, 6, 6});
  CHECK(cut_of("neox:uniform", shape, 4) == Cut{7, 7, 7, 5});
  CHECK(cut_of("neox:parameters", shape, 4) == Cut{5, 8, 8, 5});
  CHECK(cut_of("neox", cut_shape(32, 1024, 2048, 50304), 8) == Cut{5, 5, 4, 4, 4, 4, 4, 4});
}

}  // namespace
}  // namespace debubble
