// Configurations of other frameworks as scenarios, through the real command. The facts are those of published files
// (repository and commit beside each).
#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

// Its output where notes on stderr are expected.
std::string output_of(const Folder& folder, const Words& command) {
  const Outcome outcome = folder.run(command);
  CHECK(outcome.status == 0);
  return outcome.out;
}

// What `simulate --config` is told, without comments.
std::string scenario_lines(const Folder& folder, const Words& arguments) {
  Words command{"import"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  std::string text;
  std::string line;
  for (const char c : output_of(folder, command)) {
    line += c;
    if (c != '\n') continue;
    if (line[0] != '#') text += line;
    line.clear();
  }
  return text;
}

// pytorch/torchtitan 238fa99, llama3_405b.toml, what costs of it.
constexpr const char* kTitan405 = R"([model]
name = "llama3"
flavor = "405B"
converters = ["float8"]
[training]
local_batch_size = 2
seq_len = 8_192
[parallelism]
data_parallel_replicate_degree = 1
data_parallel_shard_degree = -1
tensor_parallel_degree = 8
enable_async_tensor_parallel = true
pipeline_parallel_degree = 1
[activation_checkpoint]
mode = "full"
[compile]
enable = true
components = ["model", "loss"]
)";

std::string with_line(std::string text, const std::string& after, const std::string& line) {
  const std::size_t at = text.find(after) + after.size();
  return text.insert(at, "\n" + line);
}

}  // namespace

TEST_CASE_IN_FOLDER("torchtitan: a flavour, the rest of the ranks, local batches") {
  folder.write("t.toml", kTitan405);
  CHECK(scenario_lines(folder, "--from torchtitan t.toml --world-size 512") == R"(model = "llama"
model-size = "layers=126,hidden=16384,heads=128,kv_heads=8,feed_forward=53248,vocabulary=128256,vocabulary_unit=1"
devices = 1
tp = 8
sequence-parallel = true
dp = 64
zero = 3
tensor-overlap = "userbuffers"
sequence = 8192
microbatch-size = 2
microbatches = 1
dtype = "fp8"
fp8-recipe = "tensorwise"
recompute = "full"
loss = "fused"
)");
  folder.write("old.toml", R"([model]
name = "llama3"
flavor = "70B"
[training]
batch_size = 8
seq_len = 8192
tensor_parallel_degree = 8
data_parallel_degree = 4
[experimental]
pipeline_parallel_degree = 4
pipeline_parallel_schedule = "Interleaved1F1B"
pipeline_parallel_microbatches = 8
[activation_checkpoint]
mode = "none"
)");
  const std::string old = scenario_lines(folder, "--from torchtitan old.toml");
  for (const char* line : {"devices = 4\n", "tp = 8\n", "dp = 4\n", "microbatch-size = 1\n", "microbatches = 8\n",
                           "schedule = \"interleaved\"\n", "keep-whole = true\n", "recompute = \"none\"\n"}) {
    CAPTURE(line);
    CHECK(contains(old, line));
  }
}

TEST_CASE_IN_FOLDER("torchtitan: what is imported runs, and a second reading of it says the same") {
  folder.write("t.toml", R"([model]
name = "qwen3"
flavor = "0.6B"
[training]
local_batch_size = 4
seq_len = 4096
[parallelism]
data_parallel_shard_degree = 2
)");
  folder.write("s.toml", output_of(folder, "import --from torchtitan t.toml"));
  CHECK(folder.run("simulate --config s.toml --hardware h100").status == 0);
}

TEST_CASE_IN_FOLDER("torchtitan: what the file does not say is asked for, what is unknown is named") {
  folder.write("t.toml", kTitan405);
  CHECK(
      folder.refusal("import --from torchtitan t.toml") ==
      R"(error[F001]: "parallelism.data_parallel_shard_degree" is -1, the rest of the ranks, and the file does not say how many there are
  --> --world-size
  = help: add --world-size N, at least 8
)");
  CHECK(contains(folder.refusal("import --from torchtitan t.toml --world-size 12"), "12 ranks are no multiple"));
  folder.write("odd.toml", with_line(kTitan405, "[training]", "surprise = 3"));
  CHECK(contains(folder.run("import --from torchtitan odd.toml --world-size 8").err,
                 "unknown key \"training.surprise\""));
  folder.write("flux.toml", "[model]\nname = \"flux\"\nflavor = \"flux-dev\"\n");
  const std::string flux = folder.refusal("import --from torchtitan flux.toml --world-size 8");
  CHECK(contains(flux, "error[F033]"));
  CHECK(contains(flux, "flux.toml#/model/name"));
  folder.write("size.toml", "[model]\nname = \"llama3\"\nflavor = \"9B\"\n");
  CHECK(contains(folder.refusal("import --from torchtitan size.toml --world-size 8"),
                 "known flavors: debugmodel, 8B, 70B, 405B"));
}

TEST_CASE_IN_FOLDER("deepspeed: two batch sizes and the ranks say the third") {
  // deepspeedai/Megatron-DeepSpeed f4157be, examples_deepspeed/finetune_hf_llama/ds_config.json
  folder.write("ds.json", R"({"train_batch_size": 256, "train_micro_batch_size_per_gpu": 16, "steps_per_print": 100,
    "zero_optimization": {"stage": 0}, "bf16": {"enabled": true}})");
  CHECK(scenario_lines(folder, "--from deepspeed ds.json --model llama2-7b --world-size 8 --stages 2 --tp 2") ==
        R"(model = "llama2-7b"
devices = 2
tp = 2
schedule = "1f1b"
p2p = "rendezvous"
partition = "deepspeed"
scatter-gather = true
dtype = "bf16"
grad-dtype = "bf16"
low-gradients = "kept"
dp = 2
zero = 1
microbatch-size = 16
microbatches = 8
)");
  folder.write("zero.json", R"({"train_micro_batch_size_per_gpu": 4, "zero_optimization": {"stage": 3,
    "offload_optimizer": {"device": "nvme"}}, "fp16": {"enabled": true}, "hybrid_engine": {"enabled": true}})");
  const auto read = folder.run("import --from deepspeed zero.json --model llama2-7b --world-size 4");
  CHECK(contains(read.out, "zero = 3\n"));
  CHECK(contains(read.err, "offload_optimizer (nvme) is not modelled"));
  CHECK(contains(read.err, "\"hybrid_engine\" is not modelled"));
}

TEST_CASE_IN_FOLDER("nanotron, GPT-NeoX, Megatron-LM's YAML, Primus and recipes of Megatron-Bridge") {
  // huggingface/nanotron, examples/config_tiny_llama.yaml
  folder.write("n.yaml", R"(model:
  dtype: bfloat16
  make_vocab_size_divisible_by: 1
  model_config: {hidden_size: 2048, intermediate_size: 11008, num_attention_heads: 16, num_hidden_layers: 28,
    num_key_value_heads: 2, max_position_embeddings: 4096, tie_word_embeddings: true, vocab_size: 128256}
parallelism: {dp: 4, pp: 2, tp: 2, tp_mode: REDUCE_SCATTER, pp_engine: 1f1b}
optimizer: {zero_stage: 1}
tokens: {batch_accumulation_per_replica: 8, micro_batch_size: 3, sequence_length: 4096}
)");
  const std::string nano = scenario_lines(folder, "--from nanotron n.yaml");
  for (const char* part : {"layers=28,hidden=2048,heads=16,kv_heads=2", "vocabulary=128256", "tied_embedding=yes",
                           "tp = 2\n", "dp = 4\n", "devices = 2\n", "microbatches = 8\n", "zero = 1\n"}) {
    CAPTURE(part);
    CHECK(contains(nano, part));
  }
  folder.write("x.yml", R"({"pipe_parallel_size": 2, "model_parallel_size": 2, "num_layers": 32, "hidden_size": 4096,
   "num_attention_heads": 32, "seq_length": 2048, "max_position_embeddings": 2048, "norm": "layernorm",
   # a comment
   "pos_emb": "rotary", "no_weight_tying": true, "checkpoint_activations": True,
   "train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 4, "fp16": {"enabled": true},
   "zero_optimization": {"stage": 1}})");
  const std::string neox = scenario_lines(folder, "--from neox x.yml --world-size 16");
  for (const char* part : {"layers=32,hidden=4096,heads=32", "tied_embedding=no", "tp = 2\n", "dp = 4\n", "zero = 1\n",
                           "devices = 2\n", "microbatch-size = 4\n", "microbatches = 4\n", "recompute = \"full\"\n"}) {
    CAPTURE(part);
    CHECK(contains(neox, part));
  }
  CHECK(contains(folder.refusal("import --from neox x.yml"), "--> --world-size"));
  folder.write("m.yaml", R"(MODEL_ARGS:
  --num-layers: 12
  --hidden-size: 512
  --num-attention-heads: 8
  --micro-batch-size: 4
  --global-batch-size: 32
  --seq-length: 1024
  --save: ${CHECKPOINT_SAVE_PATH}
  --pipeline-model-parallel-size: 4
  --num-layers-per-virtual-pipeline-stage: 1
  --bf16: true
  --swiglu: false
)");
  const std::string yaml = scenario_lines(folder, "--from nemo m.yaml --world-size 4");
  for (const char* part : {"layers=12", "chunks = 3\n", "microbatches = 8\n", "dtype = \"bf16\"\n"}) {
    CAPTURE(part);
    CHECK(contains(yaml, part));
  }
  folder.write("p.yaml", R"(exp_name: ${PRIMUS_EXP:a}
modules:
  pre_trainer:
    framework: megatron
    model: ${PRIMUS_MODEL:mixtral_8x22B_v0.1}.yaml
    overrides: {micro_batch_size: 2, global_batch_size: 128, seq_length: 8192, pipeline_model_parallel_size: 4,
      expert_model_parallel_size: 8, fp8: hybrid}
)");
  const std::string primus = scenario_lines(folder, "--from nemo p.yaml --world-size 32");
  for (const char* part : {"layers=56,hidden=6144", "ep = 8\n", "devices = 4\n", "dtype = \"fp8\"\n"}) {
    CAPTURE(part);
    CHECK(contains(primus, part));
  }
  folder.write("b.json", R"json({"function": "llama3_70b_pretrain", "assignments": {
    "model": "AutoBridge.from_hf_pretrained('meta-llama/Meta-Llama-3-70B').get_model_config()",
    "model.seq_length": "SEQUENCE_LENGTH_16K", "model.tensor_model_parallel_size": 4,
    "model.virtual_pipeline_model_parallel_size": 5, "model.pipeline_model_parallel_size": 4,
    "train.global_batch_size": 512, "train.micro_batch_size": 1, "mixed_precision": "bf16_mixed()"}})json");
  const std::string bridge = scenario_lines(folder, "--from nemo b.json --world-size 32");
  for (const char* part : {"model = \"llama3-70b\"\n", "sequence = 16384\n", "chunks = 5\n", "tp = 4\n", "dp = 2\n"}) {
    CAPTURE(part);
    CHECK(contains(bridge, part));
  }
}

TEST_CASE_IN_FOLDER("a list of torchtitan's arguments sets what its configuration does, but for what it says itself") {
  folder.write("own.txt", "--training.seq_len 4096\n--module llama3\n--config llama3_70b\n");
  const std::string own = scenario_lines(folder, "--from torchtitan own.txt --world-size 16");
  for (const char* part : {"sequence = 4096\n", "tp = 8\n", "recompute = \"full\"\n", "cuda-graphs = \"on\"\n"}) {
    CAPTURE(part);
    CHECK(contains(own, part));
  }
  folder.write("mine.txt", "--module mine\n--config mine_8b\n--training.seq_len 4096\n");
  Words mine{"import", "--from", "torchtitan", "mine.txt", "--world-size", "8"};
  CHECK(contains(folder.refusal(mine), "the configuration \"mine_8b\" is not known\n"));
  mine.insert(mine.end(), {"--model", "llama3-8b"});
  CHECK(contains(folder.run(mine).err, "counts as torchtitan's defaults\n"));
}

TEST_CASE_IN_FOLDER("accelerate: ranks, sharding and the number format") {
  folder.write("a.yaml", R"(compute_environment: LOCAL_MACHINE
distributed_type: FSDP
fsdp_config: {fsdp_version: 2, fsdp_reshard_after_forward: true, fsdp_activation_checkpointing: true}
mixed_precision: bf16
num_machines: 2
num_processes: 16
)");
  CHECK(scenario_lines(folder, "--from accelerate a.yaml --model llama3-8b") == R"(model = "llama3-8b"
zero = 3
recompute = "full"
devices = 1
dp = 16
dtype = "bf16"
weight-dtype = "fp32"
)");
  CHECK(contains(folder.refusal("import --from accelerate a.yaml"), "--> --model"));
}

TEST_CASE_IN_FOLDER("export: what a framework is told, and read back it is the same run") {
  const Words run =
      "--model llama3-8b --hardware h100 --tp 2 -p 4 -m 8 --dp 2 --zero 1 --sequence 4096 --sequence-parallel "
      "--p2p coupled";
  const auto with = [&](Words command, const Words& more) {
    command.insert(command.end(), more.begin(), more.end());
    return command;
  };
  const std::string megatron = output_of(folder, with("export --to megatron", run));
  for (const char* line : {"--num-layers 32\n", "--num-query-groups 8\n", "--tensor-model-parallel-size 2\n",
                           "--pipeline-model-parallel-size 4\n", "--global-batch-size 16\n", "--bf16\n",
                           "--use-distributed-optimizer\n", "--sequence-parallel\n"}) {
    CAPTURE(line);
    CHECK(contains(megatron, line));
  }
  folder.write("args.txt", megatron + "--world-size 16\n");
  folder.write("back.toml", output_of(folder, "import --from megatron args.txt"));
  const auto step = [&](const Words& arguments) {
    const std::string text = folder.data(arguments);
    const std::size_t at = text.find("step time");
    return text.substr(at, text.find('\n', at) - at);
  };
  CHECK(step("simulate --config back.toml --hardware h100") == step(with({"simulate"}, run)));
  const std::string titan = output_of(
      folder,
      with("export --to torchtitan", "--model llama3-8b --hardware h100 -p 1 -m 1 --dp 8 --zero 3 --sequence 8192"));
  CHECK(contains(titan, "--module llama3\n--config llama3_8b\n"));
  CHECK(contains(titan, "--parallelism.data_parallel_shard_degree 8\n"));
  CHECK(titan.ends_with("activation-checkpoint:none\n"));
  folder.write("t.txt", titan);
  CHECK(contains(scenario_lines(folder, "--from torchtitan t.txt"), "dp = 8\nzero = 3\n"));
  const std::string deepspeed =
      output_of(folder, with("export --to deepspeed", "--model llama3-8b --hardware h100 -p 2 -m 8 --dp 2 --zero 1"));
  CHECK(
      deepspeed ==
      R"({"train_batch_size": 16, "train_micro_batch_size_per_gpu": 1, "gradient_accumulation_steps": 8, "zero_optimization": {"stage": 1}, "bf16": {"enabled": true, "immediate_grad_update": true}, "data_types": {"grad_accum_dtype": "fp32"}, "pipeline": {"stages": 2, "partition": "uniform"}}
)");
}

TEST_CASE_IN_FOLDER("hostile and broken configurations are refused with their place") {
  const auto refused = [&](const char* tool, const char* name, const std::string& text, const char* code) {
    folder.write(name, text);
    std::string error = folder.refusal({"import", "--from", tool, name, "--world-size", "8", "--model", "gpt2-xl"});
    CAPTURE(error);
    CHECK(error.starts_with(std::string("error[") + code + "]"));
    CHECK(contains(error, name));
    CHECK(contains(error, "= help: "));
    return error;
  };
  // Aliases of aliases: 10^9 values from a few lines.
  std::string laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int k = 1; k < 9; ++k) {
    const std::string before = "*a" + std::to_string(k - 1);
    laughs += "a" + std::to_string(k) + ": &a" + std::to_string(k) + " [" + before;
    for (int n = 1; n < 10; ++n) laughs += ", " + before;
    laughs += "]\n";
  }
  refused("neox", "l.yml", laughs, "P017");
}

TEST_CASE_IN_FOLDER("export: DeepSeek's predictors and groups of experts are Megatron's") {
  const std::string text = output_of(folder, "export --to megatron --model deepseek-v3 -p 4 -m 8");
  CHECK(contains(text, "mL"));
  CHECK(contains(text, "--moe-router-num-groups 8\n--moe-router-group-topk 4\n"));
  CHECK(contains(text, "--mtp-num-layers 1\n"));
}

TEST_CASE_IN_FOLDER("the numbers of a model's file are listed with what it trains") {
  folder.write("config.json", R"({"model_type": "gemma2", "vocab_size": 256000, "num_hidden_layers": 26,
    "num_attention_heads": 8, "num_key_value_heads": 4, "hidden_size": 2304, "intermediate_size": 9216, "head_dim": 256})");
  CHECK(contains(folder.data("list models config.json"), "2614341888"));
  CHECK(contains(folder.data("list models config.json --format json"), "\"parameters\": 2614341888"));
}

}  // namespace debubble::testing
