// Modelled transformers through the real command: nothing but a model, hardware and a cluster is needed.
#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

using nlohmann::json;

// The run's report, as JSON.
json report(const Folder& folder, const Words& arguments) {
  const Outcome outcome = folder.run(joined(arguments, "--format json"));
  CAPTURE(outcome.err);
  // 1: the run does not fit the devices' memory, which is another test's business.
  CHECK((outcome.status == 0 || outcome.status == 1));
  return json::parse(outcome.out);
}

// Four GPUs are too few for its memory, which is not what is asked here.
const Words kSmall = "simulate --model gpt3-22b --hardware a100 -p 4 -m 8 --memory off";

double makespan(const json& run) { return run["makespan_ns"].get<double>(); }

}  // namespace

TEST_CASE_IN_FOLDER("a model, hardware and a cluster are all that a prediction needs") {
  const Outcome outcome =
      folder.run("simulate --model llama3-70b --hardware h100 --tp 8 -p 8 -m 64 --topology dgx-h100:8");
  CHECK(outcome.status == 0);
  CHECK(contains(outcome.out, "MFU"));
  CHECK(contains(outcome.out, "assumed"));
  const json run = report(folder, "simulate --model llama3-70b --tp 8 -p 8 -m 64 --topology dgx-h100:8");
  CHECK(run["mfu"].get<double>() > 0.2);
  CHECK(run["mfu"].get<double>() < 0.7);
  const auto& facts = run["assumptions"];
  CHECK(std::any_of(facts.begin(), facts.end(), [](const json& fact) {
    return fact["what"] == "hardware" && contains(fact["value"].get<std::string>(), "h100");
  }));
}

TEST_CASE_IN_FOLDER("utilisation is model FLOPs over the devices' peak") {
  const json run = report(folder, kSmall);
  // 72 s L h^2 (1 + s/(6h) + V/(12Lh)) of one sample of 2048 tokens, 8 of them, on 4 A100s.
  const double flops = 72.0 * 2048 * 48 * 6144 * 6144 * (1 + 2048.0 / (6 * 6144) + 51200.0 / (12.0 * 48 * 6144));
  const double expected = 8 * flops / (makespan(run) / 1e9 * 4 * 312e12);
  CHECK(run["mfu"].get<double>() == doctest::Approx(expected).epsilon(1e-9));
  const json replicas = report(folder, joined(kSmall, "--dp 4 --tp 2 --topology dgx-a100:4"));
  CHECK(replicas["mfu"].get<double>() ==
        doctest::Approx(8 * flops / (makespan(replicas) / 1e9 * 8 * 312e12)).epsilon(1e-9));
}

TEST_CASE_IN_FOLDER("sizes that follow from others follow them") {
  const auto sized = [&](const std::string& model, const std::string& sizes) {
    return makespan(report(folder, {"simulate", "--model", model, "--hardware", "h100", "--model-size", sizes}));
  };
  CHECK(sized("gpt-1.3b", "hidden=1024,heads=8") ==
        sized("gpt-1.3b", "hidden=1024,heads=8,kv_heads=8,head_size=128,feed_forward=4096"));
  CHECK(sized("llama3-8b", "heads=16") == sized("llama3-8b", "heads=16,kv_heads=8,head_size=256"));
}

TEST_CASE_IN_FOLDER(
    "--scatter-gather: a share of each tensor travels, and the gather behind it delays the next stage") {
  for (const char* topology : {"ideal", "dgx-a100:4"}) {
    const Words whole{"simulate", "--model", "gpt3-22b", "--hardware", "a100-80", "--tp",       "8",     "-p",
                      "4",        "-m",      "8",        "--p2p",      "coupled", "--topology", topology};
    const json before = report(folder, whole);
    const json after = report(folder, joined(whole, {"--scatter-gather"}));
    CHECK(after["p2p_bytes"].get<std::int64_t>() * 8 == before["p2p_bytes"].get<std::int64_t>());
    CHECK(after["p2p_messages"] == before["p2p_messages"]);
    const auto latency = [](const json& run) {
      std::int64_t sum = 0;
      for (const json& device : run["devices"])
        sum += device["idle_by_cause_ns"]["transfer_latency"].get<std::int64_t>();
      return sum;
    };
    CHECK(latency(after) > latency(before));
    CHECK(contains(after.dump(), "each tensor rank sends its share"));
  }
}

TEST_CASE_IN_FOLDER("--moe-dispatch: a token that crosses to a machine once takes less than each of its copies") {
  const auto run = [&](const std::string& topology, const std::string& how) {
    return report(folder, {"simulate", "--model", "deepseek-v3", "-p", "2", "-m", "4", "--dp", "32", "--ep", "32",
                           "--topology", topology, "--moe-dispatch", how});
  };
  const json plain = run("dgx-h100:8", "alltoall");
  const json deep = run("dgx-h100:8", "deepep");
  CHECK(deep["makespan_ns"].get<double>() < 0.8 * plain["makespan_ns"].get<double>());
  CHECK(contains(deep.dump(), "DeepEP: a token crosses to a machine once"));
  CHECK(run("dgx-h100:8", "hybrid")["makespan_ns"] == deep["makespan_ns"]);
  CHECK(run("gb200-nvl72:1", "hybrid")["makespan_ns"].get<double>() > 0);
}

// A pipeline of two, tensor ranks in fives on machines of eight, on devices as listed.
json in_fives(const Folder& folder, const std::string& devices) {
  return report(
      folder, {"simulate", "--model", "llama", "--model-size",
               "layers=8,hidden=2560,heads=20,kv_heads=20,feed_forward=10240,vocabulary=50000", "--tp", "5", "-p", "2",
               "-m", "4", "--partition", "5,5", "--topology", "dgx-h100:2", "--rank-devices", devices});
}

std::string slow_devices(const json& run) {
  for (const json& finding : run["findings"]) {
    if (finding["code"] == "F025") return finding["message"];
  }
  return "";
}

TEST_CASE_IN_FOLDER(
    "tensor ranks that leave their machine on one device of the pipeline only slow that one, and it is said") {
  const json within = in_fives(folder, "0-4,8-12");
  const json second = in_fives(folder, "0-9");
  const json first = in_fives(folder, "5-9,10-14");
  const json both = in_fives(folder, "5-9,0-2,10-11");
  const auto busy = [](const json& run, std::size_t device) {
    return run["devices"][device]["busy_ns"].get<std::int64_t>();
  };
  CHECK(busy(second, 0) == busy(within, 0));
  CHECK(busy(second, 1) == busy(both, 1));
  CHECK(busy(first, 0) == busy(both, 0));
  CHECK(busy(first, 1) == busy(within, 1));
  CHECK(busy(both, 0) > busy(within, 0));
  CHECK(busy(both, 1) > busy(within, 1));
  CHECK(contains(slow_devices(second), "collectives inside layers take longer on device 1 (up to "));
  CHECK(contains(slow_devices(first), "longer on device 0 (up to "));
  for (const json& run : {within, both}) CHECK(slow_devices(run).empty());
}

TEST_CASE_IN_FOLDER("every flag of the model changes what it names") {
  const double plain = makespan(report(folder, kSmall));
  CHECK(makespan(report(folder, joined(kSmall, "--recompute full"))) > plain * 1.15);
  CHECK(makespan(report(folder, joined(kSmall, "--microbatch-size 2"))) > plain * 1.5);
  CHECK(makespan(report(folder, joined(kSmall, "--sequence 1024"))) < plain * 0.7);
  CHECK(makespan(report(folder, joined(kSmall, "--attention unfused"))) > plain);
  const Words thin = joined(kSmall, "--model-size layers=8");
  CHECK(makespan(report(folder, joined(thin, "--dtype fp32"))) > makespan(report(folder, thin)) * 5);
  CHECK(makespan(report(folder, joined(kSmall, {"--dropout"}))) > plain);
  CHECK(makespan(report(folder, joined(kSmall, "--loss fused"))) < plain);
  CHECK(makespan(report(folder, joined(kSmall, "--grad-accumulation separate"))) > plain);
  CHECK(makespan(report(folder, joined(kSmall, "--calibrate compute=0.5"))) > plain * 1.8);
  CHECK(makespan(report(folder, joined(kSmall, "--model-size layers=24"))) < plain * 0.6);
  const std::string table = std::string(DEBUBBLE_EFFICIENCY) + "a100-pcie-simumax.json";
  CHECK(makespan(report(folder, joined(kSmall, {"--efficiency", table}))) != plain);
  const Words experts = "simulate --model mixtral-8x7b -p 4 --dp 8 --ep 8";
  const double even = makespan(report(folder, experts));
  CHECK(makespan(report(folder, joined(experts, "--expert-imbalance 1.5"))) > even * 1.1);
  CHECK(makespan(report(folder, joined(experts, "--capacity-factor 2"))) > even * 1.2);
  const Words tensor = joined(kSmall, "--tp 8");
  CHECK(makespan(report(folder, joined(tensor, "--tensor-overlap off"))) > makespan(report(folder, tensor)));
}

TEST_CASE_IN_FOLDER("user buffers shorten a step on tensor ranks that split the sequence, and are refused on others") {
  const Words job =
      "simulate --model llama3-70b --hardware h100 -p 2 -m 4 --tp 8 --topology dgx-h100:2 --sequence-parallel";
  const auto step = [&](const Words& more) { return makespan(report(folder, joined(job, more))); };
  const double on = step({});
  const double both = step("--tensor-overlap userbuffers");
  const double gathers = step("--tensor-overlap userbuffers-ag");
  const double sums = step("--tensor-overlap userbuffers-rs");
  CHECK(step("--tensor-overlap on") == on);
  CHECK(step("--tensor-overlap off") > on);
  CHECK(both < gathers);
  CHECK(both < sums);
  CHECK(gathers < on);
  CHECK(sums < on);
  // Blocks lose what their gathers and sums lose, each by itself; stages that differ wait a little less or more.
  CHECK(on - both == doctest::Approx(2 * on - gathers - sums).epsilon(0.05));
  const Words one = "simulate --model llama3-8b -p 4 --hardware h100";
  CHECK(makespan(report(folder, joined(one, "--tensor-overlap userbuffers"))) == makespan(report(folder, one)));
  Words cost = joined(job, "--tensor-overlap userbuffers");
  cost.front() = "cost";
  cost.insert(cost.begin(), "explain");
  const std::string text = folder.data(cost);
  CHECK(contains(text, "qkv in 8 parts"));
  const json run = report(folder, joined(job, "--tensor-overlap userbuffers-rs"));
  CHECK(contains(run["assumptions"].dump(), R"("what":"user buffers")"));
  CHECK(contains(run["assumptions"].dump(), "sums beside parts of products"));
}

TEST_CASE_IN_FOLDER("contradictions and mistakes are refused") {
  const auto refusal = [&](const Words& more) { return folder.refusal(joined({"simulate"}, more)); };
  const std::string table = std::string(DEBUBBLE_EFFICIENCY) + "b200-simumax.json";
  CHECK(contains(refusal({"--model", "gpt3-22b", "--hardware", "h100", "--efficiency", table}), "error[F018]"));
}

TEST_CASE_IN_FOLDER("a config.json: what it holds and is not modelled is a finding") {
  folder.write("config.json", R"({"model_type": "mistral", "num_hidden_layers": 8, "hidden_size": 1024,
    "num_attention_heads": 16, "num_key_value_heads": 4, "intermediate_size": 4096, "vocab_size": 32000,
    "max_position_embeddings": 8192, "quantization_config": 1024, "something_new": 3})");
  const json run = report(folder, "simulate --model config.json -p 2");
  std::string texts;
  for (const json& finding : run["findings"]) {
    if (finding["code"] == "F030") texts += finding["message"].get<std::string>() + "\n";
  }
  CHECK(contains(texts, "quantization_config"));
  CHECK(contains(texts, "something_new"));
}

TEST_CASE_IN_FOLDER("a launch script becomes a scenario that runs") {
  folder.write("pretrain.sh", R"sh(#!/bin/bash
GPUS=8
MODEL="--num-layers 24 --hidden-size 2048 --num-attention-heads 16 --seq-length 2048"
torchrun --nproc_per_node $GPUS --nnodes 1 pretrain_gpt.py $MODEL \
  --max-position-embeddings 2048 --micro-batch-size 4 --global-batch-size 64 --bf16 \
  --tensor-model-parallel-size 2 --pipeline-model-parallel-size 2 --sequence-parallel \
  --tokenizer-type GPT2BPETokenizer --lr 1e-4 --odd-thing 1
)sh");
  const Outcome outcome = folder.run("import --from megatron pretrain.sh -o run.toml");
  CHECK(outcome.status == 0);
  CHECK(contains(outcome.err, "--odd-thing 1: not known"));
  const std::string scenario = folder.read("run.toml");
  CHECK(contains(scenario, "tp = 2\n"));
  CHECK(contains(scenario, "dp = 2\n"));
  CHECK(contains(scenario, "microbatches = 8\n"));
  const json run = report(folder, "simulate --config run.toml --hardware h100");
  CHECK(run["schedule"]["devices"] == 2);
  CHECK(run["schedule"]["microbatches"] == 8);
  CHECK(run["mfu"].get<double>() > 0.1);
  CHECK(contains(folder.refusal("import --from megatron run.toml"), "error[P010]"));
}

TEST_CASE_IN_FOLDER("a training log becomes a scenario that runs, and says what was measured") {
  const std::string settings =
      "  num_layers ................ 24\n  hidden_size ............... 2048\n  num_attention_heads ....... 16\n"
      "  seq_length ................ 2048\n  micro_batch_size .......... 4\n  global_batch_size ......... 64\n"
      "  pipeline_model_parallel_size ...... 2\n  world_size ........ 4\n  bf16 ..... True\n  vocab_size ..... 50257\n";
  folder.write("train.log", "[rank 3] ----- arguments -----\n" + settings + "----- end of arguments -----\n" +
                                " iteration 1/ 9 | elapsed time per iteration (ms): 900.0 |\n"
                                " iteration 2/ 9 | elapsed time per iteration (ms): 612.5 |\n");
  const Outcome outcome = folder.run("import --from megatron train.log -o run.toml");
  CHECK(outcome.status == 0);
  CHECK(outcome.err ==
        "measured: 612.5 ms per iteration, the median of 1 line of the log\n"
        "next: debubble simulate --config run.toml --hardware h100\n");
  CHECK(contains(folder.read("run.toml"), "# measured: 612.5 ms per iteration, the median of 1 line of the log\n"));
  const json run = report(folder, "simulate --config run.toml --hardware h100");
  CHECK(run["schedule"]["devices"] == 2);
  CHECK(run["schedule"]["microbatches"] == 8);
  folder.write("cut.log", "----- arguments -----\n" + settings);
  CHECK(contains(folder.refusal("import --from megatron cut.log"), "or a whole training log"));
}

TEST_CASE_IN_FOLDER("calibration of the network divides what transfers between stages take, on every kind of links") {
  const auto of = [&](const Words& more) { return makespan(report(folder, joined(kSmall, more))); };
  const Words half{"--calibrate", "network=0.5"};
  const double ideal = of("--comm 20ms --bandwidth 1GB/s");
  CHECK(of("--comm 40ms --bandwidth 0.5GB/s") > ideal);
  CHECK(of(joined("--comm 20ms --bandwidth 1GB/s", half)) == of("--comm 40ms --bandwidth 0.5GB/s"));
  for (const char* network : {"fluid", "fifo", "uncontended"}) {
    CAPTURE(network);
    const auto on = [&](const char* ring, const Words& more) {
      return of(joined({"--topology", ring, "--network", network, "--transfer-latency", "10us"}, more));
    };
    const double plain = on("ring:4,bandwidth=1GB/s,latency=4us", {});
    const double slow =
        of({"--topology", "ring:4,bandwidth=0.5GB/s,latency=8us", "--network", network, "--transfer-latency", "20us"});
    CHECK(slow > plain);
    CHECK(on("ring:4,bandwidth=1GB/s,latency=4us", half) == doctest::Approx(slow).epsilon(1e-9));
  }
}

TEST_CASE_IN_FOLDER("lists of models and hardware") {
  const std::string models = folder.data("list models");
  for (const char* name : {"gpt3-175b", "llama3-405b", "mixtral-8x7b", "deepseek-v3", "llama3-70b"}) {
    CHECK(contains(models, name));
  }
  const std::string hardware = folder.data("list hardware");
  for (const char* name : {"v100", "a100-40", "a100-80", "h100", "h200", "b200", "gb200"})
    CHECK(contains(hardware, name));
  CHECK(folder.json("list hardware")["hardware"].size() == 18);
}

}  // namespace debubble::testing
