// torchtitan's files of today through the real command: the JSON that a job saves of itself, its pipelines, and what
// torchtitan and the schedule classes of PyTorch 2.13 refuse. Every import ends in a simulation.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

const std::string kHeads = R"("attention": {"n_heads": 8, "qkv_linear": {"wqkv": {"bias": false}},
  "wo": {"bias": false}, "qk_norm": null, "n_kv_heads": 2, "head_dim": null})";
const std::string kLatent = R"("attention": {"n_heads": 8, "wq": null, "wo": {"bias": false}, "q_lora_rank": 96,
  "kv_lora_rank": 64, "q_norm": {"normalized_shape": 96}, "qk_nope_head_dim": 32, "qk_rope_head_dim": 16, "v_head_dim": 32})";
const std::string kDense =
    R"("feed_forward": {"w1": {"out_features": 1536}, "w3": {"out_features": 1536}}, "moe": null)";
const std::string kExperts = R"("feed_forward": null, "moe": {"num_experts": 8, "routed_experts": {"inner_experts":
  {"hidden_dim": 256}}, "router": {"num_expert_groups": null, "top_k": 2, "gate": {"bias": false}},
  "shared_experts": {"w1": {"out_features": 512}}})";

std::string titan_block(const std::string& attention, const std::string& mlp) {
  return "{" + attention + ", " + mlp + "}";
}

std::string titan_blocks(int count, const std::string& block) {
  std::string text;
  for (int k = 0; k < count; ++k) text += (k == 0 ? "" : ", ") + block;
  return text;
}

struct SavedJob {
  std::string layers;
  std::string model = R"("enable_weight_tying": false)";
  std::string training = R"("local_batch_size": 8, "seq_len": 1024, "disable_cuda_graphs": true)";
  std::string parallelism{};
  std::string recomputation = "null";
};

std::string saved_text(const SavedJob& job) {
  return R"({"model_spec": {"name": "llama3", "flavor": "any", "model": {"dim": 512, "vocab_size": 4000, "layers": [)" +
         job.layers + "], " + job.model + R"(}}, "training": {)" + job.training + R"(}, "parallelism": {)" +
         job.parallelism + R"(}, "activation_checkpoint": )" + job.recomputation + "}";
}

// Imports and simulates; returns what import wrote.
std::string imported(const Folder& folder, const SavedJob& job) {
  folder.write("saved.json", saved_text(job));
  const Outcome read =
      folder.run({"import", "--from", "torchtitan", "saved.json", "--world-size", "4", "-o", "run.toml"});
  CAPTURE(read.err);
  REQUIRE(read.status == 0);
  const Outcome run = folder.run({"simulate", "--config", "run.toml", "--hardware", "h100"});
  CAPTURE(run.err);
  CHECK(run.status == 0);
  return folder.read("run.toml");
}

std::string refused_import(const Folder& folder, const SavedJob& job) {
  folder.write("saved.json", saved_text(job));
  return folder.refusal({"import", "--from", "torchtitan", "saved.json", "--world-size", "4"});
}

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("torchtitan 0.3: the model is the one whose blocks the file has, whatever its flavor") {
  const Folder folder;
  SavedJob job{titan_blocks(5, titan_block(kHeads, kDense))};
  const std::string dense = imported(folder, job);
  CHECK(says(dense,
             "model-size = \"layers=5,hidden=512,heads=8,kv_heads=2,head_size=64,feed_forward=1536,"
             "vocabulary=4000,vocabulary_unit=1\"\n"));
  CHECK(says(dense, "recompute = \"none\"\n"));
  job.layers = titan_block(kLatent, kDense) + ", " + titan_blocks(3, titan_block(kLatent, kExperts));
  job.model = R"("enable_weight_tying": true)";
  CHECK(says(imported(folder, job),
             "layers=4,hidden=512,heads=8,kv_heads=8,head_size=32,query_rank=96,kv_rank=64,rope_size=16,value_size=32,"
             "feed_forward=1536,vocabulary=4000,vocabulary_unit=1,experts=8,experts_per_token=2,"
             "expert_feed_forward=256,shared_experts=2,shared_feed_forward=512,dense_layers=1,tied_embedding=yes\""));
  job.layers = titan_blocks(2, titan_block(kHeads, kExperts) + ", " + titan_block(kHeads, kDense));
  CHECK(says(imported(folder, job), ",expert_blocks=1010,"));
}

TEST_CASE("torchtitan 0.3: recomputation by its settings, CUDA graphs and sequence parallelism by default") {
  const Folder folder;
  SavedJob job{titan_blocks(4, titan_block(kHeads, kDense))};
  job.recomputation = R"({"preserve_rng_state": true})";
  CHECK(says(imported(folder, job), "recompute = \"full\"\n"));
  job.recomputation = R"({"force_recompute_mm_shapes_by_fqns": ["moe.router.gate"]})";
  job.training = R"("local_batch_size": 2, "seq_len": 1024, "disable_cuda_graphs": false)";
  job.parallelism = R"("tensor_parallel_degree": 2)";
  const std::string graphs = imported(folder, job);
  CHECK(says(graphs, "recompute = \"selective\"\n"));
  CHECK(says(graphs, "cuda-graphs = \"on\"\n"));
  CHECK(says(graphs, "sequence-parallel = true\n"));
  job.parallelism = R"("tensor_parallel_degree": 2, "enable_sequence_parallel": false)";
  CHECK_FALSE(says(imported(folder, job), "sequence-parallel"));
  job.parallelism = R"("pipeline_parallel_degree": 2)";
  CHECK(says(refused_import(folder, job), "error[P035]: torchtitan refuses this: pipeline ranks 2, CUDA graphs"));
}

TEST_CASE("torchtitan: schedules in any case, in PyTorch's order, with torchtitan's cut") {
  const Folder folder;
  SavedJob job{titan_blocks(14, titan_block(kHeads, kDense))};
  const auto with_pipeline = [&](const std::string& rest) {
    job.parallelism = R"("pipeline_parallel_degree": 4, )" + rest;
    return imported(folder, job);
  };
  const std::string rounds = with_pipeline(R"("pipeline_parallel_schedule": "interleaved1f1b")");
  CHECK(says(rounds, "schedule = \"interleaved\"\n"));
  CHECK(says(rounds, "param = \"rounding=pytorch\"\n"));
  CHECK(says(rounds, "partition = \"torchtitan\"\n"));
  CHECK(says(rounds, "chunks = 2\n"));
  const std::string gpipe =
      with_pipeline(R"("pipeline_parallel_schedule": "GPIPE", "pipeline_parallel_first_stage_less_layers": 2)");
  CHECK(says(gpipe, "param = \"backward=ascending\"\n"));
  CHECK(says(gpipe, "partition = \"torchtitan:2,1\"\n"));
  CHECK(says(with_pipeline(R"("pipeline_parallel_schedule": "LoopedBFS", "pipeline_parallel_layers_per_stage": 1,
    "pipeline_parallel_first_stage_less_layers": 1, "pipeline_parallel_last_stage_less_layers": 1)"),
             "chunks = 4\n"));
  CHECK(says(with_pipeline(R"("pipeline_parallel_schedule": "1F1B", "module_fqns_per_model_part":
    [["tok_embeddings", "layers.0", "layers.1"], ["layers.2", "layers.3", "layers.4", "layers.5", "layers.6"],
     ["layers.7", "layers.8", "layers.9", "layers.10"], ["layers.11", "layers.12", "layers.13", "norm", "lm_head"]])"),
             "partition = \"Et*2|t*5|t*4|t*3L\"\n"));
}

TEST_CASE("torchtitan: what it or PyTorch's constructors refuse is refused") {
  const Folder folder;
  struct {
    const char* name;  // of the class
    int microbatches;
    const char* rest;
    const char* message;
  } const rows[]{
      {"1F1B", 3, "", "schedule class 1F1B, microbatches 3, stages 4"},
      {"interleaved1f1b", 9, "", "schedule class Interleaved1F1B, microbatches 9, rounds 2"},
      {"InterleavedZeroBubble", 14, "", "schedule class InterleavedZeroBubble, microbatches 14, rounds 3"},
      {"DualPipeV", 7, "", "schedule class DualPipeV, microbatches 7, stages 8"},
      {"ZBVZeroBubble", 8, R"(, "pipeline_parallel_layers_per_stage": 2)",
       "schedule class ZBVZeroBubble, stages on each rank 4"},
      {"1F1B", 8, R"(, "pipeline_parallel_layers_per_stage": 4)", "schedule class 1F1B, stages on each rank 2"},
      {"LoopedBFS", 8, R"(, "pipeline_parallel_layers_per_stage": 8)",
       "schedule class LoopedBFS, stages on each rank 1"},
      {"Interleaved1F1B", 8, R"(, "pipeline_parallel_layers_per_stage": 5)", "stages 7, pipeline ranks 4"},
      {"GPipe", 8, R"(, "pipeline_parallel_last_stage_less_layers": 20)",
       "layers of a stage, the ends' weights among them 12, first_stage_less_layers 1, last_stage_less_layers 20"},
      {"1F1Bb", 8, "", "\"1F1Bb\" is not known"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.name);
    SavedJob job{titan_blocks(30, titan_block(kHeads, kDense))};
    job.training = R"("local_batch_size": )" + std::to_string(row.microbatches) +
                   R"(, "seq_len": 1024, "disable_cuda_graphs": true)";
    job.parallelism =
        R"("pipeline_parallel_degree": 4, "pipeline_parallel_schedule": ")" + std::string(row.name) + "\"" + row.rest;
    CHECK(says(refused_import(folder, job), row.message));
  }
}

TEST_CASE("torchtitan: what it refuses of a model and its ranks is refused") {
  const Folder folder;
  const auto refused = [&](const std::string& model, const std::string& parallelism) {
    SavedJob job{titan_blocks(4, titan_block(kHeads, kDense))};
    job.model = model;
    job.parallelism = parallelism;
    folder.write("saved.json", saved_text(job));
    return folder.run({"import", "--from", "torchtitan", "saved.json", "--world-size", "4"}).err;
  };
  const std::string pipeline = R"("pipeline_parallel_degree": 2)";
  const std::string tied = R"("enable_weight_tying": true)";
  CHECK(says(refused(tied, pipeline), "error[P035]"));
  CHECK_FALSE(says(refused(tied, ""), "error["));
  const std::string predictor = R"("mtp_layers": [{}])";
  CHECK(says(refused(predictor, pipeline), "layers of multi-token prediction 1"));
  CHECK(says(refused(predictor, R"("context_parallel_degree": 2)"), "layers of multi-token prediction 1"));
  CHECK_FALSE(says(refused(predictor, ""), "error["));
  const auto list = [&](const std::string& words) {
    folder.write("list.args", words + " --training.disable_cuda_graphs\n");
    return folder.run({"import", "--from", "torchtitan", "list.args", "--world-size", "4"}).err;
  };
  const std::string budget = "--config llama3_8b activation-checkpoint:memory-budget";
  CHECK(says(list(budget), "a memory budget takes a compiled model"));
  CHECK_FALSE(says(list("--compile.enable --compile.components model loss " + budget), "error["));
  CHECK(says(list("--config llama3_8b --training.seq_len 131073"), "longest sequence 131072"));
  CHECK_FALSE(says(list("--config llama3_8b --training.seq_len 131072"), "error["));
  CHECK(says(list("--config gpt_oss_20b --parallelism.context_parallel_degree 2"), "attention of variable length"));
}

TEST_CASE("torchtitan: a file whose model is missing, or of blocks that are not modelled, is refused") {
  const Folder folder;
  folder.write("wrapped.yaml", "modules: {trainer: {overrides: {parallelism: {tensor_parallel_degree: 8}}}}\n");
  CHECK(says(folder.refusal({"import", "--from", "torchtitan", "wrapped.yaml", "--world-size", "8"}), "error[F001]: "));
  SavedJob job{titan_blocks(3, "{\"attention\": null, \"delta_net\": {\"key_head_dim\": 64}, " + kDense + "}")};
  CHECK(says(refused_import(folder, job), "error[F033]: blocks without attention"));
  job.layers = "";
  CHECK(says(refused_import(folder, job), "error[F001]: the model's sizes are missing"));
}

TEST_CASE("nanotron and DeepSpeed: imports have the framework's own cut, which a simulation accepts") {
  const Folder folder;
  folder.write("nano.yaml", R"(parallelism: {dp: 1, pp: 4, pp_engine: 1f1b, tp: 1}
model: {model_config: {num_hidden_layers: 18, hidden_size: 1024, intermediate_size: 4096, num_attention_heads: 16,
    num_key_value_heads: 16, vocab_size: 32000, max_position_embeddings: 1024, tie_word_embeddings: false}}
tokens: {micro_batch_size: 1, batch_accumulation_per_replica: 8, sequence_length: 1024}
)");
  folder.write("ds.json", R"({"train_micro_batch_size_per_gpu": 2, "gradient_accumulation_steps": 8,
    "bf16": {"enabled": true}})");
  struct {
    std::vector<std::string> import;
    const char* cut;
  } const rows[]{{{"--from", "nanotron", "nano.yaml"}, "partition = \"nanotron\"\n"},
                 {{"--from", "deepspeed", "ds.json", "--model", "gpt2-xl", "--stages", "4", "--world-size", "4"},
                  "partition = \"deepspeed\"\n"}};
  for (const auto& row : rows) {
    std::vector<std::string> command{"import", "-o", "run.toml"};
    command.insert(command.end(), row.import.begin(), row.import.end());
    const Outcome read = folder.run(command);
    CAPTURE(read.err);
    REQUIRE(read.status == 0);
    CHECK(says(folder.read("run.toml"), row.cut));
    CHECK(folder.run({"simulate", "--config", "run.toml", "--hardware", "h100"}).status == 0);
  }
}

}  // namespace debubble::testing
