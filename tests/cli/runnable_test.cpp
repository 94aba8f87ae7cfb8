// What a comparison charges, what of it a person can run today, and configurations as wholes.
#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

using nlohmann::json;
std::map<std::string, json> compared(const Folder& folder, const Words& flags) {
  std::map<std::string, json> runs;
  const json all = folder.json(joined("compare", flags));
  for (const json& run : all.at("runs")) runs[run.at("schedule").at("name").get<std::string>()] = run;
  return runs;
}

bool has(const json& list, const std::string& word) { return std::find(list.begin(), list.end(), word) != list.end(); }

std::int64_t step_of(const json& run) { return run.at("makespan_ns").get<std::int64_t>(); }

// One GPU on each of eight machines.
const Words kAcross = "--model gpt-1.3b -p 8 -m 8 --topology dgx-a100:8 --rank-devices 0,8,16,24,32,40,48,56";

}  // namespace

TEST_CASE_IN_FOLDER(
    "copies of the weights inside one pipeline have their gradients added up, with a step and without") {
  const Words schedules = "--schedules 1f1b,interleaved,chimera -v 2";
  const auto plain = compared(folder, joined(joined(kAcross, schedules), {}));
  const auto off = compared(folder, joined(joined(kAcross, schedules), "--step off"));
  const auto on = compared(folder, joined(joined(kAcross, schedules), "--step on"));
  // Free of charge, chimera would be the fastest; it is not.
  CHECK(step_of(off.at("chimera")) < step_of(off.at("interleaved")));
  CHECK(step_of(plain.at("chimera")) > step_of(plain.at("interleaved")));
  CHECK(step_of(plain.at("1f1b")) == step_of(off.at("1f1b")));
  CHECK(has(off.at("chimera").at("needs").at("not_charged"), "gradient sums"));
  CHECK(plain.at("chimera").at("needs").at("not_charged").empty());
  CHECK(on.at("chimera").at("needs").at("not_charged").empty());
  CHECK(off.at("1f1b").at("needs").at("not_charged").empty());
  // Once: what the whole step adds to chimera is no more than what it adds to 1f1b, and the sums.
  const auto sums = [](const json& run) { return run.at("step").at("parts").at("gradient_reduce").at("bytes"); };
  CHECK(plain.at("chimera").at("step").at("parts").size() == 1);
  CHECK(sums(on.at("chimera")) == sums(plain.at("chimera")));
}

TEST_CASE_IN_FOLDER("what a step time leaves out stands in its row") {
  const auto toy = compared(folder, "--schedules 1f1b,chimera,dualpipe,seq1f1b,xpipe,pipedream -p 4 -m 8");
  CHECK(toy.at("1f1b").at("needs").at("not_charged").empty());
  CHECK(has(toy.at("chimera").at("needs").at("not_charged"), "gradient sums"));
  CHECK(has(toy.at("dualpipe").at("needs").at("not_charged"), "gradient sums"));
  CHECK(has(toy.at("seq1f1b").at("needs").at("not_charged"), "slicing"));
  CHECK(has(toy.at("xpipe").at("needs").at("not_charged"), "prediction"));
  CHECK(toy.at("pipedream").at("needs").at("not_charged").empty());
  const std::string text = folder.data("compare --schedules 1f1b,chimera -p 4 -m 8");
  CHECK(contains(text, "charged"));
  CHECK(contains(text, "gradient sums"));
  const std::string all_charged = folder.data("compare --schedules 1f1b,gpipe -p 4 -m 8");
  CHECK_FALSE(contains(all_charged, "charged"));
}

TEST_CASE_IN_FOLDER("links of unlimited bandwidth add gradients up for nothing, and the row says so") {
  const Words words = "--model gpt-1.3b -p 4 -m 8 --schedules chimera";
  CHECK(compared(folder, words).at("chimera").at("needs").at("not_charged").empty());  // the hardware's own links
  const Words measured = "--profile traces/published/zb-a100-1.5b-m24.json -p 8 -m 24 --schedules chimera";
  CHECK(has(compared(folder, measured).at("chimera").at("needs").at("not_charged"), "gradient sums"));
  const auto limited = compared(folder, joined(measured, "--bandwidth 25GB/s"));
  CHECK(limited.at("chimera").at("needs").at("not_charged").empty());
  const Words toy = "--schedules chimera -p 4 -m 8 --step reduce=2";
  CHECK(compared(folder, toy).at("chimera").at("needs").at("not_charged").empty());  // its time was given
}

TEST_CASE_IN_FOLDER("the barrier of a split output layer takes the time of its collective on the links") {
  const auto step = [&](const Words& flags) {
    const Words words = joined("simulate --format json --transform vocabulary-parallel", flags);
    return step_of(folder.json(words));
  };
  const auto step_without = [&](const Words& flags) { return step_of(folder.json(joined("simulate", flags))); };
  // Toy links: latencies count. Eight barriers, each at least a hop's latency; the plain run has its own hops.
  const std::int64_t free_links = step({}) - step_without({});
  const std::int64_t slow_links = step("--comm 0.2") - step_without("--comm 0.2");
  CHECK(slow_links > free_links);
  const Words near = "--model gpt-1.3b -p 4 --topology dgx-a100:4";
  const Words far = "--model gpt-1.3b -p 4 --topology dgx-a100:4 --rank-devices 0,8,16,24";
  const auto barrier = [&](const Words& flags) {
    const Words words = joined("simulate --format json --transform vocabulary-parallel", flags);
    const json report = folder.json(words);
    for (const json& one : report.at("assumptions")) {
      if (one.at("what") == "barrier of the output layer") return one.at("value").get<std::string>();
    }
    return std::string();
  };
  CHECK(contains(barrier(near), "all-reduce of"));
  CHECK(barrier(near) != barrier(far));
  CHECK(barrier({}) == "no time: links without latency or limit");
  for (const char* const p : {"2", "4"})
    CHECK(contains(barrier(joined("--comm 5 -p", {p})), "10 ms per microbatch: a hop to one device and a hop back"));
  CHECK(barrier("-p 1 --comm 5") == "no time: links without latency or limit");
  // One microbatch: its output goes to the other shard, and the barrier there and back.
  const auto alone = [&](const Words& more) {
    return step(joined("-m 1 -p 2", more)) - step_without(joined("-m 1 -p 2", more));
  };
  CHECK(alone("--comm 5") - alone("--comm 1") == 3 * (5 - 1) * 1'000'000);
}

TEST_CASE_IN_FOLDER("the best that each framework runs is told, and --runs-in restricts the field") {
  const auto all = compared(folder, "--schedules all -p 4 -m 8");
  std::map<std::string, int> bests;
  for (const auto& [name, run] : all) {
    if (!run.contains("needs")) continue;
    for (const json& framework : run.at("needs").at("best_in")) {
      ++bests[framework.get<std::string>()];
      CHECK(run.at("needs").at("frameworks").get<std::string>().find(framework.get<std::string>()) !=
            std::string::npos);
    }
  }
  CHECK(bests == std::map<std::string, int>{{"DeepSpeed", 1}, {"Megatron-LM", 1}, {"torchtitan", 1}});
  CHECK(contains(folder.data("compare -p 4 -m 8"), "\ntoday "));
  const auto deepspeed = compared(folder, "--runs-in DeepSpeed -p 4 -m 8");
  CHECK(deepspeed.size() == 1);
  CHECK(deepspeed.count("1f1b") == 1);
  CHECK(compared(folder, "--runs-in Megatron-LM -p 4 -m 8").count("zb-h1") == 0);
  const Outcome none = folder.run("compare --schedules chimera --runs-in megatron");
  CHECK(none.status == 2);
  CHECK(none.err.find("error[C001]: Megatron-LM runs none of these schedules") == 0);
  CHECK(folder.run("compare --runs-in jax").status == 2);
}

TEST_CASE_IN_FOLDER("Megatron Core does not run what it refuses: its best is another schedule then") {
  const Words sizes = "--schedules 1f1b,interleaved -p 4";
  const auto even = compared(folder, joined(sizes, "-m 8"));
  CHECK(has(even.at("interleaved").at("needs").at("best_in"), "Megatron-LM"));
  const auto odd = compared(folder, joined(sizes, "-m 6"));
  CHECK_FALSE(has(odd.at("interleaved").at("needs").at("best_in"), "Megatron-LM"));
  CHECK(has(odd.at("1f1b").at("needs").at("best_in"), "Megatron-LM"));
}

TEST_CASE_IN_FOLDER("schedules of several stages per device are tried with every number that suits the model") {
  const Words model = "--model gpt-1.3b -p 4 -m 8";  // 24 blocks: 2, 3 and 6 stages per device
  const auto open = compared(folder, joined(model, "--schedules 1f1b,interleaved"));
  const json& tried = open.at("interleaved").at("needs").at("chunks_tried");
  CHECK(tried == json({2, 3, 6}));
  CHECK(open.at("1f1b").at("needs").at("chunks_tried").empty());
  std::int64_t fastest = step_of(open.at("interleaved"));
  for (const json& chunks : tried) {
    const auto one =
        compared(folder, joined(model, {"--schedules", "interleaved", "-v", std::to_string(chunks.get<int>())}));
    CHECK(step_of(one.at("interleaved")) >= fastest);
    CHECK(one.at("interleaved").at("needs").at("chunks_tried").empty());
  }
  const std::string text = folder.data(joined(joined({"compare"}, model), "--schedules 1f1b,interleaved"));
  CHECK(contains(text, "the fastest of v = 2, 3, 6"));
}

TEST_CASE_IN_FOLDER("names that frameworks and people use are read everywhere") {
  const auto step = [&](const Words& flags) { return step_of(folder.json(joined("simulate", flags))); };
  const std::map<std::string, std::string> spellings{{"1F1B", "1f1b"},
                                                     {"Interleaved1F1B", "interleaved"},
                                                     {"ScheduleInterleaved1F1B", "interleaved"},
                                                     {"ZBVZeroBubble", "zb-v"},
                                                     {"DualPipeV", "dualpipe-v"},
                                                     {"GPipe", "gpipe"},
                                                     {"LoopedBFS", "breadth-first"},
                                                     {"InterleavedZeroBubble", "interleaved-zb"},
                                                     {"ZB_H1", "zb-h1"}};
  for (const auto& [typed, own] : spellings) {
    const auto& captured = typed;  // clang 14 captures no structured binding
    CAPTURE(captured);
    CHECK(step({"--schedule", typed, "--pp", "4", "-m", "8"}) == step({"--schedule", own, "-p", "4", "-m", "8"}));
    CHECK(compared(folder, {"--schedules", typed}).count(own) == 1);
  }
  const Words model = "--model gpt-1.3b -p 4";
  CHECK(step(joined(model, "--mbs 2 --gbs 32 --dp 2 --seq-length 1024")) ==
        step(joined(model, "--microbatch-size 2 -m 8 --dp 2 --sequence 1024")));
  CHECK(step(joined(model, "--hardware H100")) == step(joined(model, "--hardware h100")));
  const Outcome odd = folder.run(joined(joined({"simulate"}, model), "--gbs 31 --dp 2"));
  CHECK(odd.status == 2);
  CHECK(odd.err ==
        "error[C001]: 31 samples are not a whole number of microbatches: 2 replicas of 1 sample each take 2 at a time\n"
        "  --> --gbs\n"
        "  = help: nearest: --gbs 30\n");
  CHECK(folder.run("simulate --gbs 8 -m 8").err.find("error[C009]") == 0);
}

TEST_CASE_IN_FOLDER("- is standard input, for every file that is read") {
  const std::string table = folder.data("export --schedule zb-h1 -p 4 -m 8 --to pytorch-csv");
  folder.write("zb.csv", table);
  Surroundings piped;
  piped.input = table;
  CHECK(step_of(folder.json("simulate --schedule -", piped)) == step_of(folder.json("simulate --schedule zb.csv")));
  piped.input = "devices = 2\nmicrobatches = 6\n";
  CHECK(step_of(folder.json("simulate --config -", piped)) == step_of(folder.json("simulate -p 2 -m 6")));
  piped.input = "not a profile";
  CHECK(folder.run("simulate --profile -", piped).status == 2);
}

TEST_CASE_IN_FOLDER("GPUs of the topology that no rank takes are told, and only these") {
  const auto idle = [&](const Words& flags) {
    const Words words = joined("simulate --format json --model gpt-1.3b --topology dgx-a100:1", flags);
    const json report = folder.json(words);
    for (const json& one : report.at("assumptions")) {
      if (one.at("what") == "idle GPUs") return one.at("value").get<std::string>();
    }
    return std::string();
  };
  CHECK(idle("-p 4") == "4 of the topology's 8: the job has 4 ranks");
  CHECK(idle("-p 4 --tp 2").empty());
  for (const Words& words : std::vector<Words>{{"simulate"},
                                               {"compare", "--schedules", "1f1b"},
                                               {"whatif", "--slow", "device=1:1.2"},
                                               {"explain", "step"}}) {
    CAPTURE(words.front());
    const Words job = joined(words, "--model gpt-1.3b --topology dgx-a100:1");
    CHECK(contains(folder.data(joined(job, "-p 4")), "idle GPUs 4 of the topology's 8"));
    CHECK_FALSE(contains(folder.data(joined(job, "-p 8")), "idle GPUs"));
  }
  const Words plan = "plan --model gpt2-small --global-batch 16 --topology dgx-a100:1 --gpus";
  CHECK(contains(folder.data(joined(plan, {"4"})), "idle GPUs 4 of the topology's 8"));
  CHECK_FALSE(contains(folder.data(joined(plan, {"8"})), "idle GPUs"));
}

TEST_CASE_IN_FOLDER("a note of compare does not repeat what the column \"not charged\" says") {
  const std::string text = folder.data("compare -p 4 -m 8");
  CHECK(contains(text, "slicing        a\n"));
  CHECK(contains(text, "\na      slices of equal cost\n"));
  CHECK_FALSE(contains(text, "is not charged"));
  CHECK(contains(folder.data("simulate --schedule terapipe"), "is not charged"));
}

TEST_CASE_IN_FOLDER("scenario files are compared as wholes, by samples per GPU") {
  folder.write("a.toml", "model = \"gpt-1.3b\"\ndevices = 4\nmicrobatches = 8\n");
  folder.write("b.toml", "model = \"gpt-1.3b\"\ndevices = 4\nmicrobatches = 16\ntp = 2\nrecompute = \"full\"\n");
  const json runs = folder.json("compare a.toml b.toml").at("runs");
  REQUIRE(runs.size() == 2);
  std::map<std::string, double> rates;
  for (const json& run : runs) {
    const std::string file = run.at("config").get<std::string>();
    const int gpus = file == "a.toml" ? 4 : 8;
    rates[file] = run.at("throughput_samples_per_s").get<double>() / gpus;
  }
  REQUIRE(rates.size() == 2);
  const std::string first = runs.at(0).at("config").get<std::string>();
  CHECK(rates[first] == std::max(rates["a.toml"], rates["b.toml"]));
  const std::string text = folder.data("compare a.toml b.toml");
  CHECK(contains(text, "more samples per GPU and second than"));
  // A flag of the command line is for all of them.
  const json other = folder.json("compare a.toml b.toml -m 32").at("runs");
  for (const json& run : other) CHECK(run.at("schedule").at("microbatches") == 32);
  CHECK(folder.run("compare a.toml missing.toml").status == 2);
  CHECK(folder.run("compare a.toml b.toml --equal memory").err.find("error[C001]") == 0);
}

}  // namespace debubble::testing
