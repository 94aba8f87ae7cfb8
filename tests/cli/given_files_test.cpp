// A file given where another kind is read: the error says what it is and what takes it. Errors speak of flags by the
// names that were typed.
#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

// One file of every kind that debubble reads or writes, or people have at hand.
void write_all_kinds(const Folder& folder) {
  folder.write("scenario.toml", "schedule = \"1f1b\"\ndevices = 4\n");
  folder.write("titan.toml", "[parallelism]\npipeline_parallel_degree = 4\n");
  folder.write("suite.json", R"({"schema": "debubble.suite/1", "name": "s", "scenarios": []})");
  folder.write("profile.json", R"({"schema": "debubble.profile/1", "layers": []})");
  folder.write("config.json", R"({"model_type": "llama", "hidden_size": 64})");
  folder.write("ds.json", R"({"train_batch_size": 32})");
  folder.write("train.sh", "#!/bin/bash\npython pretrain_gpt.py\n");
  folder.write("train.log", " iteration 1/ 10 | elapsed time per iteration (ms): 100.0 |\n");
  folder.write("page.html", "<!doctype html>\n");
  folder.write("note.txt", "hello\n");
  (void)folder.data("simulate -p 2 -m 2 --save-run run.json --trace trace.json.gz --export-schedule table.csv");
  folder.write("report.json", folder.data("simulate -p 2 -m 2 --format json"));
  folder.write("topology.json", folder.data("export --to topology-json --topology ring:2"));
  folder.write("schedule.json", folder.data("export --to schedule-json -p 2 -m 2"));
  folder.write("hardware.json", folder.data("export --to hardware h100"));
}

struct KindCase {
  const char* file;
  const char* what;
  const char* remedy;  // of `debubble simulate`
};

const std::vector<KindCase> kKinds{
    {"scenario.toml", "a scenario file", "give it as --config scenario.toml"},
    {"titan.toml", "a configuration of torchtitan", "`debubble import --from torchtitan titan.toml` reads it"},
    {"suite.json", "a suite of checks", "`debubble check suite.json` reads it"},
    {"profile.json", "a profile of layer times", "give it as --profile profile.json"},
    {"config.json", "the config.json of a Hugging Face model", "give it as --model config.json"},
    {"ds.json", "a configuration of DeepSpeed", "`debubble import --from deepspeed ds.json` reads it"},
    {"train.sh", "a shell script", "`debubble import --from megatron train.sh` reads it"},
    {"train.log", "a training log of Megatron-LM", "`debubble diff --log train.log` reads it"},
    {"page.html", "an HTML page", "nothing reads it: give what it was made from"},
    {"run.json", "a run", "`debubble diff run.json` reads it"},
    {"trace.json.gz", "a Chrome trace", "`debubble diff trace.json.gz` reads it"},
    {"table.csv", "a schedule table", "give it as --schedule table.csv"},
    {"report.json", "a report that debubble printed", "nothing reads it: give what it was made from"},
    {"topology.json", "a topology", "give it as --topology topology.json"},
    {"schedule.json", "a schedule", "give it as --schedule schedule.json"},
    {"hardware.json", "a file of hardware", "give it as --hardware hardware.json"},
};

}  // namespace

TEST_CASE_IN_FOLDER("a file of another kind: what it is, and what takes it") {
  write_all_kinds(folder);
  for (const KindCase& one : kKinds) {
    const std::string file = one.file;
    CAPTURE(file);
    for (const std::string flag : {"--profile", "--topology", "--schedule", "--config"}) {
      CAPTURE(flag);
      if (contains(one.remedy, flag)) continue;  // there it belongs
      const std::string text = folder.refusal({"simulate", flag, file});
      CAPTURE(text);
      CHECK(text.starts_with("error[P010]: this is " + std::string(one.what) + ", which " + flag +
                             " does not take\n  --> " + file + "\n  = help: " + one.remedy));
    }
    const std::string text = folder.refusal({"simulate", file});
    CHECK(text == "error[C061]: unexpected \"" + file + "\"\n  --> debubble simulate\n  = help: it is " + one.what +
                      ": " + one.remedy + "\n");
  }
}

TEST_CASE_IN_FOLDER("check reads suites, and says so of everything else") {
  write_all_kinds(folder);
  CHECK(folder.run("check scenario.toml").err ==
        R"(error[P010]: this is a scenario file, which debubble check does not take
  --> scenario.toml
  = help: `debubble simulate --config scenario.toml` reads it; debubble check takes: suites to check, JSON; see docs/ci.md
)");
  CHECK(contains(folder.run("check run.json").err, "this is a run, which debubble check does not take"));
  CHECK(contains(folder.run("check note.txt").err, "error[P001]"));  // of no known kind
}

TEST_CASE_IN_FOLDER("each verb says of a file that it does not take what takes it") {
  write_all_kinds(folder);
  const auto says = [&](const Words& words, const std::string& part) {
    const std::string text = folder.refusal(words);
    CAPTURE(text);
    CHECK(contains(text, part));
  };
  says("diff suite.json", "this is a suite of checks, which debubble diff does not take");
  says("diff --log profile.json", "this is a profile of layer times, which --log does not take");
  says("compare profile.json", "give it as --profile profile.json");
  says("compare --schedules 1f1b,run.json", "this is a run, which --schedules does not take");
  says("simulate --schedule=run.json", "this is a run, which --schedule does not take");
  says("whatif --to profile.json", "it is a profile of layer times: give it as --profile profile.json");
  says("plan --gpus 8 --model gpt2-small --script run.json", "which --script does not take");
  says("import --from kineto profile.json", "`debubble simulate --profile profile.json` reads it");
  says("import --from deepspeed scenario.toml", "this is a scenario file, which debubble import --from");
  says("list models run.json", "this is a run, which debubble list models does not take");
  says("explain cost profile.json", "it is a profile of layer times: give it as --profile profile.json");
}

TEST_CASE_IN_FOLDER("a file of the kind that is read keeps its own errors") {
  write_all_kinds(folder);
  CHECK(contains(folder.refusal("simulate --profile profile.json"), "error[P006]"));
  CHECK(contains(folder.refusal("diff scenario.toml"), "error[D002]: a scenario alone"));
  CHECK(contains(folder.refusal("simulate -p 4 --topology topology.json"), "error[B017]"));
  CHECK(contains(folder.refusal("simulate --profile note.txt"), "error[P001]"));
}

}  // namespace debubble::testing
