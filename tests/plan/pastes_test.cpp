// What frameworks are told: a row for every flag, and a patch of a script that `patch` applies.
#include <algorithm>
#include <cstdlib>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "scenario/check_scenario.hpp"
#include "schedules/frameworks.hpp"
#include "sim/core/at.hpp"
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

// A hunk's lines put together: with '+' those after, with '-' those before.
std::string side_of(const std::string& diff, char side) {
  std::istringstream lines(diff);
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && (line.front() == ' ' || line.front() == side)) text += line.substr(1) + "\n";
  }
  return text;
}

// By the table of the longest common subsequence.
std::size_t fewest_changes(const std::string& before, const std::string& after) {
  std::vector<std::size_t> common(after.size() + 1);
  for (const char one : before) {
    std::size_t diagonal = 0;
    for (std::size_t j = 0; j < after.size(); ++j) {
      const std::size_t above = common[j + 1];
      common[j + 1] = one == after[j] ? diagonal + 1 : std::max(above, common[j]);
      diagonal = above;
    }
  }
  return before.size() + after.size() - 2 * common.back();
}

TEST_CASE("a diff has both texts and as few changes as can be, also of many lines") {
  std::mt19937 random(42);
  const auto lines_of = [](const std::string& letters) {
    std::string text;
    for (const char one : letters) text += std::string(1, one) + "\n";
    return text;
  };
  for (int round = 0; round < 2000; ++round) {
    std::string before;
    std::string after;
    for (std::string* const text : {&before, &after}) {
      for (auto left = random() % 7; left > 0; --left) *text += static_cast<char>('a' + random() % 3);
    }
    CAPTURE(before);
    CAPTURE(after);
    const std::string diff = unified_diff(lines_of(before), lines_of(after), "f");
    const std::string hunk = diff.substr(diff.empty() ? 0 : diff.find("@@"));
    const auto changes = std::count_if(hunk.begin(), hunk.end(), [](char one) { return one == '-' || one == '+'; });
    if (before == after) {
      REQUIRE(diff.empty());
      continue;
    }
    REQUIRE(to_index(changes) == fewest_changes(before, after) + 2);  // and those of "@@ -1,3 +1,4 @@"
    std::size_t first = 0;  // line of the hunk, from 1, or from 0 where there is none
    std::size_t count = 0;
    char ignored = 0;
    std::istringstream(hunk.substr(4)) >> first >> ignored >> count;
    const std::size_t begin = first - (count > 0 ? 1 : 0);
    REQUIRE(side_of(hunk, '-') == lines_of(before.substr(begin, count)));
    REQUIRE(lines_of(before.substr(0, begin)) + side_of(hunk, '+') + lines_of(before.substr(begin + count)) ==
            lines_of(after));
  }
  std::string before;
  std::string after;
  for (int line = 0; line < 100'000; ++line) {
    before += std::to_string(line) + "\n";
    after += (line % 1000 == 500 ? "changed " : "") + std::to_string(line) + "\n";
  }
  const std::string diff = unified_diff(before, after, "f");
  CHECK(std::count(diff.begin(), diff.end(), '@') == 4 * 100);
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

TEST_CASE_IN_FOLDER("what is not typed over a script stays the script's, but for what has no use any more") {
  folder.write("train.sh", kScript);
  const Words wanted{"export", "--to", "megatron", "--script", "train.sh", "--hardware", "h100", "-p", "8", "-m", "64"};
  const std::string diff = folder.run(wanted).out;
  CHECK(contains(diff, "+    --pipeline-model-parallel-size 8 \\\n"));
  for (const char* const kept :
       {"tensor-model-parallel-size", "recompute", "sequence-parallel", "distributed-optimizer"}) {
    CAPTURE(kept);
    CHECK(!contains(diff, std::string("-    --") + kept));
  }
  std::string overlapped = kScript;
  overlapped.replace(overlapped.find("--bf16"), 6, "--bf16 --overlap-grad-reduce");
  folder.write("train.sh", overlapped);
  CHECK(folder.run("export --to megatron --script train.sh --hardware h100 --zero 3 -p 1 --schedule 1f1b").status == 0);
}

TEST_CASE_IN_FOLDER("the patch whose command a plan prints makes the script that plan") {
  if (!patches_here()) return;
  for (const char* const flags : {"--fix tp=2,pp=4 --only schedule=1f1b", "--fix tp=4,pp=2 --only schedule=interleaved",
                                  "--fix pp=1,tp=1,zero=1", "--fix tp=2,pp=2,recompute=full --only schedule=1f1b",
                                  "--fix tp=2,pp=4,recompute=full:first:2 --only schedule=interleaved",
                                  "--memory 4500MiB --fix tp=2,pp=4,microbatch=4,zero=1 --only schedule=1f1b"}) {
    CAPTURE(flags);
    folder.write("train.sh", kScript);
    const std::string plan = std::string("plan --script train.sh --hardware h100 ") + flags;
    const std::string text = folder.run(plan + " --width 4000").out;
    const std::size_t begin = text.find("export --to megatron --script train.sh");
    REQUIRE(begin != std::string::npos);
    const std::string command = text.substr(begin, text.find('\n', begin) - begin);
    CAPTURE(command);
    REQUIRE(folder.run(command + " -o to.diff").status == 0);
    const std::string patch = "cd '" + folder.path("") + "' && patch -s -p0 < to.diff";
    REQUIRE(std::system(patch.c_str()) == 0);  // NOLINT(concurrency-mt-unsafe)
    REQUIRE(folder.run("import --from megatron train.sh -o new.toml").status == 0);
    const auto of = [](const std::string& json) { return nlohmann::json::parse(json); };
    const auto run = of(folder.data("simulate --config new.toml --hardware h100 --topology dgx-h100:2 --format json"));
    CHECK(run["makespan_ns"] == of(folder.run(plan + " --format json").out)["runs"][0]["makespan_ns"]);
  }
}

}  // namespace debubble::testing
