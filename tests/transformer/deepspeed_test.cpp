// What DeepSpeed decides: every rule refuses its example, each configuration has the formats, states and batches that
// the package makes of it, and every import simulates.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "formats/rules/framework_rules.hpp"
#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

Outcome import_deepspeed(const Folder& folder, const std::string& text, const Words& more = {}) {
  folder.write("ds.json", text);
  return folder.run(joined("import --from deepspeed ds.json --model llama3-8b -o run.toml", more));
}

// The scenario's lines without notes; what is imported is simulated.
std::string deepspeed_run(const Folder& folder, const std::string& text, Words more = {}) {
  if (std::find(more.begin(), more.end(), "--world-size") == more.end()) more = joined(more, "--world-size 8");
  const Outcome read = import_deepspeed(folder, text, more);
  CAPTURE(text);
  CAPTURE(read.err);
  REQUIRE(read.status == 0);
  const Outcome run = folder.run("simulate --config run.toml --hardware h100 --memory 900GiB");
  CAPTURE(run.err);
  CHECK(run.status == 0);
  std::string lines;
  std::string line;
  for (const char c : folder.read("run.toml")) {
    line += c;
    if (c != '\n') continue;
    if (!line.starts_with("#") && !line.starts_with("model =")) lines += line.substr(0, line.size() - 1) + "; ";
    line.clear();
  }
  return lines;
}

}  // namespace

TEST_CASE_IN_FOLDER("DeepSpeed: every rule refuses its example, and the legal configuration breaks none") {
  const FrameworkRules& rules = *rules_of_framework("deepspeed");
  CHECK(import_deepspeed(folder, std::string(rules.legal), "--world-size 8").status == 0);
  for (const FrameworkRule& rule : rules.rows) {
    if (rule.example.empty() || rule.of_run) continue;
    const std::string example(rule.example);
    const std::size_t file = example.find('{');
    Words flags = "--world-size 8";
    for (std::size_t at = 0; at < file;) {
      const std::size_t end = example.find(' ', at);
      flags.push_back(example.substr(at, end - at));
      at = end + 1;
    }
    CAPTURE(example);
    const Outcome refused = import_deepspeed(folder, example.substr(file), flags);
    CHECK(refused.status == 2);
    CHECK(contains(refused.err, "error[P035]: DeepSpeed refuses this"));
    CHECK(contains(refused.err, "DeepSpeed 0.19.8"));
  }
}

// Bytes of a number of 8 ranks as deepspeed.initialize made them: weights, gradients, optimizer's part.
TEST_CASE_IN_FOLDER("DeepSpeed: formats of weights, sums and state at each stage of ZeRO") {
  const auto formats = [&](const std::string& keys, const Words& more = {}) {
    const std::string lines = deepspeed_run(
        folder, R"({"train_micro_batch_size_per_gpu": 1, "gradient_accumulation_steps": 4, )" + keys + "}", more);
    return lines.substr(lines.find("dtype = "));
  };
  const std::string bf16 = R"("bf16": {"enabled": true})";
  const std::string zero = R"(, "zero_optimization": {"stage": )";
  const std::string batch = "microbatch-size = 1; microbatches = 4; ";
  CHECK(formats(bf16) == "dtype = \"bf16\"; grad-dtype = \"bf16\"; dp = 8; " + batch);
  for (const char* stage : {"1", "2", "3"}) {
    CHECK(formats(bf16 + zero + stage + "}") ==
          "dtype = \"bf16\"; grad-dtype = \"bf16\"; dp = 8; zero = " + (stage + ("; " + batch)));
  }
  const std::string wide = R"(, "data_types": {"grad_accum_dtype": "fp32"})";
  CHECK(formats(bf16 + wide + zero + "1}") == "dtype = \"bf16\"; low-gradients = \"kept\"; dp = 8; zero = 1; " + batch);
  CHECK(formats(R"("bf16": {"enabled": true, "immediate_grad_update": true})" + wide + zero + "1}") ==
        "dtype = \"bf16\"; dp = 8; zero = 1; " + batch);
  CHECK(formats(bf16 + wide + zero + "2}") == "dtype = \"bf16\"; dp = 8; zero = 2; " + batch);
  const std::string low =
      R"("bf16": {"enabled": true, "bf16_master_weights_and_grads": true, "bf16_optimizer_states": true})";
  CHECK(formats(low + zero + "2}") ==
        "dtype = \"bf16\"; grad-dtype = \"bf16\"; master-weights = \"bf16\"; moment-dtype = \"bf16\"; dp = 8; zero = "
        "2; " +
            batch);
  CHECK(formats(R"("steps_per_print": 10)" + zero + "1}") ==
        "dtype = \"fp32\"; master-weights = \"fp32\"; dp = 8; zero = 1; " + batch);
  const std::string autocast = R"("torch_autocast": {"enabled": true, "dtype": "bfloat16"})";
  CHECK(formats(autocast) == "dtype = \"bf16\"; weight-dtype = \"fp32\"; dp = 8; " + batch);
  CHECK(formats(autocast + zero + "3}") ==
        "dtype = \"bf16\"; weight-dtype = \"fp32\"; master-weights = \"fp32\"; dp = 8; zero = 3; " + batch);
  // BF16_Optimizer shares its state without ZeRO, too.
  CHECK(formats(bf16, "--stages 2") ==
        "dtype = \"bf16\"; grad-dtype = \"bf16\"; low-gradients = \"kept\"; dp = 4; zero = 1; " + batch);
}

TEST_CASE_IN_FOLDER("DeepSpeed: optimizers by what they keep") {
  const auto optimizer = [&](const std::string& type, const std::string& params = "") {
    const std::string lines = deepspeed_run(
        folder,
        R"({"train_micro_batch_size_per_gpu": 1, "bf16": {"enabled": true}, "zero_allow_untested_optimizer": true,
                 "zero_optimization": {"stage": 1}, "optimizer": {"type": ")" +
            type + R"(", "params": {)" + params + "}}}");
    const std::size_t at = lines.find("optimizer = ");
    return at == std::string::npos ? "" : lines.substr(at + 13, lines.find('"', at + 13) - at - 13);
  };
  CHECK(optimizer("ADAMW") == "");
  CHECK(optimizer("Lion") == "momentum");
  CHECK(optimizer("Adagrad") == "momentum");
  CHECK(optimizer("Lamb") == "");
  CHECK(optimizer("SGD") == "sgd");
  CHECK(optimizer("SGD", R"("momentum": 0.9)") == "momentum");
  CHECK(optimizer("Muon") == "muon");
  CHECK(import_deepspeed(folder, R"({"train_batch_size": 8, "optimizer": {"type": "sgd"}})", "--world-size 8")
            .err.find("error[P035]") != std::string::npos);
}

TEST_CASE_IN_FOLDER("DeepSpeed: batches are divided as it divides them") {
  const auto batches = [&](const std::string& keys, const Words& more = {}) {
    const std::string lines = deepspeed_run(folder, "{" + keys + "}", more);
    return lines.substr(lines.find("microbatch-size"));
  };
  CHECK(batches(R"("train_batch_size": 48)") == "microbatch-size = 6; microbatches = 1; ");
  CHECK(batches(R"("train_batch_size": 48, "train_micro_batch_size_per_gpu": 2)") ==
        "microbatch-size = 2; microbatches = 3; ");
  CHECK(batches(R"("train_batch_size": 48, "gradient_accumulation_steps": 2)") ==
        "microbatch-size = 3; microbatches = 2; ");
  CHECK(batches(R"("train_micro_batch_size_per_gpu": 3)") == "microbatch-size = 3; microbatches = 1; ");
  CHECK(batches(R"("train_batch_size": 48, "train_micro_batch_size_per_gpu": 2, "gradient_accumulation_steps": 12)",
                "--stages 4") == "microbatch-size = 2; microbatches = 12; ");
  // Tensor ranks of AutoTP count among those that share a batch.
  CHECK(batches(
            R"("train_batch_size": 64, "train_micro_batch_size_per_gpu": 2, "tensor_parallel": {"autotp_size": 2})") ==
        "microbatch-size = 2; microbatches = 4; ");
  for (const char* wrong :
       {R"({"train_batch_size": 48, "train_micro_batch_size_per_gpu": 5})",
        R"({"train_batch_size": 9, "gradient_accumulation_steps": 1})",
        R"({"train_batch_size": 48, "train_micro_batch_size_per_gpu": 2, "gradient_accumulation_steps": 2})"}) {
    CAPTURE(wrong);
    CHECK(contains(import_deepspeed(folder, wrong, "--world-size 8").err, "error[P035]"));
  }
}

TEST_CASE_IN_FOLDER("DeepSpeed: sequence ranks, expert ranks, slices between stages, what runs again") {
  const std::string ulysses = deepspeed_run(
      folder, R"({"train_micro_batch_size_per_gpu": 1, "bf16": {"enabled": true}, "sequence_parallel_size": 2,
                  "zero_optimization": {"stage": 3}})");
  CHECK(ulysses.find("cp = 2; context-exchange = \"all-to-all\"; ") != std::string::npos);
  CHECK(ulysses.find("dp = 4; zero = 3; ") != std::string::npos);
  const std::string mesh = deepspeed_run(
      folder, R"({"train_micro_batch_size_per_gpu": 1, "sequence_parallel_size": 2, "data_parallel_size": 2})",
      "--world-size 4");
  CHECK(mesh.find("dp = 2; ") != std::string::npos);
  const std::string stages =
      R"({"train_micro_batch_size_per_gpu": 1, "gradient_accumulation_steps": 4, "bf16": {"enabled": true},)";
  const char* split = "--stages 2 --tp 2";
  CHECK(deepspeed_run(folder, stages + R"("steps_per_print": 1})", split).find("scatter-gather = true; ") !=
        std::string::npos);
  CHECK(deepspeed_run(folder, stages + R"("pipeline": {"pipe_partitioned": false, "grad_partitioned": false}})", split)
            .find("scatter-gather") == std::string::npos);
  const std::string again =
      deepspeed_run(folder, stages + R"("pipeline": {"activation_checkpoint_interval": 1}})", "--stages 2");
  CHECK(again.find("partition = \"deepspeed\"; recompute = \"full\"; ") != std::string::npos);
  CHECK(contains(deepspeed_run(folder, stages + R"("pipeline": {"activation_checkpoint_interval": 3}})", "--stages 2"),
                 "recompute = \"full\"; recompute-blocks = \"chunks:3\"; "));
  folder.write("moe.json", R"({"train_micro_batch_size_per_gpu": 1, "bf16": {"enabled": true},
                 "expert_parallel": {"enabled": true, "autoep_size": 8}})");
  CHECK(folder
            .run({"import", "--from", "deepspeed", "moe.json", "--model", "mixtral-8x7b", "--world-size", "8", "-o",
                  "moe.toml"})
            .status == 0);
  CHECK(folder.read("moe.toml").find("ep = 8\n") != std::string::npos);
  CHECK(folder.run("simulate --config moe.toml --hardware h100 --memory 900GiB").status == 0);
}

TEST_CASE("weights on the host are not the optimizer on the host") {
  const Folder folder;
  const auto refused = [&](const std::string& offloaded) {
    folder.write("ds.json", R"({"train_batch_size": 8, "bf16": {"enabled": true, "bf16_master_weights_and_grads": true},
                 "zero_optimization": {"stage": 3, ")" +
                                offloaded + R"(": {"device": "cpu"}}})");
    return folder.run({"import", "--from", "deepspeed", "ds.json", "--model", "gpt2-small", "--world-size", "8"}).err;
  };
  CHECK(contains(refused("offload_param"), "16-bit master weights with 32-bit moments go with ZeRO-Offload"));
  CHECK_FALSE(contains(refused("offload_optimizer"), "error["));
}

}  // namespace debubble::testing
