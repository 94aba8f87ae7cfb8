// A run that is there already: of a script, a log, a scenario file or flags. A plan is made for its job, and compared.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/core/quantities.hpp"
#include "tests/support/command.hpp"
#include "tests/support/places.hpp"

namespace debubble::testing {
namespace {

using PlanJson = nlohmann::json;

constexpr const char* kScript = R"(MODEL="--num-layers 12 --hidden-size 768 --num-attention-heads 12 --seq-length 1024"
torchrun --nproc_per_node 8 --nnodes 1 pretrain_gpt.py $MODEL --max-position-embeddings 1024 \
  --micro-batch-size 2 --global-batch-size 32 --bf16 --tokenizer-type GPT2BPETokenizer \
  --tensor-model-parallel-size 2 --pipeline-model-parallel-size 2 --no-rope-fusion
)";

PlanJson plan_of(const Folder& folder, Words flags) {
  flags.insert(flags.begin(), "plan");
  flags.insert(flags.end(), {"--format", "json"});
  return PlanJson::parse(folder.data(flags));
}

TEST_CASE_IN_FOLDER("the script, what import makes of it, and its flags are one job, and one run to compare with") {
  folder.write("train.sh", kScript);
  const PlanJson plan = plan_of(folder, "--script train.sh");
  CHECK(plan["gpus"] == 8);
  CHECK(plan["global_batch"] == 32);
  const PlanJson& own = plan["own_run"];
  CHECK(own["name"] == "train.sh");
  CHECK(own["choice"]["text"] == "tp 2, pp 2, dp 2; 1f1b; 8 microbatches of 2 samples; partition even");
  CHECK(own["problem"].is_null());
  CHECK(contains(own["notes"].dump(), "--no-rope-fusion"));
  CHECK(own["run"]["makespan_ns"] > plan["runs"][0]["makespan_ns"]);
  CHECK(own["faster_plans"] >= 1);

  (void)folder.run("import --from megatron train.sh -o run.toml");
  const PlanJson simulated =
      PlanJson::parse(folder.data("simulate --config run.toml --topology dgx-h100:1 --format json"));
  CHECK(simulated["makespan_ns"] == own["run"]["makespan_ns"]);
  for (const char* const flag : {"--config", "--script"}) {
    const PlanJson same = plan_of(folder, {flag, "run.toml"});
    CHECK(same["runs"] == plan["runs"]);
    CHECK(same["search"] == plan["search"]);
    CHECK(same["own_run"]["run"] == own["run"]);
  }
}

TEST_CASE_IN_FOLDER(
    "what the script splits is open, what --fix says is not, and the command line has the last word on the job") {
  folder.write("train.sh", kScript);
  const PlanJson plan = plan_of(folder, "--script train.sh --fix tp=1,pp=4 --sequence 512 --top 50");
  for (const PlanJson& run : plan["runs"]) {
    CHECK(run["choice"]["tp"] == 1);
    CHECK(run["choice"]["pp"] == 4);
    CHECK(contains(run["command"], "--sequence 512"));
  }
  CHECK(plan["own_run"]["choice"]["tp"] == 2);
  CHECK(contains(plan["own_run"]["run"]["command"], "--sequence 512"));
}

TEST_CASE_IN_FOLDER("on other GPUs and samples the run has other replicas and microbatches, or is not compared") {
  folder.write("train.sh", kScript);
  const PlanJson larger = plan_of(folder, "--script train.sh --gpus 16 --global-batch 64");
  CHECK(larger["own_run"]["choice"]["dp"] == 4);
  CHECK(larger["own_run"]["choice"]["microbatches"] == 8);
  CHECK(contains(larger["own_run"]["notes"].dump(), "train.sh is for 8 GPUs and 32 samples"));
  const PlanJson odd = plan_of(folder, "--script train.sh --gpus 6");
  CHECK(odd["own_run"].is_null());
  CHECK(contains(odd["assumptions"].dump(), "not compared"));
}

TEST_CASE_IN_FOLDER("the first blocks of each stage that a run recomputes are its own, and a plan finds others") {
  const std::string job = "plan --model gpt2-large --tp 2 -p 2 --dp 2 -m 8 --schedules 1f1b --memory 6GiB --recompute ";
  const auto plan = [&](const std::string& recompute) {
    return nlohmann::json::parse(folder.run(job + recompute + " --fix tp=2,pp=2 --format json").out);
  };
  const auto own = plan("full --recompute-blocks first:3");
  CHECK(own["own_run"]["choice"]["recompute_blocks"] == "first:3");
  CHECK(contains(own["own_run"]["run"]["command"], " --recompute full --recompute-blocks first:3 "));
  CHECK(own["runs"][0] == plan("full")["runs"][0]);
}

TEST_CASE_IN_FOLDER("flags that say a whole run are one to compare with, of a model and of a profile") {
  const PlanJson plan = plan_of(
      folder, "--model gpt2-small --tp 2 -p 2 --dp 2 -m 4 --schedules gpipe --recompute full --rank-order tp,pp,dp");
  CHECK(plan["gpus"] == 8);
  CHECK(plan["global_batch"] == 8);
  CHECK(plan["own_run"]["choice"]["schedule"] == "gpipe");
  CHECK(plan["own_run"]["choice"]["recompute"] == "full");
  CHECK(plan["own_run"]["choice"]["rank_order"] == "tp-cp-pp-dp");
  const std::string profile = source_directory() + "/traces/published/bert-large-p100.json";
  const PlanJson measured = plan_of(folder, {"--profile", profile, "-p", "4", "-m", "8"});
  CHECK(measured["gpus"] == 4);
  CHECK(measured["own_run"]["choice"]["microbatch"] == measured["runs"][0]["choice"]["microbatch"]);
  CHECK(measured["own_run"]["run"]["makespan_ns"] >= measured["runs"][0]["makespan_ns"]);
}

TEST_CASE_IN_FOLDER("a run that does not fit, or that no schedule makes, is said to be so") {
  const Outcome large = folder.run("plan --model gpt2-large -p 2 -m 64 --schedules gpipe --memory 20GiB --width 200");
  CHECK(contains(large.out, "\nyours      the flags: pp 2; gpipe; 64 microbatches of 1 sample\n"));
  CHECK(contains(large.out, "per GPU in this model"));
  const PlanJson odd = plan_of(folder, "--model gpt2-small -p 1 -m 8 --schedules interleaved");
  CHECK(odd["own_run"]["run"].is_null());
  CHECK(odd["own_run"]["problem"].is_string());
}

TEST_CASE_IN_FOLDER("what leads to the best is simulated change by change, the largest gain first") {
  folder.write("train.sh", kScript);
  (void)folder.run("import --from megatron train.sh -o run.toml");
  const PlanJson plan =
      plan_of(folder, "--script train.sh --fix tp=2,pp=2,zero=1,microbatch=1,recompute=full,schedule=gpipe");
  const PlanJson& own = plan["own_run"];
  const auto step = [&](const std::string& flags) {
    return PlanJson::parse(
        folder.data("simulate --config run.toml --topology dgx-h100:1 --format json " + flags))["makespan_ns"];
  };
  const std::vector<std::pair<std::string, std::string>> known{{"ZeRO 0 -> 1", "--zero 1"},
                                                               {"microbatch 2 -> 1", "--microbatch-size 1 -m 16"},
                                                               {"recompute full", "--recompute full"},
                                                               {"sequence parallelism", "--sequence-parallel"},
                                                               {"gpipe", "--schedule gpipe --partition auto"}};
  std::string so_far;
  std::int64_t before = 0;
  REQUIRE(own["changes"].size() == known.size());
  for (const PlanJson& change : own["changes"]) {
    const std::string words = change["words"].dump();
    CAPTURE(words);
    const auto found =
        std::find_if(known.begin(), known.end(), [&](const auto& one) { return contains(words, one.first); });
    REQUIRE(found != known.end());
    so_far += found->second + " ";
    CHECK(change["alone"]["step_ns"] == step(found->second));
    CHECK(change["together"]["step_ns"] == step(so_far));
    CHECK(change["together"]["problem"].is_null());
    if (before == 0) CHECK(change["alone"] == change["together"]);
    for (const PlanJson& other : own["changes"]) {
      if (before == 0) CHECK(other["alone"]["step_ns"] >= change["alone"]["step_ns"]);
    }
    before = change["together"]["step_ns"];
  }
  CHECK(before == plan["runs"][0]["makespan_ns"]);
}

TEST_CASE_IN_FOLDER("what cannot run alone says so, and a log's iteration says what to expect of the best") {
  folder.write(
      "train.log",
      "----- arguments -----\n"
      "  num_layers ................ 24\n  hidden_size ............... 2048\n  num_attention_heads ....... 16\n"
      "  seq_length ................ 2048\n  micro_batch_size .......... 4\n  global_batch_size ......... 64\n"
      "  pipeline_model_parallel_size ...... 2\n  world_size ........ 4\n  bf16 ..... True\n  vocab_size ..... 50257\n"
      "----- end of arguments -----\n"
      " iteration 1/ 9 | elapsed time per iteration (ms): 900.0 |\n"
      " iteration 2/ 9 | elapsed time per iteration (ms): 800.0 |\n");
  const Words flags{"plan", "--script", "train.log", "--hardware", "h100", "--fix", "pp=1,dp=4,tp=1"};
  const std::string text = folder.run(flags).out;
  CHECK(contains(text, "\nchanges    from yours to the best, of what fits the largest gain"));
  CHECK(contains(text, "measured: 800.0 ms"));
  const PlanJson plan = plan_of(folder, "--script train.log --hardware h100 --fix pp=1,dp=4,tp=1");
  const PlanJson& own = plan["own_run"];
  const double expected = 8e8 * plan["runs"][0]["makespan_ns"].get<double>() / own["run"]["makespan_ns"].get<double>();
  CHECK(contains(text, "expected " + format_duration(std::llround(expected)) + ": what was measured, with this gain"));
  const PlanJson odd =
      plan_of(folder, "--model gpt2-small -p 2 -v 2 --schedule interleaved -m 8 --fix pp=1,dp=2,schedule=1f1b");
  const PlanJson& changes = odd["own_run"]["changes"];
  REQUIRE(changes.size() > 1);
  CHECK(changes.back()["together"]["step_ns"] == odd["runs"][0]["makespan_ns"]);
  const auto ranks = std::find_if(changes.begin(), changes.end(),
                                  [](const PlanJson& one) { return contains(one["words"].dump(), "pp 2 -> 1"); });
  REQUIRE(ranks != changes.end());
  CHECK(contains((*ranks)["alone"]["problem"].dump(), "S011"));  // interleaved needs two devices
  CHECK((*ranks)["alone"]["step_ns"].is_null());
}

}  // namespace
}  // namespace debubble::testing
