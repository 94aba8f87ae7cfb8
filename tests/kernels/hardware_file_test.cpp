// Files of hardware: what the reader takes, what it refuses, and that writing and reading are each other's inverse.
#include "scenario/request/hardware_file.hpp"
#include "cost_models/transformer/kernel_time.hpp"
#include "scenario/job/hardware_facts.hpp"
#include "scenario/request/hardware_fields.hpp"
#include "tests/support/command.hpp"
#include "tests/support/test.hpp"

namespace debubble::testing {
namespace {

std::shared_ptr<const KernelTables> table_named(const std::string& file) {
  if (file != "my.csv") throw InputError(Diagnostic{"C005", file, "there is none", "write it"});
  auto made = std::make_shared<KernelTables>();
  made->hardware = "my-gpu";
  return made;
}

// A file of the least that there must be, with `more` members.
std::string file_with(const std::string& more,
                      const std::string& peak = "\"bf16\": {\"value\": 400, \"source\": \"published: sheet\"}") {
  return "{\"format\": \"debubble.hardware/1\", \"name\": \"my-gpu\", \"peak_tflops\": {" + peak +
         "}, \"memory\": {\"size\": {\"value\": \"64GiB\", \"source\": \"measured: here\"}, "
         "\"bandwidth\": {\"value\": \"2TB/s\", \"source\": \"published: sheet\"}}" +
         (more.empty() ? "" : ", " + more) + "}";
}

Hardware read_from(const std::string& text) { return read_hardware(text, "f.json", table_named); }

std::string problems_of(const std::string& text) {
  std::string all;
  for (const Diagnostic& one : diagnostics_of([&] { (void)read_from(text); }))
    all += one.code + " " + one.place + ": " + one.message + "\n";
  return all;
}

}  // namespace

TEST_CASE("hardware file: the least there must be, and what is missing says what holds instead") {
  const Hardware made = read_from(file_with(""));
  CHECK(made.half_flops == 400e12);
  CHECK(made.memory == Bytes{64} << 30);
  CHECK(made.memory_bandwidth == 2'000'000'000'000);
  CHECK(made.multiprocessors == 0);
  CHECK(made.link_bandwidth == made.host_bandwidth);
  CHECK(made.link_latency == 3400);
  CHECK_FALSE(made.host_launch);
  CHECK_FALSE(hardware_links(made));
  CHECK(usual_efficiency(made).matrix == usual_efficiency(*find_hardware("a100")).matrix);
  REQUIRE(made.own != nullptr);
  const HardwareSources& sources = made.own->sources;
  CHECK(source_of(sources, "memory/size").quality == Source::kMeasured);
  CHECK(source_of(sources, "memory/bandwidth").text == "sheet");
  CHECK(source_of(sources, "shares/matrix").quality == Source::kDefault);
  CHECK(contains(source_of(sources, "link/bandwidth").text, "not in the file: that of the link to the host"));
  CHECK(source_of(sources, "link/bandwidth").quality == Source::kModelled);
  CHECK(source_of(sources, "host/launch").quality == Source::kDefault);
}

TEST_CASE("hardware file: every preset survives being written and read, to the last bit") {
  for (const Hardware& preset : hardware_presets()) {
    CAPTURE(preset.name);
    const std::string text = write_hardware(preset, "my-" + preset.name);
    const Hardware back = read_from(text);
    CHECK(back.fp32_flops == preset.fp32_flops);
    CHECK(back.half_flops == preset.half_flops);
    CHECK(back.fp8_flops == preset.fp8_flops);
    CHECK(back.multiprocessors == preset.multiprocessors);
    CHECK(back.tile_rows == preset.tile_rows);
    CHECK(back.tile_columns == preset.tile_columns);
    CHECK(back.memory == preset.memory);
    CHECK(back.memory_bandwidth == preset.memory_bandwidth);
    CHECK(back.host_bandwidth == preset.host_bandwidth);
    CHECK(back.link_bandwidth == preset.link_bandwidth);
    CHECK(back.link_latency == preset.link_latency);
    CHECK(back.kernels == preset.kernels);
    CHECK(back.mxfp8 == preset.mxfp8);
    CHECK(back.structured_sparsity == preset.structured_sparsity);
    CHECK(hardware_links(back) == hardware_links(preset));
    const Efficiency a = usual_efficiency(preset);
    const Efficiency b = usual_efficiency(back);
    CHECK(a.matrix == b.matrix);
    CHECK(a.sustained == b.sustained);
    CHECK(a.half_k == b.half_k);
    CHECK(a.attention == b.attention);
    CHECK(a.memory == b.memory);
    CHECK(a.per_kernel == b.per_kernel);
    CHECK(write_hardware(back, back.name) == text);
  }
}

TEST_CASE("hardware file: a preset's figures all say where they are from") {
  for (const Hardware& preset : hardware_presets()) {
    CAPTURE(preset.name);
    for (const Assumption& fact : hardware_facts(preset)) {
      CAPTURE(fact.key);
      CHECK_FALSE(fact.citation.empty());
      CHECK_FALSE(fact.amount.empty());
    }
    CHECK(hardware_quality(preset).figures == "published");
  }
  CHECK(hardware_of_device("AMD Instinct MI300X") == find_hardware("mi300x"));
  CHECK(hardware_of_device("TPU v5 lite") == nullptr);
  CHECK(hardware_of_device("NVIDIA A100-SXM4-40GB") == find_hardware("a100-40"));
}

TEST_CASE("hardware file: what is wrong is told with its place, all at once") {
  CHECK(contains(problems_of("{}"), "P010"));
  CHECK(contains(problems_of(R"({"format": "debubble.hardware/2"})"), "P010 f.json#/format"));
  const std::string least = problems_of(R"({"format": "debubble.hardware/1", "name": "x"})");
  CHECK(contains(least, "\"peak_tflops\" is missing"));
  CHECK(contains(least, "\"memory\" is missing"));
  CHECK(contains(problems_of(file_with("", "")), "P006 f.json#/peak_tflops: no peak is given"));
  const std::string several = problems_of(file_with(
      R"("links": 1, "host": {"launch": {"value": "3 parsecs", "source": "measured: x"}, "lunch": 1},)"
      R"("shares": {"matrix": {"value": 1.5, "source": "measured: x"}, "memory": {"value": 0.5, "source": "said"}},)"
      R"("processors": {"count": {"value": 1.5, "source": "measured: x"}, "tile_rows": {"value": 64}})"));
  for (const char* part :
       {"P005 f.json#: unknown key \"links\"", "C014 f.json#/host/launch/value", "P005 f.json#/host: unknown key",
        "P004 f.json#/shares/matrix/value", "P012 f.json#/shares/memory/source", "P007 f.json#/processors/count/value",
        "P006 f.json#/processors/tile_rows: \"source\" is missing"}) {
    CAPTURE(part);
    CAPTURE(several);
    CHECK(contains(several, part));
  }
}

TEST_CASE("hardware file: numbers at their limits, and beyond") {
  const auto count = [](const std::string& value) {
    return problems_of(
        file_with("\"processors\": {\"count\": {\"value\": " + value + ", \"source\": \"measured: x\"}}"));
  };
  CHECK(count("1").empty());
  CHECK(count("1000000").empty());
  CHECK(contains(count("0"), "P004"));
  CHECK(contains(count("1000001"), "P004"));
  const auto peak = [](const std::string& value) {
    return problems_of(file_with("", "\"fp8\": {\"value\": " + value + ", \"source\": \"measured: x\"}"));
  };
  CHECK(peak("0.000001").empty());
  CHECK(peak("1000000").empty());
  CHECK(contains(peak("0"), "P004"));
  CHECK(contains(peak("1000001"), "P004"));
  CHECK(contains(peak("1e999"), "P0"));
  CHECK(contains(peak("\"400\""), "P007"));
}

TEST_CASE("hardware file: names") {
  const auto named = [](const std::string& name) {
    return problems_of(R"({"format": "debubble.hardware/1", "name": ")" + name +
                       R"(", "peak_tflops": {"bf16": {"value": 1, "source": "assumed: x"}}, "memory":)"
                       R"({"size": {"value": "1GiB", "source": "assumed: x"},)"
                       R"("bandwidth": {"value": "1GB/s", "source": "assumed: x"}}})");
  };
  CHECK(named("h100-pcie_2.0").empty());
  CHECK(contains(named("h100"), "is the name of hardware that debubble knows"));
  CHECK(contains(named("a100"), "is the name of hardware that debubble knows"));
  CHECK(contains(named("my gpu"), "cannot be the name"));
  CHECK(named(std::string(60, 'x')).empty());
  CHECK(contains(named(std::string(61, 'x')), "cannot be the name"));
}

TEST_CASE("hardware file: shares of other hardware, of which single ones are replaced") {
  const Hardware made = read_from(file_with(
      R"("shares": {"of": "b200", "source": "assumed: alike", "matrix": {"value": 0.5, "source": "measured: 3 products"}})"));
  CHECK(usual_efficiency(made).matrix == 0.5);
  CHECK(usual_efficiency(made).half_k == usual_efficiency(*find_hardware("b200")).half_k);
  CHECK(source_of(made.own->sources, "shares/matrix").quality == Source::kMeasured);
  CHECK(source_of(made.own->sources, "shares/half_k").text == "alike");
  CHECK(hardware_quality(made).kernels == "measured, shares of b200");
  CHECK(contains(problems_of(file_with(R"("shares": {"of": "b201", "source": "assumed: x"})")),
                 "P012 f.json#/shares/of"));
  CHECK(contains(problems_of(file_with(R"("shares": {"of": "b200"})")), "\"source\" is missing"));
  CHECK(contains(problems_of(file_with(R"("shares": {"source": "assumed: x"})")), "P006 f.json#/shares"));
}

TEST_CASE("hardware file: kernels of a preset or beside") {
  CHECK(read_from(file_with(R"("kernels": {"of": "h100", "source": "assumed: alike"})")).kernels == "h100");
  const Hardware beside = read_from(file_with(R"("kernels": {"file": "my.csv", "source": "measured: here"})"));
  REQUIRE(beside.own->tables != nullptr);
  CHECK(hardware_quality(beside).kernels == "measured, my.csv");
  const auto refused = [](const std::string& kernels) { return problems_of(file_with("\"kernels\": " + kernels)); };
  CHECK(contains(refused(R"({"of": "v100", "source": "assumed: x"})"), "there is no table of kernels of \"v100\""));
  CHECK(contains(refused(R"({"of": "h100"})"), "\"source\" is missing"));
  CHECK(contains(refused(R"({"source": "assumed: x"})"), "either of a GPU or in a file"));
  CHECK(
      contains(refused(R"({"of": "h100", "file": "my.csv", "source": "assumed: x"})"), "either of a GPU or in a file"));
  CHECK(contains(refused(R"({"file": "../my.csv", "source": "assumed: x"})"), "does not lie beside"));
  CHECK(contains(refused(R"({"file": "none.csv", "source": "assumed: x"})"), "C005 f.json#/kernels/file"));
  const std::string single = R"("fp32": {"value": 1, "source": "assumed: x"})";
  CHECK(contains(problems_of(file_with(R"("kernels": {"of": "h100", "source": "assumed: x"})", single)),
                 "the hardware no peak of them"));
  std::string other = file_with(R"("kernels": {"file": "my.csv", "source": "measured: here"})");
  other.replace(other.find("my-gpu"), 6, "my-cpu");
  CHECK(contains(problems_of(other), "was measured on \"my-gpu\", and this is \"my-cpu\""));
}

TEST_CASE("hardware file: links by their words") {
  const auto links = [](const std::string& word) {
    return file_with("\"link\": {\"generation\": {\"value\": " + word + ", \"source\": \"assumed: x\"}}");
  };
  CHECK(hardware_links(read_from(links("\"NVLink 4\""))) == LinkGeneration::kHopper);
  CHECK_FALSE(hardware_links(read_from(links("\"none\""))));
  CHECK(contains(problems_of(links("\"NVLink 9\"")), "P012 f.json#/link/generation/value"));
  CHECK(contains(problems_of(links("4")), "P012 f.json#/link/generation/value"));
}

// Hardware of one's own, calibrated by the real command on a fake GPU; hardware_cli.transcript is about the rest.

TEST_CASE_IN_FOLDER("own hardware: calibrated on a GPU, which is a fake one here") {
  const std::string library = FAKE_CUDA_LIBRARY;
  Surroundings fake;
  fake.environment = {"DEBUBBLE_LIBCUDA=" + library, "DEBUBBLE_CUBLASLT=" + library, "DEBUBBLE_NVRTC=" + library,
                      "FAKE_CUDA=idle,memory=268435456"};
  const Outcome made = folder.run("profile --calibrate-hardware -o gpu.json", fake);
  REQUIRE_MESSAGE(made.status == 0, made.err);
  CHECK(folder.files() == "gpu.json gpu.kernels.csv");
  const auto file = nlohmann::json::parse(folder.read("gpu.json"));
  CHECK(file["kernels"]["file"] == "gpu.kernels.csv");
  CHECK(file["processors"]["count"]["value"] == 4);
  CHECK(contains(file["host"]["launch"]["source"].get<std::string>(), "a launch alone takes"));
  CHECK(contains(file["shares"]["sustained"]["source"].get<std::string>(), "for seconds"));
  const Outcome run = folder.run("simulate --model llama3-8b -p 4 -m 8 --hardware gpu.json --memory off --assumptions");
  REQUIRE_MESSAGE(run.status == 0, run.err);
  CHECK(contains(run.out, "gpu.kernels.csv"));
  CHECK(file["shares"]["kernel_gap"]["value"] == "3.104us");  // kFakeGap and kFakeTickKernel
  const Outcome none = folder.run("profile --calibrate-hardware -o other.json");
  CHECK(none.status == 3);
  CHECK(folder.files() == "gpu.json gpu.kernels.csv");
}

}  // namespace debubble::testing
