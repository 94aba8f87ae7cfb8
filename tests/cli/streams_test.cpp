// Pipelines without a flush, as the command shows them.
#include "tests/cli/inputs.hpp"
#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

using nlohmann::json;

json streams_simulated(const Folder& folder, Words arguments) {
  arguments.insert(arguments.begin(), "simulate");
  arguments.insert(arguments.end(), {"--format", "json"});
  return folder.json(arguments);
}

template <typename Number>
std::vector<Number> column(const json& run, const char* key, const char* part = nullptr) {
  std::vector<Number> list;
  for (const json& stage : run["stream"]["stages"]) list.push_back(part ? stage[key][part] : stage[key]);
  return list;
}

TEST_CASE_IN_FOLDER("a stream reports its versions by stage and its pace, and a schedule with a flush does not") {
  const json run = streams_simulated(folder, "--schedule pipedream --times f=1,b=2");
  CHECK(run["stream"]["versions"] == "stashed");
  CHECK(run["stream"]["update_every"] == 1);
  CHECK(run["stream"]["period_per_microbatch_ns"] == 3'000'000.0);
  CHECK(run["stream"]["throughput_samples_per_s"].is_null());
  CHECK(column<int>(run, "weight_versions") == std::vector<int>{4, 3, 2, 1});
  CHECK(column<int>(run, "microbatches_in_flight") == std::vector<int>{4, 3, 2, 1});
  CHECK(column<double>(run, "forward_staleness", "mean") == std::vector<double>{3, 2, 1, 0});
  CHECK(column<double>(run, "stable_step_ratio").front() == doctest::Approx(0.2225).epsilon(0.001));
  CHECK(run["makespan_ns"] == 33'000'000);
  CHECK(run["steady_period_ns"] == 8 * 3'000'000);  // of 8 microbatches in the stream
  CHECK_FALSE(streams_simulated(folder, "--schedule 1f1b").contains("stream"));
}

TEST_CASE_IN_FOLDER("shared stages cost their part of the model and take several devices") {
  const json run = streams_simulated(folder, "--schedule pipedream --param replicas=2,1,1 -m 24 --times f=3,b=6");
  CHECK(run["schedule"]["stages"] == 3);
  CHECK(run["schedule"]["devices"] == 4);
  CHECK(run["schedule"]["replicas"] == 1);
  CHECK(run["weight_copies"] == 2);
  CHECK(column<int>(run, "devices") == std::vector<int>{2, 1, 1});
  CHECK(column<int>(run, "weight_versions") == std::vector<int>{2, 2, 1});
  // A stage is 4/3 of a device share: 4 + 8 ms, and the stages that nobody shares set the pace.
  CHECK(run["stream"]["period_per_microbatch_ns"] == 12'000'000.0);
  std::int64_t busy = 0;
  for (const json& device : run["devices"]) busy += device["busy_ns"].get<std::int64_t>();
  CHECK(busy == std::int64_t{24} * 4 * 9'000'000);
  CHECK(run["findings"][0]["message"].get<std::string>().find("all-reduce") != std::string::npos);
}

TEST_CASE_IN_FOLDER("extra versions take memory with a profile, in the precision of the profile") {
  folder.write("p.json", kProfile);
  const auto run = [&](const char* schedule) {
    return streams_simulated(folder, {"--schedule", schedule, "--profile", "p.json", "-p", "2", "-m", "6"});
  };
  const json plain = run("1f1b");
  const json stashed = run("pipedream");
  const json& before = plain["devices"][0]["peak_by_category_bytes"];
  const json& after = stashed["devices"][0]["peak_by_category_bytes"];
  CHECK(before["extra_weights"] == 0);
  CHECK(after["extra_weights"] == after["weights"]);
  CHECK(after["optimizer"] == before["optimizer"]);
  CHECK(after["gradients"] == before["gradients"]);
  CHECK(stashed["devices"][1]["peak_by_category_bytes"]["extra_weights"] == 0);
  CHECK(stashed["stream"]["throughput_samples_per_s"].get<double>() >
        stashed["throughput_samples_per_s"].get<double>());
  bool said = false;
  for (const json& one : stashed["assumptions"]) said |= one["what"] == "extra weight version";
  CHECK(said);
}

TEST_CASE_IN_FOLDER("two engines run a forward and a backward side by side") {
  const json run =
      streams_simulated(folder, "--schedule pipelined-backprop --param turnaround=1 -p 4 -m 32 --times f=1,b=2");
  CHECK(run["stream"]["period_per_microbatch_ns"] == 2'000'000.0);
  CHECK(column<double>(run, "forward_staleness", "mean") == std::vector<double>{7, 5, 3, 1});
  const json published = streams_simulated(folder, "--schedule pipelined-backprop -p 4 -m 32");
  CHECK(column<double>(published, "forward_staleness", "mean") == std::vector<double>{6, 4, 2, 0});
}

TEST_CASE_IN_FOLDER("the text view shows the table within 80 columns") {
  for (const std::string schedule :
       {"pipedream", "pipedream-2bw", "pipemare", "spectrain", "xpipe", "pipelined-backprop"}) {
    CAPTURE(schedule);
    const std::string text = folder.data({"simulate", "--schedule", schedule, "-p", "20", "--width", "80"});
    CHECK(contains(text, "F late"));
    CHECK(contains(text, "once the pipeline is full"));
    const std::size_t table = text.find("stage  F late");
    REQUIRE(table != std::string::npos);
    for (std::size_t begin = table; begin < text.size();) {
      const std::size_t end = text.find('\n', begin);
      CHECK(end - begin <= 80);
      begin = end + 1;
    }
  }
  CHECK_FALSE(contains(folder.data("simulate --schedule 1f1b"), "F late"));
}

TEST_CASE_IN_FOLDER("a stream's pace is that of the run's devices, microbatches and links") {
  const auto pace = [&](Words flags) {
    flags.insert(flags.begin(), {"--schedule", "pipedream", "--times", "f=1,b=2"});
    return streams_simulated(folder, flags)["stream"]["period_per_microbatch_ns"].get<double>();
  };
  CHECK(pace({}) == 3'000'000);
  CHECK(pace("--slow device=2:1.5") == 4'500'000);
  CHECK(pace("--dp 2 --slow replica=1:2") == 6'000'000);  // all wait for the slowest replica
  // Noise makes it slower than the mean of its ops, as the slowest device of each moment counts; each seed in its way.
  const double noisy = pace("--jitter lognormal:0.2 --seed 3");
  CHECK(noisy > 3'000'000);
  CHECK(noisy < 5'000'000);
  CHECK(pace("--jitter lognormal:0.2 --seed 3") == noisy);
  CHECK(pace("--jitter lognormal:0.2 --seed 4") != noisy);
  folder.write("f.csv", "microbatch,factor\n0,1\n1,3\n2,1\n3,3\n4,1\n5,3\n6,1\n7,3\n");
  CHECK(pace("--factors f.csv") > 5'900'000);  // two of them take 4 times 3 ms, over and over
}

TEST_CASE_IN_FOLDER("transfers that share a link set the pace of a stream") {
  // Stages 0, 1, 2, 3 on devices 0, 2, 1, 3 of a ring: what goes 0 to 2 and what goes 1 to 3 meets on link 1>2.
  const auto pace = [&](const char* bandwidth, const char* network) {
    const json run =
        streams_simulated(folder, {"--schedule", "pipedream", "--model", "tiny-gpt", "-p", "4", "-m", "8", "--memory",
                                   "off", "--topology", std::string("ring:8,bandwidth=") + bandwidth, "--rank-devices",
                                   "0,2,1,3", "--network", network});
    return run["stream"]["period_per_microbatch_ns"].get<double>();
  };
  CHECK(pace("10000GB/s", "fluid") == doctest::Approx(pace("10000GB/s", "uncontended")).epsilon(0.01));
  CHECK(pace("1MB/s", "fluid") > 1.5 * pace("1MB/s", "uncontended"));
}

TEST_CASE_IN_FOLDER("the throughput of a stream is that of all its replicas") {
  folder.write("p.json", kProfile);
  const auto samples = [&](const char* replicas) {
    return streams_simulated(folder, {"--schedule", "pipedream", "--profile", "p.json", "-p", "2", "-m", "6", "--dp",
                                      replicas})["stream"]["throughput_samples_per_s"];
  };
  CHECK(samples("4").get<double>() == doctest::Approx(4 * samples("1").get<double>()));
}

}  // namespace
}  // namespace debubble::testing
