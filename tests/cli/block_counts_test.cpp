// One model, one cut: every verb says the same number of blocks. Two dense blocks, four with experts, an embedding, a
// head and a predictor, as Megatron-LM's arguments tell them.
#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

using nlohmann::json;
std::string said_partition(const Folder& folder, const Words& command) {
  const json answer = folder.json(joined(command, "--format json"));
  for (const json& one : (answer.contains("runs") ? answer["runs"][0] : answer)["assumptions"]) {
    if (one["what"] == "partition") return one["value"];
  }
  return "";
}

// Imports the job; `scenario.toml` cuts it, `model.toml` is the model alone.
void write_scenarios(const Folder& folder) {
  folder.write("run.sh",
               "torchrun --nproc_per_node 2 pretrain_gpt.py --num-layers 6 --hidden-size 256 --num-attention-heads 8 "
               "--seq-length 512 --max-position-embeddings 512 --micro-batch-size 1 --global-batch-size 8 "
               "--pipeline-model-parallel-size 2 --vocab-size 1000 --bf16 --num-experts 4 --moe-ffn-hidden-size 256 "
               "--moe-layer-freq '([0]*2+[1]*4)' --mtp-num-layers 1 --swiglu --position-embedding-type rope\n");
  const std::string scenario = folder.data("import --from megatron run.sh");
  folder.write("scenario.toml", scenario);
  std::istringstream lines(scenario);
  std::string model;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("model") || line.starts_with("sequence") || line.starts_with("dtype")) model += line + "\n";
  }
  folder.write("model.toml", model);
}

// Of what a plan with that cut says.
Words simulation_of(const Folder& folder, const Words& plan) {
  const json answer = json::parse(folder.run(joined(plan, "--format json")).out);
  std::istringstream command(answer["runs"][0]["command"].get<std::string>());
  Words words;
  for (std::string word; command >> word;) words.push_back(word);
  words.erase(words.begin());
  return words;
}

TEST_CASE_IN_FOLDER("simulate, compare, explain, plan and import count the same blocks") {
  write_scenarios(folder);
  const Words scenario{"--config", "scenario.toml"};
  const std::string cut = "4,5 (even)";
  for (const Words& verb : {Words{"simulate"}, Words("explain step"), Words{"compare"}}) {
    CHECK(said_partition(folder, joined(verb, scenario)) == cut);
  }
  const Words plan = "plan --config model.toml --gpus 2 --global-batch 8";
  CHECK(said_partition(folder, simulation_of(folder, joined(plan, "--only pp=2,partition=even,schedule=1f1b"))) == cut);
  CHECK(folder.data(joined("explain planner megatron", scenario)).find("[0,4) [4,9)") != std::string::npos);
  CHECK(folder.data(joined("export --to megatron-layout", scenario)) == "Ettt|tttmL\n");
  // As many stages as the six blocks share evenly are tried: not nine layers, nor the four blocks of one kind.
  const Words chunks = "compare --schedule interleaved --partition auto --format json";
  CHECK(contains(folder.data(joined(chunks, scenario)), "stages per device: the fastest of 2, 3\""));
}

TEST_CASE_IN_FOLDER("where the blocks cannot be shared, every verb says how many there are") {
  write_scenarios(folder);
  const std::string refusal = "6 blocks cannot be shared evenly by 5 stages";
  for (const Words& verb : {Words{"simulate"}, Words("explain step"), Words("compare --schedule 1f1b")}) {
    CAPTURE(verb.back());
    const std::string told = folder.refusal(joined(verb, "--config scenario.toml -p 5"));
    CHECK(contains(told, refusal));
  }
  const Words plan = "plan --config model.toml --gpus 5 --global-batch 8 --only pp=5,partition=even";
  CHECK(contains(folder.run(plan).out, refusal));
  CHECK(contains(folder.refusal("explain planner megatron --config scenario.toml -p 5"),
                 "6 transformer layers cannot be shared by 5 stages"));
}

}  // namespace
}  // namespace debubble::testing
