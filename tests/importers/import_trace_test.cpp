// `debubble import --from kineto|nsys|records`, run as people run it, on recordings of a made-up training run whose
// times are known (make_golden.py).
#include "tests/importers/database.hpp"
#include "tests/support/command.hpp"
#include "tests/support/places.hpp"

namespace debubble::testing {
namespace {

using Json = nlohmann::json;

std::string golden(const std::string& name) { return DEBUBBLE_RECORDINGS_MADE "/" + name; }

Json profile_of(const Folder& folder, Words arguments) {
  arguments.insert(arguments.begin(), {"import", "--from"});
  const Outcome outcome = folder.run(arguments);
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == 0);
  return Json::parse(outcome.out);
}

// "name F I W" of every layer, in ns.
std::string times_of(const Json& profile) {
  std::string text;
  for (const Json& layer : profile["layers"]) {
    text += layer["name"].get<std::string>();
    for (const char* phase : {"forward", "input_grad", "weight_grad"}) {
      text += " " + std::to_string(layer[phase]["median_ns"].get<std::int64_t>());
    }
    text += layer.contains("count") ? " x" + std::to_string(layer["count"].get<int>()) + "\n" : "\n";
  }
  return text;
}

std::int64_t rest_of(const Json& profile) {
  std::int64_t sum = 0;
  for (const Json& item : profile["measurement"]["rest"]) sum += item["total_ns"].get<std::int64_t>();
  return sum;
}

TEST_CASE_IN_FOLDER("a trace with modules: layers by themselves, every nanosecond accounted for") {
  const Json profile = profile_of(folder, {"kineto", golden("training-rank0.json")});
  CHECK(times_of(profile) == "Embedding_0 11125 0 14250\nBlock_0 70500 74500 71125 x2\nLinear_4 20125 21125 20250\n");
  const Json& measured = profile["measurement"];
  CHECK(measured["kernel_time_ns"] == 1805250);
  CHECK(measured["layer_time_ns"].get<std::int64_t>() + rest_of(profile) == 1805250);
  CHECK(profile["layers"][1]["activation_bytes"] == 32 * 64 * 2 + 32 * 16 * 2);
  CHECK(profile["origin"]["device"] == "Made-up GPU");
  CHECK(profile["origin"]["date"] == "2025-07-18");
}

TEST_CASE_IN_FOLDER("an Nsight Systems export of the same run says the same") {
  folder.write("training-rank0.sqlite", Database(contents_of(golden("training.sql"))).image());
  const std::string layers = "^nn\\.Module: (Block_\\d+|Embedding_0|Linear_4)$";
  Json nsys = profile_of(folder, {"nsys", "training-rank0.sqlite", "--layers", layers});
  Json kineto = profile_of(folder, {"kineto", golden("training-rank0.json"), "--layers", layers});
  kineto["origin"].erase("cuda");  // no column says it
  CHECK(nsys == kineto);
}

TEST_CASE_IN_FOLDER(
    "what import writes of kernels without names or without time, simulate takes, or import refuses it") {
  const std::string run = contents_of(golden("training.sql"));
  const std::string kernels = "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET ";
  const Words import = "import --from nsys r.sqlite -o p.json --layers none";
  folder.write("r.sqlite", Database(run + kernels + "demangledName = 987654, shortName = 987654;").image());
  CHECK(folder.run(import).status == 0);
  CHECK(folder.json("simulate --profile p.json -p 1 -m 4 --format json")["makespan_ns"] > 0);
  folder.write("r.sqlite",
               Database(run + kernels + "end = start; UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET end = start;").image());
  const Outcome refused = folder.run(import);
  CHECK(refused.status == 2);
  CHECK(contains(refused.err, "error[A003]: no GPU work was recorded"));
}

TEST_CASE_IN_FOLDER("a kernel's name that is not UTF-8 leaves a profile that is JSON") {
  std::string rows = contents_of(golden("training.sql"));
  const std::string name = "'gelu_kernel'";
  rows.replace(rows.find(name), name.size(), "CAST(x'67ff756c' AS TEXT)");
  folder.write("p.sqlite", Database(rows).image());
  const Json profile = profile_of(folder, {"nsys", "p.sqlite", "--layers", "^nn\\.Module: Block_\\d+$"});
  CHECK(contains(profile["layers"][0]["kernels"].dump(), "g\xef\xbf\xbdul"));
}

TEST_CASE_IN_FOLDER("several ranks are instances of the same layers") {
  const Outcome outcome = folder.run(
      {"import", "--from", "kineto", golden("training-rank0.json"), golden("training-rank1.json"), "-o", "p.json"});
  CHECK(outcome.status == 0);
  const Json profile = Json::parse(folder.read("p.json"));
  CHECK(profile["layers"][1]["forward"] ==
        Json({{"median_ns", 70500}, {"p10_ns", 70500}, {"p90_ns", 74500}, {"n", 6}}));
  CHECK(profile["measurement"]["kernel_time_ns"] == 2 * 1805250 + 138 * 1000);
  CHECK(contains(outcome.err, "note: 2 ranks: layers of the same name were taken for replicas of one layer\n"));
  CHECK(contains(outcome.err,
                 "training-rank0: 3.749 ms of GPU time: 86.4 % in 4 layers; optimizer 2.5 %, communication 8.1 %, "
                 "copies 1.5 %, outside layers 1.5 %\nnext: debubble compare --profile p.json -p 4 -m 8\n"));
  CHECK(folder.files() == "p.json");
}

TEST_CASE_IN_FOLDER("of several traces --rank takes one, by the rank that they say") {
  const Words both{golden("training-rank0.json"), golden("training-rank1.json")};
  Json one = profile_of(folder, {"kineto", both[0], both[1], "--rank", "1", "--model", "m"});
  CHECK(one == profile_of(folder, {"kineto", both[1], "--model", "m"}));
  CHECK(folder.refusal({"import", "--from", "kineto", both[0], both[1], "--rank", "4"}) ==
        "error[C012]: no recording is of rank 4\n  --> --rank\n  = help: there are ranks 0, 1\n");
  CHECK(folder.refusal({"import", "--from", "kineto", both[0], "--rank", "-2"}) ==
        "error[C012]: ranks count from 0; got -2\n  --> --rank\n  = help: leave --rank out for all ranks\n");
}

TEST_CASE_IN_FOLDER("recomputed blocks are told from forward and charged to backward") {
  const Json profile = profile_of(folder, {"kineto", golden("recompute.json")});
  CHECK(times_of(profile) == "embedding 11125 0 14250\nblock.0 70500 145000 71125 x2\nhead 20125 21125 20250\n");
  CHECK(profile["measurement"]["layer_time_ns"].get<std::int64_t>() + rest_of(profile) ==
        profile["measurement"]["kernel_time_ns"]);
}

TEST_CASE_IN_FOLDER("names and numbers of 2021 mean the same") {
  const Json profile = profile_of(folder, {"kineto", golden("old.json")});
  CHECK(times_of(profile) ==
        "embedding 11000 0 14000\nblock.0 71000 74000 71000\nblock.1 70000 74000 70000\nhead 20000 21000 20000\n");
  CHECK(profile["measurement"]["losses"] == Json::parse(R"([{"what": "kernels without times", "count": 1}])"));
}

TEST_CASE_IN_FOLDER("without layers the model is one, and that is said") {
  const Outcome outcome =
      folder.run({"import", "--from", "kineto", golden("training-rank0.json"), "--layers", "none", "-o", "p.json"});
  CHECK(outcome.status == 0);
  const Json profile = Json::parse(folder.read("p.json"));
  REQUIRE(profile["layers"].size() == 1);
  CHECK(profile["layers"][0]["name"] == "model");
  CHECK(profile["measurement"]["layer_time_ns"].get<std::int64_t>() + rest_of(profile) == 1805250);
  CHECK(
      outcome.err.starts_with("note: --layers none: one layer, whose times are those of a whole step; nothing is said "
                              "of its parts\n"));
}

// A kernel of 20 us in a layer of debubble's own name.
const std::string kInference = R"({"traceEvents": [
{"ph": "X", "cat": "user_annotation", "name": "debubble.layer:block.0", "pid": 1, "tid": 1, "ts": 10.0, "dur": 40},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 12.0, "dur": 2, "args": {"correlation": 1}},
{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 20.5, "dur": 20, "args": {"correlation": 1, "device": 0, "context": 1, "stream": 7}}
]})";

TEST_CASE_IN_FOLDER("without layers the recording's own ones count as one too") {
  folder.write("t.json", kInference);
  const Json profile = profile_of(folder, "kineto t.json --layers none");
  REQUIRE(profile["layers"].size() == 1);
  CHECK(profile["layers"][0]["name"] == "model");
}

TEST_CASE_IN_FOLDER("as one layer, the phases of all layers of a step add up") {
  std::string events;
  const auto add = [&](std::string_view category, const std::string& name, int tid, int begin, int duration,
                       const std::string& args) {
    events += std::string(events.empty() ? "" : ",\n") + R"({"ph": "X", "pid": 1, "cat": ")" + std::string(category) +
              R"(", "name": ")" + name + R"(", "tid": )" + std::to_string(tid) + R"(, "ts": )" + std::to_string(begin) +
              R"(.0, "dur": )" + std::to_string(duration) + R"(, "args": {)" + args + "}}";
  };
  int launches = 0;
  for (int step = 0; step < 3; ++step) {
    add("user_annotation", "debubble.step:" + std::to_string(step), 1, 1000 * step, 900, "");
    for (const std::string range : {"0:F", "1:F", "1:I", "1:W", "0:I", "0:W"}) {
      const int at = 1000 * step + 10 + 100 * (launches % 6);
      const std::string correlation = "\"correlation\": " + std::to_string(++launches);
      add("user_annotation", "debubble.layer:" + range.substr(0, 1), 1, at, 80, "");
      add("user_annotation", "debubble.phase:" + range.substr(2), 1, at + 1, 70, "");
      add("cuda_runtime", "cudaLaunchKernel", 1, at + 5, 1, correlation);
      add("kernel", "gemm", 7, at + 10, 20, correlation + R"(, "device": 0, "context": 1, "stream": 7)");
    }
  }
  folder.write("t.json", "{\"traceEvents\": [" + events + "]}");
  CHECK(times_of(profile_of(folder, "kineto t.json --layers none")) == "model 40000 40000 40000\n");
  CHECK(times_of(profile_of(folder, "kineto t.json")) == "0 20000 20000 20000 x2\n");
}

TEST_CASE_IN_FOLDER("a recording of inference is imported, but no schedule is suggested") {
  folder.write("t.json", kInference);
  const Outcome outcome = folder.run("import --from kineto t.json -o p.json");
  CHECK(outcome.status == 0);
  CHECK(contains(outcome.err, "no backward was recorded (inference?): a schedule of this profile means nothing\n"));
  CHECK_FALSE(contains(outcome.err, "next:"));
  CHECK(
      contains(folder.run({"import", "--from", "kineto", golden("training-rank0.json"), "-o", "p.json"}).err, "next:"));
}

TEST_CASE_IN_FOLDER("sizes that the hooks saw are not cut to 32 bits") {
  folder.write("t.json", kInference);
  folder.write("h.json",
               R"({"schema": "debubble.hooks/1", "schema_version": 1, "complete": true, "model": "m", "dtype": "bf16",
"microbatch_size": 4294967297, "sequence_length": 8589934595, "rank": 0, "pid": 1, "input_shapes": [], "steps": 1,
"outside_bytes": 0, "notes": [], "layers": []})");
  const Json profile = profile_of(folder, "kineto t.json --hooks h.json");
  CHECK(profile["microbatch_size"] == 4294967297);
  CHECK(profile["sequence_length"] == 8589934595);
}

TEST_CASE_IN_FOLDER("what flags say of the model stands in the profile") {
  const Json profile = profile_of(
      folder, {"kineto", golden("old.json"), "--model", "toy", "--dtype", "bf16", "--microbatch", "4", "--seq", "8"});
  CHECK(profile["model"] == "toy");
  CHECK(profile["dtype"] == "bf16");
  CHECK(profile["microbatch_size"] == 4);
  CHECK(profile["sequence_length"] == 8);
}

TEST_CASE_IN_FOLDER("the explanation names every kernel, its layer and the rule, and adds up") {
  const Outcome text = folder.run({"import", "--from", "kineto", golden("training-rank0.json"), "--explain"});
  CHECK(text.status == 0);
  CHECK(contains(text.out, "\n 8.3 %  150.4      3  communication          rest     ncclDevKernel_AllR..\n"));
  CHECK(text.out.ends_with("sum  1.805 ms of GPU time\n"));
  for (std::size_t begin = 0, end = 0; (end = text.out.find('\n', begin)) != std::string::npos; begin = end + 1) {
    CHECK(end - begin <= 80);
  }
  const Outcome json = folder.run(
      {"import", "--from", "kineto", golden("training-rank0.json"), "--explain", "--format", "json", "-o", "p.json"});
  const Json explained = Json::parse(json.out);
  std::int64_t sum = 0;
  std::int64_t count = 0;
  for (const Json& one : explained["explanations"]) {
    sum += one["total_ns"].get<std::int64_t>();
    count += one["count"].get<std::int64_t>();
  }
  CHECK(sum == 1805250);
  CHECK(explained["total_ns"] == 1805250);
  CHECK(count == Json::parse(folder.read("p.json"))["measurement"]["kernels"]);
}

TEST_CASE_IN_FOLDER("a profile from a trace can be simulated at once") {
  REQUIRE(folder.run({"import", "--from", "kineto", golden("training-rank0.json"), "-o", "p.json.gz"}).status == 0);
  REQUIRE(folder.run({"import", "--from", "kineto", golden("training-rank0.json"), "-o", "p.json"}).status == 0);
  const Outcome outcome = folder.run("simulate --profile p.json -p 2 -m 4");
  CHECK(outcome.status == 0);
  CHECK(contains(outcome.out, "bubble"));
}

TEST_CASE_IN_FOLDER("the profiles are as recorded") {
  for (const std::string name : {"training-rank0", "recompute", "old"}) {
    CAPTURE(name);
    CHECK(folder.run({"import", "--from", "kineto", golden(name + ".json")}).out ==
          contents_of(source_directory() + "/tests/importers/golden/profiles/" + name + ".json"));
  }
}

}  // namespace
}  // namespace debubble::testing
