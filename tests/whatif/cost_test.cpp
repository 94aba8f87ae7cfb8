// `debubble explain cost`, as people run it: operators of layers, and what changes would bring.
#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

using nlohmann::json;
Words cost_words(const Words& flags, const Words& more = {}) {
  Words words = "explain cost --memory off";
  words.insert(words.end(), flags.begin(), flags.end());
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

json costs(const Folder& folder, const Words& flags) { return folder.json(cost_words(flags, "--format json")); }

std::int64_t time_of(const json& operators, const char* key, const std::string& passes) {
  std::int64_t sum = 0;
  for (const json& op : operators) {
    if (contains(passes, op["pass"].get<std::string>())) sum += op[key].get<std::int64_t>();
  }
  return sum;
}

std::int64_t phase_time(const json& layer, const char* phase) { return layer[phase]["time_ns"].get<std::int64_t>(); }

const json* change_called(const json& story, const std::string& name) {
  for (const json& change : story["cost_changes"]) {
    if (change["name"] == name) return &change;
  }
  return nullptr;
}

const std::vector<Words> kCosted{
    {"--model", "gpt3-175b", "--hardware", "a100", "--tp", "8"},
    {"--model", "llama3-70b", "--hardware", "h100", "--tp", "8", "--sequence-parallel", "--recompute", "full"},
    {"--model", "llama3-70b", "--hardware", "h100", "--tp", "4", "--dtype", "fp8", "--topology", "dgx-h100:2"},
    {"--model", "deepseek-v3", "--hardware", "h100", "--dp", "8", "--ep", "8", "--dtype", "fp8", "--fp8-recipe",
     "blockwise"},
    {"--model", "tiny-gpt", "--attention", "unfused", "--recompute", "selective", "--dropout"}};

}  // namespace

TEST_CASE_IN_FOLDER("explain cost: operators and waits are the layers, and layers the step of one microbatch") {
  for (const Words& flags : kCosted) {
    CAPTURE(flags);
    Words one = flags;
    one.insert(one.end(), {"-p", "1", "-m", "1", "--step", "off"});
    const json story = costs(folder, one);
    std::int64_t whole = 0;
    for (const json& layer : story["layers"]) {
      CAPTURE(layer["kind"]);
      const json& ops = layer["operators"];
      const auto wait = [&](const char* phase) { return layer[phase]["host_wait_ns"].get<std::int64_t>(); };
      CHECK(time_of(ops, "time_ns", "F") + wait("forward") == phase_time(layer, "forward"));
      CHECK(time_of(ops, "time_ns", "IWR") + wait("backward") == phase_time(layer, "backward"));
      CHECK(time_of(ops, "split_time_ns", "IR") + wait("input_grad") == phase_time(layer, "input_grad"));
      CHECK(time_of(ops, "split_time_ns", "W") + wait("weight_grad") == phase_time(layer, "weight_grad"));
      std::int64_t classes = 0;
      for (const json& one_class : layer["classes"]) classes += one_class["time_ns"].get<std::int64_t>();
      CHECK(classes == phase_time(layer, "forward") + phase_time(layer, "backward"));
      whole += layer["layers"].get<std::int64_t>() * classes;
    }
    CHECK(story["makespan_ns"] == whole);
  }
}

TEST_CASE_IN_FOLDER("explain cost: changes are simulated over the whole step, and say where they are from") {
  const Words flags = "--model llama3-70b --hardware h100 --tp 8 -p 4 -m 8";
  const json story = costs(folder, flags);
  const auto step = story["makespan_ns"].get<double>();
  for (const char* const name : {"fused-passes", "dtype-fp8", "cuda-graphs", "free-collectives", "sparse-weights"}) {
    CAPTURE(name);
    const json* change = change_called(story, name);
    REQUIRE(change != nullptr);
    CHECK((*change)["source"] == "modelled");
    CHECK((*change)["refusal"].is_null());
    CHECK((*change)["makespan_ns"].get<double>() <= step);
    CHECK((*change)["change_ratio"].get<double>() ==
          doctest::Approx((*change)["makespan_ns"].get<double>() / step - 1).epsilon(1e-9));
    CHECK((*change)["upper_bound"].get<bool>() == (*change)["flags"].is_null());
  }
  // What flags ask for is what a run with them gives.
  const json narrow =
      folder.json("simulate --memory off --model llama3-70b --hardware h100 --tp 8 -p 4 -m 8 --dtype fp8");
  CHECK((*change_called(story, "dtype-fp8"))["makespan_ns"] == narrow["makespan_ns"]);
}

TEST_CASE_IN_FOLDER("explain cost: what cannot be had says why, what there is none of is no row") {
  const json old = costs(folder, "--model tiny-gpt --hardware v100 --dtype fp32 --attention unfused --cuda-graphs on");
  CHECK(change_called(old, "dtype-bf16") != nullptr);
  CHECK(change_called(old, "flash-attention") != nullptr);
  CHECK(change_called(old, "cuda-graphs") == nullptr);
  CHECK(change_called(old, "free-collectives") == nullptr);
  for (const char* const name : {"dtype-fp8", "sparse-weights"}) {
    const json* change = change_called(old, name);
    REQUIRE(change != nullptr);
    CHECK((*change)["makespan_ns"].is_null());
    CHECK((*change)["refusal"].get<std::string>().find("v100 has no units") != std::string::npos);
  }
  const json wide = costs(folder, "--model llama3-8b --dtype fp8 --fp8-recipe blockwise --fp8-weights alone");
  CHECK((*change_called(wide, "dtype-bf16"))["change_ratio"].get<double>() > 0);
}

TEST_CASE_IN_FOLDER("explain cost: a host that is late waits in the table, and is gone with CUDA graphs") {
  const Words flags = "--model gpt2-small --hardware h100 --sequence 64 -p 2 -m 4";
  CHECK(contains(folder.data(cost_words(flags)), "waiting for the host's"));
  const json late = costs(folder, flags);
  CHECK((*change_called(late, "cuda-graphs"))["change_ratio"].get<double>() < -0.01);
  CHECK_FALSE(contains(folder.data(cost_words(flags, "--cuda-graphs on")), "waiting for the host's"));
}

TEST_CASE_IN_FOLDER("explain cost: text within its columns, CSV with as many fields in every row") {
  for (const Words& flags : kCosted) {
    CAPTURE(flags);
    for (const std::size_t width : {80U, 60U, 40U}) {
      std::istringstream lines(folder.data(cost_words(flags, {"--width", std::to_string(width)})));
      for (std::string line; std::getline(lines, line);) CHECK(line.size() <= width);
    }
    std::istringstream rows(folder.data(cost_words(flags, "--format csv")));
    std::string header;
    std::getline(rows, header);
    CHECK(header == "layer,layers,pass,operator,class,bound_by,flops,bytes,kernels,time_ns,split_time_ns,alone_ns");
    std::int64_t count = 0;
    for (std::string row; std::getline(rows, row); ++count) {
      bool quoted = false;
      std::int64_t fields = 1;
      for (const char c : row) {
        if (c == '"') quoted = !quoted;
        if (c == ',' && !quoted) ++fields;
      }
      CHECK(fields == 12);
    }
    CHECK(count > 20);
  }
}

TEST_CASE_IN_FOLDER("explain cost: stages that recompute have tables of their own") {
  const json story = costs(folder, "--model llama3-8b -p 2 --recompute full --recompute-stages 0");
  std::vector<bool> blocks;
  for (const json& layer : story["layers"]) {
    if (layer["kind"] == "transformer") blocks.push_back(layer["recomputed"].get<bool>());
  }
  CHECK(blocks == std::vector<bool>{false, true});
}

}  // namespace debubble::testing
