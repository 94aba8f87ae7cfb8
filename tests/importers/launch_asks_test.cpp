// What a launch script does not say is asked for where it matters, and only there.
#include "formats/megatron/launch.hpp"
#include "formats/megatron/scenario_of.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

constexpr const char* kTraining =
    "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 2 --hidden-size 8 --num-attention-heads 8 --seq-length "
    "2 --micro-batch-size 1 ";

std::string asked(const std::string& script, const LaunchGiven& given = {}) {
  return problems_of([&] { (void)read_launch(script, "x.sh", given); });
}

LaunchGiven with(const std::string& name, const std::string& value) {
  LaunchGiven given;
  given.shell.variables[name] = value;
  return given;
}

std::string value_of(const MegatronScenario& scenario, const std::string& name) {
  for (const auto& [key, value] : scenario.flags) {
    if (key == name) return value;
  }
  return "(none)";
}

bool noted(const MegatronScenario& scenario, const std::string& part) {
  for (const std::string& finding : scenario.findings) {
    if (contains(finding, part)) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("a variable that matters is asked for, one that does not is not") {
  const std::string script = std::string(kTraining) + "--micro-batch-size $MBS --data-path $DATA --save ${OUT}/x";
  const std::string message = asked(script);
  CHECK(contains(message, "P030"));
  CHECK(contains(message, "--micro-batch-size depends on the environment variable MBS"));
  CHECK(contains(message, "--set MBS=VALUE"));
  CHECK_FALSE(contains(message, "DATA"));
  CHECK(asked(script, with("MBS", "4")).empty());
}

TEST_CASE("an argument of the script is asked for by its number") {
  const std::string script = "SEQ=$7\n" + std::string(kTraining) + "--max-position-embeddings ${SEQ}";
  CHECK(contains(asked(script), "the script's argument $7"));
  CHECK(contains(asked(script), "--set 7=VALUE"));
  LaunchGiven given;
  given.shell.arguments[7] = "4096";
  CHECK(asked(script, given).empty());
}

TEST_CASE("a branch on what is not known is not guessed") {
  const auto branch = [](const std::string& yes, const std::string& no) {
    return "if [[ \"$MODE\" == fp8 ]]; then A=\"" + yes + "\"; else A=\"" + no + "\"; fi\n" + kTraining + "$A";
  };
  CHECK(contains(asked(branch("--fp8-format hybrid", "--bf16")), "MODE"));
  CHECK(contains(asked(branch("--fp8-format hybrid", "")), "MODE"));
  CHECK(asked(branch("--wandb-project a", "--log-interval 2")).empty());
  CHECK(asked(branch("--bf16", "--bf16")).empty());
  CHECK(asked(branch("--fp8-format hybrid", "--bf16"), with("MODE", "fp8")).empty());
}

TEST_CASE("a branch that ends without a training is not the one that is meant") {
  const std::string script = "if ! ls /data; then echo none; exit 1; fi\n" + std::string(kTraining) + "--bf16";
  CHECK(asked(script).empty());
  CHECK(contains(asked("echo usage\nexit 1\n" + script), "the script ends here (exit 1)"));
}

TEST_CASE("two trainings of which one runs are asked about, two that run are told") {
  const std::string other = std::string(kTraining) + "--bf16\n";
  const std::string choice = "if [ $N -eq 1 ]; then\n" + other + "else\n" + kTraining + "--fp16\nfi\n";
  CHECK(contains(asked(choice), "which training is started"));
  CHECK(asked("if [ $N -eq 1 ]; then\n" + other + "else\n" + other + "fi\n").empty());
  CHECK(noted(read_megatron(other + kTraining + "--fp16\n", "x.sh"), "2 different trainings"));
}

TEST_CASE("a default counts and is told") {
  const MegatronScenario scenario =
      read_megatron(std::string(kTraining) + "--tensor-model-parallel-size ${TP:-4}", "x.sh");
  CHECK(value_of(scenario, "tp") == "4");
  CHECK(noted(scenario, "TP (4)"));
  const std::string empty =
      "if [ -z \"$TP\" ]; then TP=2; fi\n" + std::string(kTraining) + "--tensor-model-parallel-size $TP";
  CHECK(value_of(read_megatron(empty, "x.sh"), "tp") == "2");
  CHECK(value_of(read_megatron(empty, "x.sh", with("TP", "8")), "tp") == "8");
}

TEST_CASE("the number of ranks comes from the launcher, or is asked for") {
  const std::string plain =
      "pretrain_gpt.py --num-layers 2 --hidden-size 8 --num-attention-heads 8 --seq-length 2 "
      "--micro-batch-size 1";
  const auto ranks = [&](const std::string& launcher) {
    return read_launch(launcher + " " + plain, "x.sh", LaunchGiven{}).ranks.value_or(-1);
  };
  CHECK(ranks("torchrun --nproc_per_node=8 --nnodes=4") == 32);
  CHECK(ranks("python -m torch.distributed.launch --nproc_per_node 4 --nnodes 2") == 8);
  CHECK(ranks("deepspeed --num_nodes 2 --num_gpus 8") == 16);
  CHECK(ranks("mpirun -np 64 -x PATH python") == 64);
  CHECK(ranks("srun -N 4 --ntasks-per-node=8 python -u") == 32);
  CHECK(ranks("#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=4\nsrun python") == 8);
  CHECK(ranks("#SBATCH --nodes=3\nsrun torchrun --nproc_per_node 8 --nnodes $SLURM_NNODES") == 24);
  CHECK(ranks("cat > hosts <<E\na slots=8\nb slots=4\nE\ndeepspeed --hostfile hosts") == 12);
  CHECK(ranks("python") == -1);
  CHECK(contains(asked("torchrun --nproc_per_node 8 --nnodes $NODES " + plain), "the number of ranks"));
  CHECK(contains(asked("torchrun --nproc_per_node 8 --nnodes $NODES " + plain), "--set NODES=VALUE, or --gpus N"));
  CHECK_THROWS_AS((void)read_megatron("python " + plain, "x.sh"), InputError);
  LaunchGiven given;
  given.gpus = 8;
  CHECK(value_of(read_megatron("python " + plain, "x.sh", given), "dp") == "8");
}

TEST_CASE("DeepSpeed's configuration that the script writes") {
  const std::string file =
      "cat > ds.json <<E\n{\"train_batch_size\": $((8*4)), \"train_micro_batch_size_per_gpu\": 2,\n"
      "\"zero_optimization\": {\"stage\": 2}, \"bf16\": {\"enabled\": true}}\nE\n";
  std::string use = std::string(kTraining) + "--deepspeed --deepspeed_config ds.json";
  const std::string batch = "--micro-batch-size 1 ";
  use.erase(use.find(batch), batch.size());
  const MegatronScenario scenario = read_megatron(file + use, "x.sh");
  CHECK(value_of(scenario, "zero") == "2");
  CHECK(value_of(scenario, "dtype") == "bf16");
  CHECK(value_of(scenario, "microbatch-size") == "2");
  CHECK(value_of(scenario, "microbatches") == "2");
  CHECK_THROWS_AS((void)read_megatron(use, "x.sh"), InputError);
  CHECK_THROWS_AS((void)read_megatron("echo no > ds.json\n" + use, "x.sh"), InputError);
  CHECK(noted(read_megatron(file + use + " --zero-stage 1", "x.sh"), "differ"));
}

TEST_CASE("older names") {
  const MegatronScenario scenario = read_megatron(
      "deepspeed --num_gpus 16 --num_nodes 1 pretrain_gpt2.py --model-parallel-size 2 --pipe-parallel-size 2 "
      "--num-layers 24 --hidden-size 1024 --num-attention-heads 16 --seq-length 1024 --batch-size 4 --gas 16 "
      "--checkpoint-activations --fp16 --pp-partition-method parameters",
      "x.sh");
  CHECK(value_of(scenario, "tp") == "2");
  CHECK(value_of(scenario, "devices") == "2");
  CHECK(value_of(scenario, "microbatch-size") == "4");
  CHECK(value_of(scenario, "microbatches") == "16");
  CHECK(value_of(scenario, "recompute") == "full");
  CHECK(value_of(scenario, "partition") == "deepspeed:parameters");
}

TEST_CASE("arguments are used, named, skipped, or listed at once") {
  const MegatronScenario scenario =
      read_megatron(std::string(kTraining) + "--lr 1 --optimizer-cpu-offload --foo 1 --bar --seed 3", "x.sh");
  CHECK(noted(scenario, "--optimizer-cpu-offload: not modelled"));
  CHECK(noted(scenario, "--bar, --foo 1: not known"));
  CHECK(!noted(scenario, "--lr"));
  CHECK_THROWS_AS((void)read_megatron(std::string(kTraining) + "--hybrid-override-pattern M-M*", "x.sh"), InputError);
}

TEST_CASE("variables that a launcher's options set") {
  const std::string inner =
      "cat > in.sh <<'E'\n" + std::string(kTraining) + "--tensor-model-parallel-size ${TP:-1}\nE\n";
  const auto tp = [&](const std::string& start) { return value_of(read_megatron(inner + start, "x.sh"), "tp"); };
  CHECK(tp("env TP=2 bash in.sh") == "2");
  CHECK(tp("sbatch --export=ALL,TP=4 in.sh") == "4");
  CHECK(tp("sbatch -N 1 --export ALL,TP=4 in.sh") == "4");
  CHECK(tp("srun --export=ALL,TP=4 bash in.sh") == "4");
  CHECK(tp("docker run --rm -e TP=2 -v /a:/a image bash in.sh") == "2");
  CHECK(tp("docker run --env=TP=2 image bash in.sh") == "2");
  CHECK(tp("mpirun -np 1 -x TP=8 -x PATH bash in.sh") == "8");
  CHECK(tp("sudo TP=8 bash in.sh") == "8");
  CHECK(tp("srun bash in.sh") == "(none)");
  CHECK(tp("export TP=2\nsrun bash in.sh") == "2");
  CHECK(tp("export TP=2\nsbatch --export=NONE in.sh") == "(none)");
  CHECK(tp("export TP=2\nsbatch --export=PP=2 in.sh") == "(none)");
  CHECK(tp("export TP=2\nsbatch --export=PP=2,TP in.sh") == "2");
  CHECK(tp("export TP=2\nsbatch --export=NONE in.sh\nbash in.sh") == "(none)");
  CHECK(tp("env TP=2 true; bash in.sh") == "(none)");
}

TEST_CASE("a job's options stand before its first command") {
  const std::string plain = "pretrain_gpt.py --num-layers 2 --hidden-size 8 --num-attention-heads 8 --seq-length 2";
  const std::string other = "cat > other.sh <<E\n#SBATCH --nodes=7\n#SBATCH --ntasks-per-node=8\nE\n";
  const auto ranks = [&](const std::string& text) {
    return read_launch(text + "srun python " + plain, "x.sh", LaunchGiven{}).ranks.value_or(-1);
  };
  CHECK(ranks("#!/bin/bash\n\n#SBATCH --nodes=2\n# a remark\n#SBATCH --ntasks-per-node=4\n" + other) == 8);
}

TEST_CASE("words of which nobody knows what they are") {
  const std::string start = "EXTRA=$(cat gone)\n" + std::string(kTraining);
  CHECK(contains(asked(start + "--data-path $DATA $EXTRA"), "what arguments"));
  CHECK(contains(asked(start + "--data-path /a /b $EXTRA"), "what arguments"));
  CHECK(contains(asked(start + "--own-option x $EXTRA"), "what arguments"));
  CHECK(asked(start + "--data-path $DATA").empty());
  CHECK(asked(start + "--data-path 0.5 $A 0.5 $B").empty());
  CHECK(asked(start + "--data-path $DATA/a $DATA/b").empty());
  CHECK(contains(asked("python list.py | xargs " + std::string(kTraining)), "what arguments"));
  CHECK(contains(asked("xargs -n 2 " + std::string(kTraining)), "what arguments"));
  CHECK(value_of(read_megatron("echo --bf16 --micro-batch-size 4 | xargs " + std::string(kTraining), "x.sh"),
                 "microbatch-size") == "4");
}

TEST_CASE("what sets variables out of sight is told") {
  const std::string use = std::string(kTraining) + "--tensor-model-parallel-size ${TP:-4}";
  CHECK(noted(read_megatron("eval \"$(python parse.py)\"\n" + use, "x.sh"),
              "`eval` of the output of `python parse.py`: what it sets is not known"));
  CHECK(noted(read_megatron("export $(python parse.py)\n" + use, "x.sh"), "`export` of"));
  CHECK(!noted(read_megatron("eval \"TP=2\"\n" + use, "x.sh"), "what it sets"));
  CHECK(!noted(read_megatron("eval \"$(conda shell.bash hook)\"\n" + use + " ${MORE[@]}", "x.sh"), "what it sets"));
  const std::string choice =
      "if [[ -v SP ]]; then A=--sequence-parallel; else A=; fi\n" + std::string(kTraining) + "$A";
  CHECK(noted(read_megatron(choice, "x.sh"), "SP"));
  CHECK(asked(choice, with("SP", "1")).empty());
  CHECK(!noted(read_megatron(choice, "x.sh", with("SP", "1")), "taken as not set"));
}

TEST_CASE("a sum with a point is not known") {
  const std::string use = std::string(kTraining) + "--global-batch-size $GBS";
  CHECK(contains(asked("GBS=$(echo 7/2 | bc -l)\n" + use), "--global-batch-size"));
  CHECK(asked("GBS=$(echo 16/2 | bc)\n" + use).empty());
}

TEST_CASE("what converts a checkpoint beforehand is not the training") {
  const std::string convert =
      "python tools/convert.py --tensor-model-parallel-size 8 --pipeline-model-parallel-size 2\n";
  const MegatronScenario scenario = read_megatron(convert + kTraining + "--tensor-model-parallel-size 2", "x.sh");
  CHECK(value_of(scenario, "tp") == "2");
  CHECK(!noted(scenario, "different trainings"));
}

TEST_CASE("what cannot be followed is refused in bounded time") {
  const std::string end = std::string("\n") + kTraining;
  CHECK(contains(asked("f() { f; }\nf" + end), "P031"));
  CHECK(contains(asked("declare -n a=b\ndeclare -n b=a\na=1" + end), "P031"));
  CHECK(contains(asked("f() { local -n list=$1; list=2; }\nf $(date)" + end), "P031"));
  CHECK(contains(asked("while true; do X=1; done" + end), "P031"));
  CHECK(contains(asked("A=aaaaaaaaaa\nwhile true; do A=$A$A; done" + end), "P031"));
  CHECK(contains(asked("E='eval \"$E\"'; eval \"$E\"" + end), "P031"));
  CHECK(contains(asked("echo <path to> x" + end + "\nif then"), "P031"));
  CHECK(contains(asked("for i in {1..9999}; do for j in {1..9999}; do :; done; done" + end), "P031"));
  CHECK(contains(asked(std::string(500, '(') + end), "P031"));
  CHECK(contains(asked("source gone.sh\n" + std::string(kTraining) + "${MODEL_ARGS[@]}"), "MODEL_ARGS"));
}

TEST_CASE("what is given cannot forge what is not known") {
  const std::string script = std::string(kTraining) + "--num-query-groups $G";
  CHECK(contains(asked(script, with("G",
                                    "\x01"
                                    "9999\x02")),
                 "control characters"));
  CHECK(asked(script, with("G", "9999")).empty());
  LaunchGiven given;
  given.shell.files["/tmp/env"] =
      "G=\x01"
      "1\x02";
  CHECK(contains(asked("source /tmp/env\n" + script, given), "control characters"));
}

TEST_CASE("what a script gives no value, or none that can be read, is refused at its line") {
  const auto refusal = [](const std::string& text) { return problems_of([&] { (void)read_megatron(text, "x.sh"); }); };
  const std::string model = "--num-layers 2 --hidden-size 8 --num-attention-heads 8 --seq-length 2 ";
  const std::string start = "\ntorchrun --nproc_per_node 8 pretrain_gpt.py ";
  CHECK(contains(refusal(start + model), "--micro-batch-size is not given"));
  CHECK(contains(refusal(start + model), "x.sh:2"));
  CHECK(noted(read_megatron(model, "x"), "--micro-batch-size is not given: 1 is taken"));
  CHECK(contains(refusal(start + model + "--micro-batch-size"), "--micro-batch-size has no value"));
  CHECK(contains(refusal(start + model + "--micro-batch-size four"), "\"four\", which is not a whole number"));
  CHECK(noted(read_megatron(model + "--micro-batch-size four", "x"), "not a whole number: left out"));
  CHECK(contains(refusal(start + model + "--micro-batch-size 1__2"), "1__2"));
  const std::string odd =
      "--num-layers 2 --hidden-size 12 --num-attention-heads 6 --seq-length 2 --micro-batch-size 1 "
      "--tensor-model-parallel-size 3";
  CHECK(contains(refusal(start + odd), "the ranks are a multiple of tensor x pipeline x context"));
  CHECK(noted(read_megatron(odd + " --world-size 8", "x"), "one replica of the pipeline is taken"));
  const std::string small = "--num-layers 2 --hidden-size 8 --num-attention-heads 8 ";
  CHECK(contains(refusal(start + small), "add --seq-length N there, and import that file"));
  CHECK(contains(refusal("source model.sh" + start + small), "it may be set by model.sh, --file model.sh=FILE"));
  CHECK(contains(refusal("source model.sh\necho"), "it may be set by model.sh"));
}

TEST_CASE("ranks of the job around srun") {
  const std::string script = "srun python pretrain_gpt.py --num-layers 2 --hidden-size 8";
  CHECK(read_launch(script, "x.sh", with("SLURM_NTASKS", "64")).ranks == 64);
  CHECK(read_launch("export SLURM_NTASKS=16\n" + script, "x.sh", LaunchGiven{}).ranks == 16);
  CHECK(!read_launch(script, "x.sh", LaunchGiven{}).ranks);
  const std::string job = "#SBATCH --nodes=mine\n#SBATCH --ntasks-per-node=4\n" + script;
  CHECK(read_launch(job, "x.sh", with("SLURM_NTASKS", "64")).ranks == 64);
  CHECK(!read_launch(job, "x.sh", LaunchGiven{}).ranks);
  CHECK(read_launch("srun -N 2 --ntasks-per-node 4" + script.substr(4), "x.sh", with("SLURM_NTASKS", "64")).ranks == 8);
}

TEST_CASE("keys of DeepSpeed's configuration that are not modelled are named") {
  const auto with_keys = [](const std::string& keys, const std::string& zero) {
    return read_megatron("cat > ds.json <<E\n{\"train_batch_size\": 32, \"steps_per_print\": 1" + keys +
                             ", \"zero_optimization\": {\"stage\": 1" + zero + "}}\nE\n" + kTraining +
                             "--deepspeed --deepspeed_config ds.json",
                         "x.sh");
  };
  const MegatronScenario some =
      with_keys(", \"flops_profiler\": {\"enabled\": false}, \"optimizer\": {\"type\": \"OneBitAdam\"}",
                ", \"overlap_comm\": true");
  CHECK(noted(some, "\"optimizer\", \"overlap_comm\" of ds.json: not modelled, and may change time or memory"));
  CHECK(!noted(some, "flops_profiler"));
  CHECK(!noted(with_keys(", \"optimizer\": {\"type\": \"AdamW\"}", ""), "may change time"));
  CHECK(!noted(with_keys("", ", \"overlap_comm\": false, \"elastic_checkpoint\": true"), "may change time"));
  const std::string made = "sed s/A/4/ conf/ds_TEMPLATE.json > ds.json\n";
  CHECK(contains(asked(made + kTraining + "--deepspeed --deepspeed_config ds.json"),
                 "--file conf/ds_TEMPLATE.json=PATH"));
}

}  // namespace debubble
