// Hardware of one's own through the real command: copied, edited, shown, measured, imported.
#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

using Tree = nlohmann::json;
// All that a run predicts, without what it was told.
std::string predicted(const Folder& folder, const Words& words) {
  const Outcome outcome = folder.run(joined(words, "--format json"));
  REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
  Tree run = Tree::parse(outcome.out);
  run.erase("command_line");
  run.erase("assumptions");
  return run.dump(1);
}

Words job_on(const std::string& hardware, const Words& more = {}) {
  return joined({"simulate", "--model", "llama3-8b", "-p", "4", "-m", "8", "--hardware", hardware}, more);
}

void copy_preset(const Folder& folder, const std::string& preset, const std::string& file) {
  const Outcome outcome = folder.run({"export", "--to", "hardware", preset, "-o", file});
  REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
}

void replace_in(const Folder& folder, const std::string& file, const std::string& from, const std::string& to) {
  std::string text = folder.read(file);
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  text.replace(at, from.size(), to);
  folder.write(file, text);
}

constexpr const char* kLeast =
    R"({"format": "debubble.hardware/1", "name": "mine",
        "peak_tflops": {"bf16": {"value": 400, "source": "published: a data sheet"}},
        "memory": {"size": {"value": "64GiB", "source": "measured: by rocm-smi"},
                   "bandwidth": {"value": "2TB/s", "source": "assumed: as it should be"}}})";

}  // namespace

TEST_CASE_IN_FOLDER("own hardware: a copied preset predicts the same, byte for byte") {
  for (const char* preset : {"h100", "a100-80", "b300", "v100", "l40s", "mi300x", "tpu-v5p"}) {
    CAPTURE(preset);
    copy_preset(folder, preset, "copy.json");
    const std::string dtype = std::string(preset) == "v100" ? "fp16" : "bf16";
    for (const Words& more :
         {Words{"--dtype", dtype, "--memory", "off"},
          Words{"--dtype", dtype, "--topology", "switch:8", "--dp", "2", "--step", "on", "--memory", "off"}}) {
      CHECK(predicted(folder, job_on(preset, more)) == predicted(folder, job_on("copy.json", more)));
    }
  }
}

TEST_CASE_IN_FOLDER("own hardware: an edited copy predicts something else, and every report says who says so") {
  folder.write("mine.json", kLeast);
  const Outcome outcome = folder.run(job_on("mine.json", "--format json --memory off"));
  REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
  const Tree run = Tree::parse(outcome.out);
  const auto fact = [&run](const std::string& what) {
    for (const Tree& one : run["assumptions"]) {
      if (contains(one["what"].get<std::string>(), what)) return one.dump();
    }
    return std::string();
  };
  CHECK(contains(fact("hardware"), R"("source":"given")"));
  CHECK(contains(fact("bf16 peak"), R"("source":"published")"));
  CHECK(contains(fact("bf16 peak"), "400 TFLOP/s (a data sheet)"));
  CHECK(contains(fact("device memory"), R"("source":"measured")"));
  CHECK(contains(fact("memory bandwidth"), R"("source":"default")"));
  CHECK(contains(fact("link bandwidth"), R"("source":"modelled")"));
  CHECK(contains(fact("matrix share"), "not in the file: the A100's"));
  folder.write("fast.json", kLeast);
  replace_in(folder, "fast.json", "400", "800");
  CHECK(predicted(folder, job_on("fast.json", "--memory off")) !=
        predicted(folder, job_on("mine.json", "--memory off")));
}

TEST_CASE_IN_FOLDER("own hardware: every verb that takes a name takes a file") {
  copy_preset(folder, "h100", "copy.json");
  for (const Words& words :
       {Words("compare --schedules 1f1b,gpipe"), Words("whatif --slow device=0:1.1"), Words("explain step"),
        Words("explain cost"), Words("export --to chrome-trace"), Words("sweep --schedule 1f1b")}) {
    CAPTURE(words[0]);
    const Outcome outcome = folder.run(joined(words, "--model gpt2-small -p 2 -m 4 --hardware copy.json"));
    CHECK_MESSAGE(outcome.status == 0, outcome.err);
  }
  const Outcome plan = folder.run("plan --model gpt2-small --gpus 2 --hardware copy.json");
  CHECK_MESSAGE(plan.status == 0, plan.err);
  CHECK(contains(plan.out, "copy.json"));
}

TEST_CASE_IN_FOLDER("own hardware: what is wrong is refused with its place") {
  CHECK(contains(folder.refusal(job_on("none.json")), "C005"));
  CHECK(contains(folder.refusal(job_on("h101")), "did you mean h100?"));
  folder.write("mine.json", kLeast);
  replace_in(folder, "mine.json", "64GiB", "64");
  replace_in(folder, "mine.json", "measured: by", "measured by");
  const std::string told = folder.refusal(job_on("mine.json"));
  CHECK(contains(told, "mine.json#/memory/size/value"));
  CHECK(contains(told, "mine.json#/memory/size/source"));
  CHECK(contains(told, "2 errors"));
  folder.write("mine.json", kLeast);
  const std::string format = folder.refusal(job_on("mine.json", "--dtype fp32"));
  CHECK(contains(format, "mine.json has no peak of fp32 products"));
  CHECK(contains(format, "write --dtype bf16"));
  CHECK(contains(folder.refusal(job_on("mine.json", "--dtype fp8")), "F018"));
  folder.write("long.json", std::string(300'000, ' '));
  CHECK(contains(folder.refusal(job_on("long.json")), "P017"));
  CHECK(contains(folder.refusal(job_on("gaudi3", "--dtype fp32")), "F018"));
}

TEST_CASE_IN_FOLDER("own hardware: list, explain and export") {
  const std::string list = folder.data("list hardware");
  for (const char* name :
       {"h20", "h800", "a800", "l40s", "b300", "gb300", "mi250x", "mi300x", "mi325x", "gaudi3", "tpu-v5p"}) {
    CHECK(contains(list, name));
  }
  std::size_t longest = 0;
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = list.find('\n', at);
    longest = std::max(longest, end - at);
    at = end + 1;
  }
  CHECK(longest <= 80);
  const std::string told = folder.data("explain hardware mi300x");
  CHECK(contains(told, "1307.4 TFLOP/s"));
  CHECK(contains(told, "AMD Instinct MI300X data sheet"));
  CHECK(contains(told, "the A100's shares, for want of measurements"));
  CHECK(contains(folder.data("list hardware mi300x"), "1307 TFLOP/s in 16 bits"));
  const Tree json = Tree::parse(folder.data("explain hardware h100 --format json"));
  CHECK(json["hardware"][0]["figures"].size() > 15);
  const std::string once = folder.data("export --to hardware h100");
  CHECK(contains(once, R"("name": "my-h100")"));
  folder.write("again.json", once);
  const std::string twice = folder.data("export --to hardware again.json");
  CHECK(twice == once);
}

TEST_CASE_IN_FOLDER("own hardware: calibrated on the CPU, for real") {
  const Outcome made = folder.run("profile --calibrate-hardware --device cpu -o cpu.json");
  REQUIRE_MESSAGE(made.status == 0, made.err);
  CHECK(contains(made.out, "27 products"));
  CHECK(folder.files() == "cpu.json");
  const Tree file = Tree::parse(folder.read("cpu.json"));
  CHECK(file["name"] == "cpu");
  CHECK(file["peak_tflops"]["fp32"]["value"].get<double>() > 0.0001);
  CHECK(contains(file["peak_tflops"]["fp32"]["source"].get<std::string>(), "measured: the fastest of 27 products"));
  CHECK(contains(file["shares"]["matrix"]["source"].get<std::string>(), "off in the median"));
  CHECK(contains(file["shares"]["attention"]["source"].get<std::string>(), "assumed: "));
  CHECK_FALSE(file["peak_tflops"].contains("bf16"));
  const Words job = "simulate --model gpt2-small -p 2 -m 4 --hardware cpu.json --memory off";
  const Outcome run = folder.run(joined(job, "--dtype fp32 --assumptions"));
  REQUIRE_MESSAGE(run.status == 0, run.err);
  CHECK(contains(run.out, "the fastest of 27"));
  CHECK(contains(folder.refusal(job), "write --dtype fp32"));
}

TEST_CASE_IN_FOLDER("own hardware: calibrated on a GPU, which is a fake one here") {
  const std::string library = FAKE_CUDA_LIBRARY;
  Surroundings fake;
  fake.environment = {"DEBUBBLE_LIBCUDA=" + library, "DEBUBBLE_CUBLASLT=" + library, "DEBUBBLE_NVRTC=" + library,
                      "FAKE_CUDA=idle,memory=268435456"};
  const Outcome made = folder.run("profile --calibrate-hardware -o gpu.json", fake);
  REQUIRE_MESSAGE(made.status == 0, made.err);
  CHECK(folder.files() == "gpu.json gpu.kernels.csv");
  const Tree file = Tree::parse(folder.read("gpu.json"));
  CHECK(file["kernels"]["file"] == "gpu.kernels.csv");
  CHECK(file["processors"]["count"]["value"] == 4);
  CHECK(contains(file["host"]["launch"]["source"].get<std::string>(), "a launch alone takes"));
  CHECK(contains(file["shares"]["sustained"]["source"].get<std::string>(), "for seconds"));
  const Outcome run = folder.run(job_on("gpu.json", "--memory off --assumptions"));
  REQUIRE_MESSAGE(run.status == 0, run.err);
  CHECK(contains(run.out, "gpu.kernels.csv"));
  CHECK(file["shares"]["kernel_gap"]["value"] == "3.104us");  // kFakeGap and kFakeTickKernel
  const Outcome none = folder.run("profile --calibrate-hardware -o other.json");
  CHECK(none.status == 3);
  CHECK(folder.files() == "gpu.json gpu.kernels.csv");
}

TEST_CASE_IN_FOLDER("own hardware: measured products become a table, or a file with its table") {
  std::string rows = "m,n,k,dtype,time_us\n";
  for (const int m : {256, 1024, 4096}) {
    for (const int n : {1024, 4096}) {
      for (const int k : {1024, 4096}) {
        const double us = 4 + 2e-6 * m * n * k / 600;
        rows += std::to_string(m) + "," + std::to_string(n) + "," + std::to_string(k) + ",bf16," + std::to_string(us) +
                "\n";
      }
    }
  }
  folder.write("gemm.csv", rows);
  const Words import = "import --from gemm-table gemm.csv";
  const Outcome table = folder.run(joined(import, "--hardware h100 -o t.csv"));
  REQUIRE_MESSAGE(table.status == 0, table.err);
  CHECK(contains(table.err, "12 products; each left out and predicted by the others"));
  const Outcome run = folder.run(job_on("h100", "--kernels t.csv --memory off --assumptions"));
  REQUIRE_MESSAGE(run.status == 0, run.err);
  CHECK(contains(run.out, "gemm.csv, 12"));
  const Outcome file = folder.run(joined(import, "--hardware h100 -o own.json"));
  REQUIRE_MESSAGE(file.status == 0, file.err);
  CHECK(folder.files() == "gemm.csv own.json own.kernels.csv t.csv");
  // The same products on the same hardware.
  CHECK(predicted(folder, job_on("h100", "--kernels t.csv --memory off")) ==
        predicted(folder, job_on("own.json", "--memory off")));
  CHECK(contains(folder.refusal(import), "nothing says which hardware was measured"));
  CHECK(contains(folder.refusal(joined(import, "--hardware v100")), "above the peak of v100"));
  CHECK(contains(folder.refusal(joined(import, "--hardware h100 --replica 1")), "C087"));
  CHECK(contains(folder.refusal("import --from pipedream gemm.csv --hardware h100"), "C087"));
  folder.write("single.csv", "m,n,k,dtype,time_us\n512,512,512,fp32,90\n1024,1024,1024,fp32,200\n");
  CHECK(contains(folder.refusal("import --from gemm-table single.csv --hardware h100 -o x.csv"),
                 "needs products in bf16"));
  const Outcome single = folder.run("import --from gemm-table single.csv --hardware h100 -o single.json");
  CHECK_MESSAGE(single.status == 0, single.err);
}

}  // namespace debubble::testing
