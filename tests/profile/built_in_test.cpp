// `debubble profile --model` through the real command, on the fake GPU. Its clock counts work, not time: the figures
// mean nothing beyond the plumbing.
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "formats/profile/profile_json.hpp"
#include "tests/profile/fakes.hpp"

namespace debubble::testing {
namespace {

Words tiny(const Words& more) {
  Words arguments = "profile --model tiny-gpt --seq 16 --iterations 3";
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST_CASE("a preset is measured: all its layers, with both halves of the backward and what they keep") {
  const Folder folder;
  const Outcome outcome = folder.run(tiny("--dtype fp32 -o p.json"), fake_machine());
  CAPTURE(outcome.err);
  CHECK(outcome.status == 0);
  CHECK(contains(outcome.out, "next   debubble compare --profile p.json -p 4 -m 8\n"));
  const Profile profile = read_profile(folder.read("p.json"), "p.json");
  CHECK(profile.model == "tiny-gpt");
  CHECK(profile.dtype == "fp32");
  CHECK(profile.microbatch_size == 1);
  CHECK(profile.sequence_length == 16);
  REQUIRE(profile.layers.size() == 4);
  CHECK(profile.layers.front().kind == "embedding");
  CHECK(profile.layers.back().kind == "head");
  for (const ProfileLayer& layer : profile.layers) {
    CAPTURE(layer.name);
    CHECK(layer.forward.median > 0);
    CHECK(layer.weight_grad.value().median > 0);
    CHECK(layer.activation > 0);
    CHECK(layer.parameters > 0);
  }
  CHECK(folder.run("simulate --profile p.json -p 2 -m 4").status == 0);
}

TEST_CASE("the libcupti of a virtual environment or of conda is found, named for the driver's CUDA") {
  const std::string package = "lib/python3.11/site-packages/nvidia/cuda_cupti/lib";
  for (const auto& [variable, place] : {std::pair<std::string, std::string>("VIRTUAL_ENV=", package),
                                        std::pair<std::string, std::string>("CONDA_PREFIX=", "lib")}) {
    const Folder folder;
    const std::string library = folder.path("env/" + place + "/libcupti.so.12");
    std::filesystem::create_directories(std::filesystem::path(library).parent_path());
    std::filesystem::copy_file(DEBUBBLE_FAKE_CUPTI, library);
    Surroundings surroundings = fake_machine();
    surroundings.environment.pop_back();  // DEBUBBLE_CUPTI
    surroundings.environment.insert(surroundings.environment.end(),
                                    {"FAKE_CUPTI_AT=" + library, variable + folder.path("env"),
                                     "FAKE_CUDA=driver=12090,libraries=12090", "FAKE_CUPTI=version=28"});
    const Outcome outcome = folder.run(tiny("--dtype fp32 -o p.json"), surroundings);
    CAPTURE(outcome.err);
    CHECK(outcome.status == 0);
    CHECK(read_profile(folder.read("p.json"), "p.json").origin.cuda == "12.9");
  }
}

TEST_CASE("without -o the file is named after model and size, and with --format json the profile is on stdout only") {
  const Folder folder;
  const Outcome text = folder.run(tiny("--microbatch 2"), fake_machine());
  CHECK(text.status == 0);
  CHECK(folder.files() == "tiny-gpt-b2-s16-bf16.json");
  const Folder other;
  const Outcome json = other.run(tiny("--format json"), fake_machine());
  CHECK(json.status == 0);
  CHECK(other.files().empty());
  CHECK(read_profile(json.out, "stdout").model == "tiny-gpt");
}

TEST_CASE("a sweep makes a profile per size in a folder, and a table of them") {
  const Folder folder;
  const Outcome outcome =
      folder.run("profile --model tiny-llama --iterations 3 --dtype fp32 --sweep microbatch=1,2 --sweep seq=8 -o sizes",
                 fake_machine());
  CAPTURE(outcome.err);
  CHECK(outcome.status == 0);
  CHECK(contains(outcome.out, "profiles in sizes\n"));
  for (const char* size : {"b1-s8", "b2-s8"}) {
    const std::string file = "tiny-llama-" + std::string(size) + "-fp32.json";
    CHECK(contains(outcome.out, file));
    const Profile profile = read_profile(folder.read("sizes/" + file), file);
    CHECK(profile.layers.size() == 4);
    REQUIRE(profile.transformer.has_value());
    CHECK(profile.transformer->gated);
    CHECK(profile.transformer->tensor_parallel == 1);
  }
  // What it says next works, and so do sizes that were not measured.
  CHECK(contains(outcome.out, "next   debubble compare --profile sizes --microbatch-size 2 --sequence 8 -p 4 -m 8\n"));
  CHECK(folder.run("compare --schedules 1f1b --profile sizes --microbatch-size 2 --sequence 8 -p 2 -m 8").status == 0);
  const Outcome three = folder.run("simulate --profile sizes --microbatch-size 3 -p 2 -m 4 --format json");
  CHECK(three.status == 0);
  CHECK(contains(three.out, "extrapolated from microbatch 1 and 2, by "));
}

TEST_CASE("a self check comes first and says how much it checked, and --checks compares kernels with events") {
  const Folder folder;
  const Outcome outcome = folder.run(tiny("--dtype fp32 --self-check --checks c.json -o p.json"), fake_machine());
  CAPTURE(outcome.err);
  CHECK(outcome.status == 0);
  CHECK(contains(outcome.err, "passes compute the right numbers\n"));
  CHECK(contains(folder.read("c.json"), R"({"layer": "block", "pass": "F", "by_kernels_ns": )"));
}

TEST_CASE("a size that does not fit makes a row and status 1, and the others are measured") {
  const Folder folder;
  const Outcome outcome =
      folder.run("profile --model tiny-gpt --iterations 3 --dtype fp32 --sweep microbatch=1,1000000 --seq 16 -o sizes",
                 fake_machine({"FAKE_CUDA=memory=268435456"}));  // what the fake GPU hands out is the host's
  CAPTURE(outcome.err);
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.err, "out of"));
  CHECK(std::filesystem::exists(folder.path("sizes/tiny-gpt-b1-s16-fp32.json")));
}

TEST_CASE("a config.json is measured like a preset") {
  const Folder folder;
  folder.write(
      "config.json",
      R"({"model_type": "gpt2", "n_layer": 2, "n_embd": 32, "n_head": 2, "vocab_size": 50, "n_positions": 32})");
  const Outcome outcome = folder.run("profile --model config.json --seq 8 --iterations 3 -o p.json", fake_machine());
  CAPTURE(outcome.err);
  CHECK(outcome.status == 0);
  CHECK(read_profile(folder.read("p.json"), "p.json").layers.size() == 4);
}

TEST_CASE("a machine without a GPU is told what is missing: status 3, no file") {
  const Folder folder;
  Surroundings nothing;
  nothing.environment = {"DEBUBBLE_LIBCUDA=/nonexistent/libcuda.so.1"};
  const Outcome outcome = folder.run("profile --model gpt-1.3b -o p.json", nothing);
  CHECK(outcome.status == 3);
  CHECK(contains(outcome.err, "error[U020]: "));
  CHECK(folder.files().empty());
}

}  // namespace
}  // namespace debubble::testing
