// Measured kernels through the real command: which are taken, what is said of them, and what is refused.
#include <fstream>

#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

using Report = nlohmann::json;

Report run_report(const Folder& folder, Words more) {
  Words words = "simulate --model llama3-8b -p 4 -m 8 --memory off --format json";
  words.insert(words.end(), more.begin(), more.end());
  const Outcome outcome = folder.run(words);
  REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
  return Report::parse(outcome.out);
}

double step_time(const Report& run) { return run["makespan_ns"].get<double>(); }

std::string fact(const Report& run, const std::string& what) {
  for (const auto& one : run["assumptions"]) {
    if (one["what"] == what) return one["value"].get<std::string>() + " [" + one["source"].get<std::string>() + "]";
  }
  return {};
}

bool finds(const Report& run, const std::string& code) {
  const auto& list = run["findings"];
  return std::any_of(list.begin(), list.end(), [&code](const Report& one) { return one["code"] == code; });
}

std::string table_text(const char* name) {
  std::ifstream file(std::string(DEBUBBLE_KERNELS) + name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE_IN_FOLDER("kernels: measured ones are taken, and said to be, and off takes the formulas") {
  const Report run = run_report(folder, "--hardware h100");
  const std::string told = fact(run, "kernel efficiency");
  CHECK(contains(told, "left out 3 % off in the median"));
  CHECK(contains(told, "[measured]"));
  CHECK(contains(fact(run, "fused attention"), "[measured]"));
  CHECK(contains(fact(run, "kernel launches"), "62 us each"));
  const Report formulas = run_report(folder, "--hardware h100 --kernels off");
  CHECK(contains(fact(formulas, "kernel efficiency"), "want of measurements"));
  CHECK(step_time(formulas) != step_time(run));
  const Report old = run_report(folder, "--hardware v100 --dtype fp16");
  CHECK(contains(fact(old, "kernel efficiency"), "[modelled]"));
}

TEST_CASE_IN_FOLDER("kernels: of 32-bit products there is no table, which is said") {
  const Report run = run_report(folder, "--hardware h100 --dtype fp32");
  const std::string told = fact(run, "kernel efficiency");
  CAPTURE(told);
  CHECK(contains(told, "products by size in fp32: none measured, "));
  CHECK(contains(told, "[modelled]"));
  CHECK_FALSE(contains(fact(run, "fused attention"), "[measured]"));
  CHECK(contains(fact(run, "passes over memory"), "[measured]"));
}

TEST_CASE_IN_FOLDER("kernels: a whole share is 100 %") {
  std::string text = table_text("h100.csv");
  for (const char* pass : {"\nmemory,fwd,", "\nmemory,bwd,"}) {
    const std::size_t at = text.find(pass) + std::string(pass).size();
    text.replace(at, text.find('\n', at) - at, "1");
  }
  folder.write("whole.csv", text);
  const std::string told = fact(run_report(folder, "--hardware h100 --kernels whole.csv"), "passes over memory");
  CHECK(contains(told, "100 % of the bandwidth forward, 100 % backward"));
}

TEST_CASE_IN_FOLDER("kernels: a file replaces them, of the same hardware only") {
  folder.write("h100.csv", table_text("h100.csv"));
  CHECK(step_time(run_report(folder, "--hardware h100 --kernels h100.csv")) ==
        step_time(run_report(folder, "--hardware h100")));
  CHECK(step_time(run_report(folder, "--hardware h800 --kernels h100.csv")) > 0);
  const Words words = "simulate --model llama3-8b -p 4 -m 8";
  const auto refusal = [&](Words more) {
    Words all = words;
    all.insert(all.end(), more.begin(), more.end());
    return folder.refusal(all);
  };
  CHECK(contains(refusal("--hardware b200 --kernels h100.csv"), "F018"));
}

TEST_CASE_IN_FOLDER("kernels: small work waits for the host, says so, and CUDA graphs mend it") {
  const Words small =
      "--hardware h100 --sequence 128 --model-size hidden=1024,heads=16,kv_heads=16,head_size=64,feed_forward=2048";
  const Report eager = run_report(folder, small);
  CHECK(finds(eager, "F026"));
  Words graphs = small;
  graphs.insert(graphs.end(), {"--cuda-graphs", "on"});
  const Report mended = run_report(folder, graphs);
  CHECK_FALSE(finds(mended, "F026"));
  CHECK(step_time(mended) < step_time(eager));
  CHECK(contains(fact(mended, "kernel launches"), "[given]"));
  CHECK_FALSE(finds(run_report(folder, "--hardware h100 --sequence 8192"), "F026"));
}

TEST_CASE_IN_FOLDER("kernels: how long the host takes for a kernel can be given") {
  const auto with = [&](Words more) {
    more.insert(more.begin(), {"--hardware", "h100", "--sequence", "128"});
    return run_report(folder, more);
  };
  const Report usual = with({});
  CHECK(contains(fact(usual, "kernel launches"), "[default]"));
  const Report quick = with("--host-launch 6us");
  CHECK(contains(fact(quick, "kernel launches"), "6 us each"));
  CHECK(contains(fact(quick, "kernel launches"), "[given]"));
  CHECK(step_time(quick) < step_time(usual));
  CHECK(step_time(with("--host-launch 62us")) == step_time(usual));
  CHECK(step_time(with("--host-launch 0us")) == step_time(with("--cuda-graphs on")));
}

TEST_CASE_IN_FOLDER("kernels: recipes of 8-bit products differ, and are refused where there is nothing to scale") {
  const auto with_recipe = [&](const std::string& hardware, const std::string& recipe) {
    return step_time(run_report(folder, {"--hardware", hardware, "--dtype", "fp8", "--fp8-recipe", recipe}));
  };
  CHECK(with_recipe("h100", "tensorwise") > with_recipe("h100", "delayed"));
  CHECK(with_recipe("h100", "blockwise") > with_recipe("h100", "delayed"));
  CHECK(with_recipe("b200", "mxfp8") > 0);
  const Words words = "simulate --model llama3-8b -p 4 -m 8 --hardware h100";
  Words half = words;
  half.insert(half.end(), {"--fp8-recipe", "tensorwise"});
  Words hopper = words;
  hopper.insert(hopper.end(), {"--dtype", "fp8", "--fp8-recipe", "mxfp8"});
}

TEST_CASE_IN_FOLDER("kernels: every preset runs, and the list says where its kernels are from") {
  const std::string list = folder.data("list hardware");
  for (const char* gpu : {"b300", "gb300", "h20", "h800", "a800", "l40s"}) {
    CAPTURE(gpu);
    CHECK(contains(list, gpu));
    CHECK(step_time(run_report(folder, {"--hardware", gpu})) > 0);
  }
  CHECK(contains(list, "measured, table of h100"));
  CHECK(contains(list, "assumed, the A100's shares"));
}

TEST_CASE_IN_FOLDER("kernels: the list says of every new preset what states its figures, and what is recalled") {
  const Report list = Report::parse(folder.data("list hardware --format json"))["hardware"];
  const auto of = [&](const std::string& name) {
    for (const Report& one : list) {
      if (one["name"] == name) return one.dump();
    }
    return std::string();
  };
  for (const char* gpu : {"b300", "gb300", "h20", "h800", "a800", "l40s"}) {
    const std::string text = of(gpu);
    CAPTURE(text);
    for (const char* part : {"rates", "memory and its bandwidth", "multiprocessors", "links: ", "that NCCL takes",
                             ": datasheet figures, recalled", "kernels: "}) {
      CAPTURE(part);
      CHECK(contains(text, part));
    }
  }
  CHECK(contains(of("b300"), "aiconfigurator@095f58a, b300_sxm.yaml"));
  CHECK(contains(of("b300"), "268 GiB at 7750 GB/s"));  // 288,400,343,040 bytes; 7.75e12 a second
  CHECK(contains(of("gb300"), "277 GiB at 8000 GB/s"));
  for (const char* gpu : {"h20", "l40s"}) {
    CHECK(contains(of(gpu), "rates, memory and its bandwidth, multiprocessors"));
  }
}

}  // namespace debubble::testing
