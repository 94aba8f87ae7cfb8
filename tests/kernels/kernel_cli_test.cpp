// Measured kernels through the real command: which are taken, what is said of them, and what is refused.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

using Report = nlohmann::json;

Report run_report(const Folder& folder, std::vector<std::string> more) {
  std::vector<std::string> words{"simulate", "--model",  "llama3-8b", "-p",       "4",   "-m",
                                 "8",        "--memory", "off",       "--format", "json"};
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

TEST_CASE("kernels: measured ones are taken, and said to be, and off takes the formulas") {
  const Folder folder;
  const Report run = run_report(folder, {"--hardware", "h100"});
  const std::string told = fact(run, "kernel efficiency");
  CHECK(told.find("left out 3 % off in the median") != std::string::npos);
  CHECK(told.find("[measured]") != std::string::npos);
  CHECK(fact(run, "fused attention").find("[measured]") != std::string::npos);
  CHECK(fact(run, "kernel launches").find("62 us each") != std::string::npos);
  const Report formulas = run_report(folder, {"--hardware", "h100", "--kernels", "off"});
  CHECK(fact(formulas, "kernel efficiency").find("want of measurements") != std::string::npos);
  CHECK(step_time(formulas) != step_time(run));
  const Report old = run_report(folder, {"--hardware", "v100", "--dtype", "fp16"});
  CHECK(fact(old, "kernel efficiency").find("[modelled]") != std::string::npos);
}

TEST_CASE("kernels: of 32-bit products there is no table, which is said") {
  const Folder folder;
  const Report run = run_report(folder, {"--hardware", "h100", "--dtype", "fp32"});
  const std::string told = fact(run, "kernel efficiency");
  CAPTURE(told);
  CHECK(told.find("products by size in fp32: none measured, ") != std::string::npos);
  CHECK(told.find("[modelled]") != std::string::npos);
  CHECK(fact(run, "fused attention").find("[measured]") == std::string::npos);
  CHECK(fact(run, "passes over memory").find("[measured]") != std::string::npos);
}

TEST_CASE("kernels: a whole share is 100 %") {
  const Folder folder;
  std::string text = table_text("h100.csv");
  for (const char* pass : {"\nmemory,fwd,", "\nmemory,bwd,"}) {
    const std::size_t at = text.find(pass) + std::string(pass).size();
    text.replace(at, text.find('\n', at) - at, "1");
  }
  folder.write("whole.csv", text);
  const std::string told =
      fact(run_report(folder, {"--hardware", "h100", "--kernels", "whole.csv"}), "passes over memory");
  CHECK(told.find("100 % of the bandwidth forward, 100 % backward") != std::string::npos);
}

TEST_CASE("kernels: a file replaces them, of the same hardware only") {
  const Folder folder;
  folder.write("h100.csv", table_text("h100.csv"));
  CHECK(step_time(run_report(folder, {"--hardware", "h100", "--kernels", "h100.csv"})) ==
        step_time(run_report(folder, {"--hardware", "h100"})));
  CHECK(step_time(run_report(folder, {"--hardware", "h800", "--kernels", "h100.csv"})) > 0);
  const std::vector<std::string> words{"simulate", "--model", "llama3-8b", "-p", "4", "-m", "8"};
  const auto refusal = [&](std::vector<std::string> more) {
    std::vector<std::string> all = words;
    all.insert(all.end(), more.begin(), more.end());
    return folder.refusal(all);
  };
  CHECK(refusal({"--hardware", "b200", "--kernels", "h100.csv"}).find("F018") != std::string::npos);
}

TEST_CASE("kernels: small work waits for the host, says so, and CUDA graphs mend it") {
  const Folder folder;
  const std::vector<std::string> small{
      "--hardware", "h100",         "--sequence",
      "128",        "--model-size", "hidden=1024,heads=16,kv_heads=16,head_size=64,feed_forward=2048"};
  const Report eager = run_report(folder, small);
  CHECK(finds(eager, "F026"));
  std::vector<std::string> graphs = small;
  graphs.insert(graphs.end(), {"--cuda-graphs", "on"});
  const Report mended = run_report(folder, graphs);
  CHECK_FALSE(finds(mended, "F026"));
  CHECK(step_time(mended) < step_time(eager));
  CHECK(fact(mended, "kernel launches").find("[given]") != std::string::npos);
  CHECK_FALSE(finds(run_report(folder, {"--hardware", "h100", "--sequence", "8192"}), "F026"));
}

TEST_CASE("kernels: how long the host takes for a kernel can be given") {
  const Folder folder;
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"--hardware", "h100", "--sequence", "128"});
    return run_report(folder, more);
  };
  const Report usual = with({});
  CHECK(fact(usual, "kernel launches").find("[default]") != std::string::npos);
  const Report quick = with({"--host-launch", "6us"});
  CHECK(fact(quick, "kernel launches").find("6 us each") != std::string::npos);
  CHECK(fact(quick, "kernel launches").find("[given]") != std::string::npos);
  CHECK(step_time(quick) < step_time(usual));
  CHECK(step_time(with({"--host-launch", "62us"})) == step_time(usual));
  CHECK(step_time(with({"--host-launch", "0us"})) == step_time(with({"--cuda-graphs", "on"})));
}

TEST_CASE("kernels: recipes of 8-bit products differ, and are refused where there is nothing to scale") {
  const Folder folder;
  const auto with_recipe = [&](const std::string& hardware, const std::string& recipe) {
    return step_time(run_report(folder, {"--hardware", hardware, "--dtype", "fp8", "--fp8-recipe", recipe}));
  };
  CHECK(with_recipe("h100", "tensorwise") > with_recipe("h100", "delayed"));
  CHECK(with_recipe("h100", "blockwise") > with_recipe("h100", "delayed"));
  CHECK(with_recipe("b200", "mxfp8") > 0);
  const std::vector<std::string> words{"simulate", "--model", "llama3-8b", "-p", "4", "-m", "8", "--hardware", "h100"};
  std::vector<std::string> half = words;
  half.insert(half.end(), {"--fp8-recipe", "tensorwise"});
  std::vector<std::string> hopper = words;
  hopper.insert(hopper.end(), {"--dtype", "fp8", "--fp8-recipe", "mxfp8"});
}

TEST_CASE("kernels: every preset runs, and the list says where its kernels are from") {
  const Folder folder;
  const std::string list = folder.data({"list", "hardware"});
  for (const char* gpu : {"b300", "gb300", "h20", "h800", "a800", "l40s"}) {
    CAPTURE(gpu);
    CHECK(list.find(gpu) != std::string::npos);
    CHECK(step_time(run_report(folder, {"--hardware", gpu})) > 0);
  }
  CHECK(list.find("measured, table of h100") != std::string::npos);
  CHECK(list.find("assumed, the A100's shares") != std::string::npos);
}

TEST_CASE("kernels: the list says of every new preset what states its figures, and what is recalled") {
  const Folder folder;
  const Report list = Report::parse(folder.data({"list", "hardware", "--format", "json"}))["hardware"];
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
      CHECK(text.find(part) != std::string::npos);
    }
  }
  CHECK(of("b300").find("aiconfigurator@095f58a, b300_sxm.yaml") != std::string::npos);
  CHECK(of("b300").find("268 GiB at 7750 GB/s") != std::string::npos);  // 288,400,343,040 bytes; 7.75e12 a second
  CHECK(of("gb300").find("277 GiB at 8000 GB/s") != std::string::npos);
  for (const char* gpu : {"h20", "l40s"}) {
    CHECK(of(gpu).find("rates, memory and its bandwidth, multiprocessors") != std::string::npos);
  }
}

}  // namespace debubble::testing
