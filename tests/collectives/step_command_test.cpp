// The training step through the command line.
#include "tests/support/command.hpp"

#include "tests/support/places.hpp"

namespace debubble::testing {
namespace {

using nlohmann::json;

json simulated(const Folder& folder, Words more) {
  Words arguments = "simulate --format json";
  arguments.insert(arguments.end(), more.begin(), more.end());
  return folder.json(arguments);
}

double milliseconds(const Folder& folder, Words more) {
  return simulated(folder, std::move(more)).at("makespan_ns").get<double>() / 1e6;
}

bool assumes(const json& run, const std::string& what, const std::string& part, const std::string& source) {
  for (const json& line : run.at("assumptions")) {
    if (line.at("what") == what && line.at("value").get<std::string>().find(part) != std::string::npos) {
      return line.at("source") == source;
    }
  }
  return false;
}

const Words kToy = "-p 4 -m 8 --times f=1,b=2";

Words toy(Words more) {
  Words all = kToy;
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace

// 1F1B of 4 devices and 8 microbatches takes (8 + 3) x 3 = 33 ms; device d ends at 33 - 2 d.
TEST_CASE_IN_FOLDER("toy step: reduction, norm, optimizer and gathering follow the last backward") {
  CHECK(milliseconds(folder, toy({})) == 33);
  CHECK(milliseconds(folder, toy("--step reduce=2")) == 35);
  CHECK(milliseconds(folder, toy("--step reduce=2,optimizer=0.5,norm=0.1,gather=1")) == doctest::Approx(36.6));
  CHECK(milliseconds(folder, toy("--step reduce=2,optimizer=0.5,gather=1ms")) == 36.5);
  CHECK(milliseconds(folder, toy("--step off")) == 33);
  // Device 3 gets the partial norm of device 0 over three messages: 33 + 2 + 0.3, then 0.5 and 1.
  CHECK(milliseconds(folder, toy("--step reduce=2,optimizer=0.5,norm=0.1,gather=1 --norm post-validation")) ==
        doctest::Approx(36.8));
  // In front of the first forward it holds up the pipeline's start instead of the end.
  CHECK(milliseconds(folder, toy("--step gather=1 --gather before-forward")) == 34);
}

TEST_CASE_IN_FOLDER("a long reduction hides behind compute only where it starts early") {
  const Words chunks = "--schedule interleaved -p 2 -m 4 -v 2 --times f=1,b=2 --step reduce=2";
  Words at_end = chunks;
  at_end.insert(at_end.end(), {"--grad-reduce", "at-end"});
  // 2 devices, 4 microbatches: 4 x 3 + 1 x 1.5 without a step; each of the two chunks takes 1 ms to reduce.
  const double plain = milliseconds(folder, {chunks.begin(), chunks.end() - 2});
  CHECK(milliseconds(folder, chunks) == plain + 1);
  CHECK(milliseconds(folder, at_end) == plain + 2);
}

TEST_CASE_IN_FOLDER("compute beside a reduction takes longer by the slow-down") {
  Words chunks = "--schedule interleaved -p 2 -m 4 -v 2 --times f=1,b=2 --step reduce=2";
  const double plain = milliseconds(folder, chunks);
  chunks.insert(chunks.end(), {"--slow-down", "0.5"});
  CHECK(milliseconds(folder, chunks) > plain);
}

TEST_CASE_IN_FOLDER("with a profile and data ranks the step is on, without them off") {
  const std::string profile = debubble::testing::source_directory() + "/traces/published/bert-large-p100.json";
  const Words base{"-p", "4", "-m", "8", "--profile", profile, "--comm", "10us", "--bandwidth", "25GB/s"};
  const auto with = [&](Words more) {
    Words all = base;
    all.insert(all.end(), more.begin(), more.end());
    return simulated(folder, all);
  };
  const json alone = with({});
  CHECK(alone.find("step") == alone.end());
  const json several = with("--dp 8");
  CHECK(several.at("makespan_ns") > alone.at("makespan_ns"));
  CHECK(assumes(several, "gradients are reduced", "as soon as", "default"));
  CHECK(assumes(several, "norm of all gradients", "barrier", "default"));
  CHECK(with("--dp 8 --step off").at("makespan_ns") == alone.at("makespan_ns"));
  // ZeRO-1 keeps an eighth of the optimizer's state.
  const json sharded = with("--dp 8 --zero 1");
  const auto optimizer = [](const json& run) {
    return run.at("devices").at(0).at("peak_by_category_bytes").at("optimizer").get<std::int64_t>();
  };
  CHECK(optimizer(sharded) == (optimizer(alone) + 7) / 8);
  CHECK(assumes(sharded, "weights are gathered", "after the optimizer", "default"));
  // At the end is never earlier; with everything given, the time is what was given.
  CHECK(with("--dp 8 --grad-reduce at-end").at("makespan_ns") >= several.at("makespan_ns"));
  const json given = with("--dp 8 --step reduce=0,norm=0,optimizer=1");
  CHECK(given.at("makespan_ns").get<std::int64_t>() == alone.at("makespan_ns").get<std::int64_t>() + 1'000'000);
}

TEST_CASE_IN_FOLDER("a sparse reduction of 1 % takes a fraction of a dense one") {
  const std::string profile = debubble::testing::source_directory() + "/traces/published/bert-large-p100.json";
  Words base{"-p", "4", "-m", "8", "--profile", profile, "--comm", "1us", "--bandwidth", "5GB/s", "--dp", "32"};
  const double dense = milliseconds(folder, base);
  base.insert(base.end(), {"--collective", "sparse", "--density", "0.01"});
  CHECK(milliseconds(folder, base) < dense);
}

// Zero-bubble's devices end one after the other; a barrier holds the first ones until the last has ended.
TEST_CASE_IN_FOLDER("post-validation keeps the span of a zero-bubble schedule, a barrier does not") {
  const auto span = [&](const char* norm) {
    const json run = simulated(
        folder, {"--schedule", "zb-h2", "-p", "4", "-m", "12", "--step", "norm=0.1,optimizer=0.5", "--norm", norm});
    return run.at("span_ns").get<double>() / 1e6;
  };
  CHECK(span("none") == 36.5);             // 12 x 3 and the optimizer
  CHECK(span("post-validation") == 36.5);  // partial norms arrive before they are needed
  CHECK(span("barrier") == doctest::Approx(39 + 0.6));
}

TEST_CASE_IN_FOLDER("a model on a cluster: what ZeRO sends, keeps and costs") {
  const auto run = [&](Words more) {
    Words all = "--model llama3-8b --topology dgx-h100:8 --tp 4 --dp 4 -p 4 -m 16";
    all.insert(all.end(), more.begin(), more.end());
    return simulated(folder, all);
  };
  const auto bytes = [](const json& report, const char* part) {
    return report.at("step").at("parts").at(part).at("bytes").get<std::int64_t>();
  };
  const auto held = [](const json& report, const char* category) {
    return report.at("devices").at(0).at("peak_by_category_bytes").at(category).get<std::int64_t>();
  };
  const json replicated = run("--zero 0");
  const json first = run("--zero 1");
  const json second = run("--zero 2");
  const json third = run("--zero 3");
  const json kept = run("--zero 3 --keep-whole");
  // fp32 gradients, bf16 weights.
  CHECK(bytes(first, "gradient_reduce") == 2 * bytes(first, "parameter_gather"));
  CHECK(bytes(first, "gradient_reduce") == bytes(replicated, "gradient_reduce"));
  CHECK(!second.at("step").at("parts").contains("gradient_reduce"));
  CHECK(!third.at("step").at("parts").contains("parameter_gather"));
  CHECK(bytes(kept, "parameter_gather") == bytes(first, "parameter_gather"));
  CHECK(held(kept, "weights") == held(first, "weights"));
  CHECK(held(third, "weights") * 4 - held(first, "weights") < 4);
  CHECK(second.at("makespan_ns") > first.at("makespan_ns"));
  CHECK(third.at("makespan_ns") > second.at("makespan_ns"));
  CHECK(assumes(first, "collectives of the step", "NVLink 4", "published"));
  CHECK(assumes(first, "compute that overlaps collectives", "calculon", "published"));
}

TEST_CASE_IN_FOLDER("the optimizer varies as ops do, each seed in its own way") {
  const Words step = "--dp 2 --step reduce=2,optimizer=5,gather=1";
  // A slow last device works longer at its optimizer, too: 39 ms and 2 of the reduction, 1.5 x 5 and the gathering.
  Words slow = step;
  slow.insert(slow.end(), {"--slow", "device=3:1.5"});
  CHECK(milliseconds(folder, toy(slow)) == doctest::Approx(45 + 2 + 7.5 + 1).epsilon(0.1));
  const auto optimizer = [&](const char* seed) {
    Words flags = toy(step);
    flags.insert(flags.end(), {"--jitter", "lognormal:0.2", "--seed", seed});
    return simulated(folder, flags).at("step").at("parts").at("optimizer").at("time_ns").get<std::int64_t>();
  };
  CHECK(optimizer("1") != 5'000'000);
  CHECK(optimizer("1") == optimizer("1"));
  CHECK(optimizer("1") != optimizer("2"));
}

// 8 tensor and 8 data ranks without a pipeline: nothing else hides the reduction and the gathering.
TEST_CASE_IN_FOLDER("--overlap-grad-reduce and --overlap-param-gather hide what the first stage sends") {
  const Words job = "-p 1 -m 4 --model llama3-8b --tp 8 --sequence-parallel --dp 4 --zero 1 --topology dgx-h100:4";
  const auto with = [&](Words more) {
    Words all = job;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const double whole = milliseconds(folder, with({}));
  const double reduced = milliseconds(folder, with({"--overlap-grad-reduce"}));
  const double both = milliseconds(folder, with("--overlap-grad-reduce --overlap-param-gather"));
  CHECK(reduced < whole);
  CHECK(both < reduced);
  CHECK(both > milliseconds(folder, with("--step off")));
  // One bucket for everything hides nothing of the reduction.
  CHECK(milliseconds(folder, with("--overlap-grad-reduce --bucket-size 100000000000")) == whole);
  const json run = simulated(folder, with({"--overlap-grad-reduce"}));
  CHECK(assumes(run, "buckets of the first stage", "of Megatron-LM's size, reduced during its last backward",
                "published"));
  const auto refused = [&](Words more) {
    Words all = with(std::move(more));
    all.insert(all.begin(), "simulate");
    return folder.refusal(all);
  };
  CHECK(refused("--bucket-size 5").find("error[C004]: nothing is cut into buckets") == 0);
  CHECK(refused("--overlap-grad-reduce --bucket-size 0").find("error[C012]") == 0);
  CHECK(refused("--overlap-grad-reduce --grad-reduce at-end").find("error[C009]") == 0);
  CHECK(refused("--overlap-param-gather --gather after-optimizer").find("error[C009]") == 0);
  CHECK(refused("--overlap-grad-reduce --step reduce=2").find("error[C004]") == 0);
}

TEST_CASE_IN_FOLDER("messages between stages on a preset: as measured, unless its links or the transfers are given") {
  const auto run = [&](Words more) {
    Words all = "-p 2 -m 4 --model llama3-8b --tp 8";
    all.insert(all.end(), more.begin(), more.end());
    return simulated(folder, all);
  };
  const json measured = run("--topology dgx-h100:2");
  CHECK(assumes(measured, "transfers between machines", "NCCL's send and receive", "published"));
  for (const Words& own :
       {Words("--topology dgx-h100:2,nic=48GB/s"), Words("--topology dgx-h100:2 --transfer-latency 1us")}) {
    const json given = run(own);
    CHECK_FALSE(assumes(given, "transfers between machines", "NCCL's", "published"));
    CHECK(given.at("makespan_ns") < measured.at("makespan_ns"));
  }
  CHECK(assumes(run("--topology dgx-b200:2"), "transfers between machines", "between H100 machines", "modelled"));
}

// Drawn link by link they would take half a minute and gigabytes.
TEST_CASE_IN_FOLDER("a million data ranks on ideal links are simulated: all are alike") {
  for (const char* zero : {"0", "1", "3"}) {
    const json run =
        simulated(folder, {"-p", "4", "-m", "8", "--model", "tiny-gpt", "--dp", "1000000", "--zero", zero});
    CHECK(run.at("makespan_ns").get<std::int64_t>() > 0);
  }
}

}  // namespace debubble::testing
