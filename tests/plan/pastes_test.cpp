// What frameworks are told: a row for every flag, and a patch of a script that `patch` applies.
#include <algorithm>
#include <cstdlib>

#include "scenario/check_scenario.hpp"
#include "schedules/frameworks.hpp"
#include "studies/paste/fields.hpp"
#include "studies/paste/script_patch.hpp"
#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

bool patches_here() { return std::system("patch --version > /dev/null 2>&1") == 0; }  // NOLINT(concurrency-mt-unsafe)

// The arguments that an import of the script finds, but for what it costs nothing to have.
std::string scenario_of(const Folder& folder, const char* script) {
  return folder.run({"import", "--from", "megatron", script, "-o", "-"}).out;
}

constexpr const char* kScript = R"(#!/bin/bash
# trains on two machines
export CUDA_DEVICE_MAX_CONNECTIONS=1
TP=2
MODEL_ARGS=(
    --num-layers 16 --hidden-size 2048
    --num-attention-heads 16
    --seq-length 2048 --max-position-embeddings 2048 --vocab-size 32000
)
TRAIN_ARGS="
    --micro-batch-size 1
    --global-batch-size 64
    --bf16 --recompute-activations
"
torchrun --nproc-per-node 8 --nnodes 2 pretrain_gpt.py "${MODEL_ARGS[@]}" $TRAIN_ARGS \
    --tensor-model-parallel-size $TP \
    --pipeline-model-parallel-size 4 \
    --num-layers-per-virtual-pipeline-stage 2 \
    --sequence-parallel \
    --use-distributed-optimizer \
    --hidden-dropout 0 --attention-dropout 0
)";

}  // namespace

TEST_CASE("every flag of a scenario has one row in each framework's table, and every row has a flag") {
  ScenarioFlags flags;
  const FlagRows all = flag_rows(flags);
  for (const char* const framework : kFrameworks) {
    CAPTURE(framework);
    const std::vector<FieldRow>& rows = framework_table(framework).rows;
    for (const Flag& flag : all) {
      CAPTURE(flag.name);
      CHECK(std::count_if(rows.begin(), rows.end(), [&](const FieldRow& row) { return row.field == flag.name; }) == 1);
    }
    CHECK(rows.size() == all.size());
  }
}

TEST_CASE("a unified diff of texts without an end of line, of nothing, and of far apart lines") {
  CHECK(unified_diff("a\nb\n", "a\nb\n", "f").empty());
  CHECK(unified_diff("a\nb", "a\nc\n", "f") ==
        "--- f\n+++ f\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n");
  CHECK(unified_diff("", "x\n", "f") == "--- f\n+++ f\n@@ -0,0 +1,1 @@\n+x\n");
  CHECK(unified_diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "0\n1\n2\n3\n4\n5\n6\n7\n8\n", "f") ==
        "--- f\n+++ f\n@@ -1,3 +1,4 @@\n+0\n 1\n 2\n 3\n@@ -6,4 +7,3 @@\n 6\n 7\n 8\n-9\n");
}

TEST_CASE_IN_FOLDER(
    "a patch of a script takes out, changes and adds arguments where they stand, and patch applies it") {
  folder.write("train.sh", kScript);
  const std::string wanted =
      "export --to megatron --script train.sh --tp 1 -p 2 --schedule 1f1b --recompute none --loss fused --hardware "
      "h100 -o to.diff";
  REQUIRE(folder.run(wanted).status == 0);
  const std::string diff = folder.read("to.diff");
  CAPTURE(diff);
  for (const char* const line :
       {"-    --tensor-model-parallel-size $TP \\\n", "+    --tensor-model-parallel-size 1 \\\n",
        "-    --num-layers-per-virtual-pipeline-stage 2 \\\n", "-    --sequence-parallel \\\n",
        "-    --bf16 --recompute-activations\n", "+    --bf16\n", "+    --cross-entropy-loss-fusion\n"}) {
    CAPTURE(line);
    CHECK(contains(diff, line));
  }
  CHECK(!contains(diff, "-    --micro-batch-size"));
  if (!patches_here()) return;
  const std::string command = "cd '" + folder.path("") + "' && patch -s -p0 < to.diff";
  REQUIRE(std::system(command.c_str()) == 0);  // NOLINT(concurrency-mt-unsafe)
  const std::string patched = scenario_of(folder, "train.sh");
  CAPTURE(patched);
  for (const char* const line :
       {"devices = 2\n", "schedule = \"1f1b\"\n", "dp = 8\n", "microbatches = 8\n", "loss = \"fused\"\n"}) {
    CAPTURE(line);
    CHECK(contains(patched, line));
  }
  CHECK(!contains(patched, "recompute = "));
  REQUIRE(folder.run(wanted).status == 0);
  CHECK(folder.read("to.diff").empty());
}

TEST_CASE_IN_FOLDER(
    "a patch that another file would have to have is refused, with the arguments that it does not reach") {
  folder.write("more.sh", "MORE=\"--micro-batch-size 1 --global-batch-size 32 --recompute-activations\"\n");
  folder.write("train.sh",
               "source more.sh\ntorchrun --nproc-per-node 8 pretrain_gpt.py --num-layers 16 --hidden-size 2048 "
               "--num-attention-heads 16 --seq-length 2048 --max-position-embeddings 2048 --vocab-size 32000 $MORE\n");
  const std::string refused = folder.refusal("export --to megatron --script train.sh --recompute none --hardware h100");
  CHECK(contains(refused, "error["));
  CHECK(contains(refused, "train.sh"));
}

}  // namespace debubble::testing
