// Names that people bring along from Megatron-LM, torchtitan, DeepSpeed and papers: refused with what it is called
// here.
#include <doctest/doctest.h>

#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

// The help of the refusal, without the rest.
std::string help_of_refusal(const std::vector<std::string>& arguments) {
  const Folder folder;
  const std::string text = folder.refusal(arguments);
  const std::string mark = "  = help: ";
  const std::size_t at = text.find(mark);
  REQUIRE(at != std::string::npos);
  return text.substr(at + mark.size(), text.find('\n', at) - at - mark.size());
}

TEST_CASE("a framework's flag is told what it is called in this verb") {
  const std::string ranks = "write -p N --tp N --cp N --dp N: their product is the number of GPUs";
  CHECK(help_of_refusal({"plan", "--num-gpus", "8"}) == "here it is --gpus N");
  CHECK(help_of_refusal({"simulate", "--num-gpus", "8"}) == ranks);
  CHECK(help_of_refusal({"sweep", "--gpus", "8"}) == ranks);
  CHECK(help_of_refusal({"plan", "--nnodes", "2"}) == "write --gpus N: all GPUs of the job, over all machines");
  CHECK(help_of_refusal({"simulate", "--nnodes", "2"}).starts_with("write --topology dgx-h100:N"));
  CHECK(help_of_refusal({"simulate", "--vpp", "2"}) == "here it is --chunks V (-v)");
  CHECK(help_of_refusal({"simulate", "--gradient-accumulation-steps=8"}) == "here it is --microbatches M (-m)");
  CHECK(help_of_refusal({"simulate", "--fsdp", "8"}) == "write --dp N --zero 3: the replicas shard the weights");
  CHECK(help_of_refusal({"import", "--from", "deepspeed", "ds.json", "--pp", "4"}) == "here it is --stages P");
}

TEST_CASE("several values where one belongs are a sweep's") {
  CHECK(help_of_refusal({"compare", "--pp", "4,8"}) == "write it like --pp P; `debubble sweep` takes several values");
  CHECK(help_of_refusal({"compare", "--devices=4,8"}).ends_with("takes several values"));
  CHECK(help_of_refusal({"simulate", "-p", "4", "-p", "x"}) == "write it like --devices P");
}

TEST_CASE("a framework's flag is told what it is called here") {
  CHECK(help_of_refusal({"simulate", "--num-stages", "4"}) ==
        "write -p N: one stage on each device; -v: several on each");
  CHECK(help_of_refusal({"simulate", "--pipeline-model-parallel-size", "4"}) == "here it is --devices P (-p, --pp)");
  CHECK(help_of_refusal({"compare", "--pipeline_model_parallel_size=4"}) == "here it is --devices P (-p, --pp)");
  CHECK(help_of_refusal({"simulate", "--parallelism.pipeline_parallel_degree", "4"}) ==
        "here it is --devices P (-p, --pp)");
  CHECK(help_of_refusal({"simulate", "--tensor-model-parallel-size", "2"}) == "here it is --tp N");
  CHECK(help_of_refusal({"simulate", "--gradient_accumulation_steps", "8"}) == "here it is --microbatches M (-m)");
  CHECK(help_of_refusal({"plan", "--bf16"}) == "write --dtype bf16");
  CHECK(help_of_refusal({"simulate", "--recompute-granularity"}) == "here it is --recompute WHAT");
  // A verb without such a flag, and a name that nobody has.
  CHECK(help_of_refusal({"doctor", "--num-stages", "4"}) == "run `debubble doctor --help` for its flags");
  CHECK(help_of_refusal({"simulate", "--no-such-thing"}) == "run `debubble simulate --help` for its flags");
}

TEST_CASE("a name without its flag is given it") {
  CHECK(help_of_refusal({"simulate", "zb-h1"}) == "write --schedule zb-h1");
  CHECK(help_of_refusal({"simulate", "1F1B", "-p", "4"}) == "write --schedule 1f1b");
  CHECK(help_of_refusal({"simulate", "llama3-8b"}) == "write --model llama3-8b");
  CHECK(help_of_refusal({"simulate", "run.toml"}) == "write --config run.toml");
  CHECK(help_of_refusal({"simulate", "nothing-known"}) == "run `debubble simulate --help` for its flags");
  CHECK(help_of_refusal({"compare", "1f1b", "zb-h1"}) == "write --schedules 1f1b,zb-h1");
}

TEST_CASE("a paper's or framework's name of a schedule leads to the one here") {
  CHECK(help_of_refusal({"simulate", "--schedule", "ZeroBubble"}) ==
        "the zero-bubble schedules are zb-h1, zb-h2, zb-auto, zb-v and interleaved-zb");
  CHECK(help_of_refusal({"simulate", "--schedule", "ZB-1p"}) == "write --schedule zb-auto --param memory_limit=1p");
  CHECK(help_of_refusal({"simulate", "--schedule", "AFAB"}) == "write --schedule gpipe");
}

TEST_CASE("the first part of a name counts more than a letter") {
  CHECK(
      help_of_refusal({"simulate", "--model", "gpt-1.3b", "--hardware", "A100"}).starts_with("did you mean a100-40?"));
  CHECK(
      help_of_refusal({"simulate", "--model", "gpt-1.3b", "--hardware", "H100-SXM"}).starts_with("did you mean h100?"));
  CHECK(help_of_refusal({"simulate", "--model", "gpt-1.3b", "--hardware", "b100"}).starts_with("did you mean "));
  CHECK(help_of_refusal({"simulate", "--model", "gpt-1.3b", "--dtype", "float16"}) == "did you mean fp16?");
  CHECK(help_of_refusal({"simulate", "--model", "gpt-1.3b", "--dtype", "bfloat16"}) == "did you mean bf16?");
  CHECK(help_of_refusal({"simulate", "--model", "gpt-1.3b", "--dtype", "int4"}) == "write --dtype fp32");
  CHECK(help_of_refusal({"simulate", "--model", "meta-llama/Llama-3.1-8B"}) ==
        "a model of Hugging Face is given by the path of its config.json; `debubble list models` shows those with a "
        "name, such as llama3-8b");
}

TEST_CASE("what is near is said where a newcomer tries") {
  CHECK(help_of_refusal({"1f1b"}) == "write `debubble simulate --schedule 1f1b`");
  CHECK(help_of_refusal({"simulate", "--topology", "h100"}) == "did you mean dgx-h100?");
  CHECK(help_of_refusal({"simulate", "--model", "mixtral-8x7b", "--ep", "8"}) == "add replicas: --dp 8");
  CHECK(help_of_refusal({"explain", "op", "2F3"}) == "write `debubble explain 2F3`");
  const Folder folder;
  CHECK(folder.refusal({"whatif", "--model", "gpt-1.3b", "--to", "tp=2"})
            .starts_with("error[C061]: unexpected \"tp=2\"\n"));
}

TEST_CASE("a flag of a few words is told them, a format of export the closest one") {
  CHECK(help_of_refusal({"simulate", "--model", "gpt-1.3b", "--recompute"}) ==
        "write --recompute and one of: none, selective, full");
  CHECK(help_of_refusal({"export", "--to", "svgg"}).starts_with("did you mean svg? known formats: "));
  CHECK(help_of_refusal({"export", "--to", "csv"}).starts_with("did you mean pytorch-csv? "));
  CHECK(help_of_refusal({"export", "--to", "xyzxyz"}).starts_with("known formats: "));
}

TEST_CASE("help VERB is the verb's help") {
  const Folder folder;
  CHECK(folder.run({"help", "plan"}).out == folder.run({"plan", "--help"}).out);
  CHECK(folder.run({"help"}).out == folder.run({"--help"}).out);
  CHECK(folder.refusal({"help", "plann"}).find("did you mean plan?") != std::string::npos);
}

}  // namespace
}  // namespace debubble::testing
