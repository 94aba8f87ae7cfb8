// What the command prints, as data: the keys of the JSON contract, the same bytes each time, on stdout or in a file.
#include "schedules/catalog.hpp"
#include "schedules/transforms/catalog.hpp"
#include "sim/core/split.hpp"
#include "tests/cli/inputs.hpp"
#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

using nlohmann::json;

std::set<std::string> keys_of(const json& object) {
  std::set<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.insert(key);
  return keys;
}

// The contract: no key may go, and a new one is a decision.
void check_run(const json& run) {
  std::set<std::string> keys = keys_of(run);
  keys.erase("stream");  // of streams only
  keys.erase("limit");   // of one run only
  CHECK(keys == std::set<std::string>{"schema_version",
                                      "tool",
                                      "command_line",
                                      "schedule",
                                      "assumptions",
                                      "makespan_ns",
                                      "span_ns",
                                      "steady_period_ns",
                                      "ideal_ns",
                                      "bubble_ratio",
                                      "bubble_over_ideal",
                                      "span_bubble_ratio",
                                      "throughput_samples_per_s",
                                      "throughput_tokens_per_s",
                                      "mfu",
                                      "weight_copies",
                                      "p2p_bytes",
                                      "p2p_messages",
                                      "critical_path",
                                      "devices",
                                      "findings"});
  CHECK(keys_of(run["schedule"]) ==
        std::set<std::string>{"name", "devices", "stages", "microbatches", "chunks", "replicas", "params"});
  CHECK(keys_of(run["critical_path"]) ==
        std::set<std::string>{"compute_ns", "transfer_ns", "collective_ns", "wait_ns", "hops"});
  CHECK(keys_of(run["tool"]) == std::set<std::string>{"name", "version"});
  for (const json& device : run["devices"]) {
    for (const char* key :
         {"device", "busy_ns", "idle_ns", "bubble_ratio", "idle_by_cause_ns", "peak_memory_bytes", "peak_memory_at_ns",
          "peak_by_category_bytes", "peak_activation_bytes", "peak_activation_shares"}) {
      CHECK(device.contains(key));
    }
    CHECK(device["busy_ns"].get<std::int64_t>() + device["idle_ns"].get<std::int64_t>() ==
          run["makespan_ns"].get<std::int64_t>());
    std::int64_t causes = 0;
    for (const auto& [cause, time] : device["idle_by_cause_ns"].items()) causes += time.get<std::int64_t>();
    CHECK(causes == device["idle_ns"].get<std::int64_t>());
  }
}

TEST_CASE_IN_FOLDER("simulate prints one object with the contract's keys") {
  const json run = folder.json("simulate");
  check_run(run);
  CHECK(run["schema_version"] == 1);
  CHECK(run["command_line"] == "debubble simulate --format json");
  CHECK(run["makespan_ns"] == 33'000'000);
  CHECK(run["devices"].size() == 4);
}

TEST_CASE_IN_FOLDER("compare prints such objects in runs") {
  const json all = folder.json("compare");
  CHECK(keys_of(all) == std::set<std::string>{"schema_version", "runs"});
  CHECK(all["schema_version"] == 1);
  REQUIRE(all["runs"].size() == schedule_catalog().size());
  for (json run : all["runs"]) {
    CHECK(run.erase("needs") == 1);  // compare's own
    const std::string name = run["schedule"]["name"];
    CHECK(run.erase("copies") == (name == "bpipe" || name == "pipeoffload" ? 1 : 0));
    check_run(run);
  }
}

TEST_CASE_IN_FOLDER("what is not known is null, and known with a profile") {
  const json toy = folder.json("simulate");
  for (const char* key : {"throughput_samples_per_s", "throughput_tokens_per_s", "mfu"}) CHECK(toy[key].is_null());
  folder.write("p.json", kProfile);
  const json real = folder.json("simulate --profile p.json -p 2 -m 3");
  check_run(real);
  // 3 microbatches of 2 samples of 128 tokens in (3 + 1) x 3 us.
  CHECK(real["makespan_ns"] == 12'000);
  CHECK(real["throughput_samples_per_s"].get<double>() == doctest::Approx(6 / 12e-6));
  CHECK(real["throughput_tokens_per_s"].get<double>() == doctest::Approx(6 * 128 / 12e-6));
}

TEST_CASE_IN_FOLDER("a deadlock prints the same object with the fields it has") {
  const Outcome outcome = folder.run("simulate --schedule zb-v --p2p coupled --format json");
  const json run = json::parse(outcome.out);
  CHECK(run["schedule"]["name"] == "zb-v");
  CHECK_FALSE(run.contains("makespan_ns"));
  CHECK(run["deadlock"]["cycle"].size() >= 2);
  CHECK(run["findings"][0]["code"] == "X010");
}

TEST_CASE_IN_FOLDER("a schedule that does not fit is listed with the reason") {
  const json all = folder.json("compare -p 3");
  REQUIRE(all["runs"].size() == schedule_catalog().size());
  const auto found = std::find_if(all["runs"].begin(), all["runs"].end(),
                                  [](const json& run) { return run["schedule"]["name"] == "chimera"; });
  REQUIRE(found != all["runs"].end());
  const json& chimera = *found;
  CHECK(chimera["findings"][0]["code"] == "S011");
  CHECK_FALSE(chimera.contains("makespan_ns"));
}

TEST_CASE_IN_FOLDER("list and doctor print JSON too") {
  CHECK(folder.json("list")["schedules"].size() == schedule_catalog().size());
  CHECK(folder.json("list topologies")["topologies"][0]["name"] == "ideal");
  CHECK(folder.json("list cost-models")["cost_models"].size() == 3);
  const json doctor = folder.json("doctor");
  CHECK(doctor["checks"][0] ==
        json{{"what", "simulation"}, {"status", "ok"}, {"detail", "needs no GPU, no network and no other program"}});
}

TEST_CASE_IN_FOLDER("the list of transforms holds what the catalog says") {
  const std::string text = folder.data("list transforms");
  const json list = folder.json("list transforms")["transforms"];
  REQUIRE(list.size() == transform_catalog().size());
  for (std::size_t k = 0; k < list.size(); ++k) {
    const TransformEntry& entry = transform_catalog()[k];
    CHECK(list[k]["name"] == entry.name);
    CHECK(list[k]["certainty"] == to_string(entry.certainty));
    CHECK(list[k]["params"].size() == entry.params.size());
    CHECK(!entry.certainty_note.empty());
    CHECK(!entry.citation.empty());
    CHECK(!entry.advice.empty());
    CHECK(contains(text, entry.name));
  }
}

TEST_CASE_IN_FOLDER("the same command prints the same bytes, in any language and time zone") {
  const std::vector<Words> commands{{"simulate", "--schedule", "zb-h1", "--comm", "0.25", "--format", "json"},
                                    {"simulate", "--schedule", "chimera", "--format", "csv"},
                                    {"simulate", "--times", "f=1.5,b=2.25"},
                                    {"compare", "--format", "json"},
                                    {"compare"},
                                    {"export", "--to", "chrome-trace", "--schedule", "interleaved", "--comm", "0.125"},
                                    {"export", "--to", "pytorch-csv", "--schedule", "chimera"}};
  Surroundings german;
  german.environment = {"LC_ALL=de_DE.UTF-8", "LANG=de_DE.UTF-8", "LC_NUMERIC=de_DE.UTF-8", "TZ=Asia/Tokyo"};
  for (const auto& command : commands) {
    CAPTURE(command.back());
    const std::string once = folder.data(command);
    CHECK(folder.data(command) == once);
    CHECK(folder.data(command, german) == once);
  }
}

TEST_CASE_IN_FOLDER("-o writes what stdout would show") {
  for (const std::string verb : {"simulate", "compare"}) {
    for (const std::string format : {"text", "json", "csv"}) {
      CAPTURE(verb);
      CAPTURE(format);
      CHECK(folder.data({verb, "--format", format, "-o", "out"}).empty());
      std::string shown = folder.data({verb, "--format", format});
      if (format == "json") {  // which quotes the command line
        std::string written = folder.read("out");
        while (contains(written, " -o out")) written.erase(written.find(" -o out"), 7);
        CHECK(written == shown);
      } else {
        CHECK(folder.read("out") == shown);
      }
    }
  }
  CHECK(folder.files() == "out");
}

// The fields of the first run of a table without quotes, by column.
std::map<std::string, std::string> first_run(const std::string& table) {
  std::istringstream lines(table);
  std::string header;
  std::string row;
  std::getline(lines, header);
  std::getline(lines, row);
  std::map<std::string, std::string> fields;
  const Words names = split(header);
  const Words values = split(row);
  for (std::size_t k = 0; k < names.size(); ++k) fields[names[k]] = k < values.size() ? values[k] : "";
  return fields;
}

TEST_CASE_IN_FOLDER(
    "the CSV of compare has the numbers of its JSON: memory, MFU, the step's parts, idle time by cause") {
  const Words job = "compare --schedule 1f1b --model gpt3-22b --topology dgx-h100:2 --tp 2 -p 4 --dp 2 -m 8 --format";
  const auto in = [&](const char* format) {
    Words arguments = job;
    arguments.emplace_back(format);
    return folder.run(arguments).out;
  };
  const json run = json::parse(in("json"))["runs"][0];
  auto csv = first_run(in("csv"));
  const auto number = [&](const char* column) { return csv.at(column).empty() ? -1 : std::stoll(csv.at(column)); };
  CHECK(std::stod(csv.at("mfu")) == run["mfu"].get<double>());
  CHECK(number("memory_capacity_bytes") == run["memory_fit"]["capacity_bytes"].get<std::int64_t>());
  CHECK(number("memory_reserved_bytes") == run["memory_fit"]["reserved_bytes"].get<std::int64_t>());
  CHECK(number("memory_spare_bytes") == run["memory_fit"]["spare_bytes"].get<std::int64_t>());
  CHECK(number("inside_collectives_ns") == run["inside_collectives_ns"].get<std::int64_t>());
  CHECK(number("pipeline_end_ns") == run["step"]["pipeline_end_ns"].get<std::int64_t>());
  const json& reduce = run["step"]["parts"]["gradient_reduce"];
  CHECK(number("step_gradient_reduce_ns") == reduce["time_ns"].get<std::int64_t>());
  CHECK(number("step_gradient_reduce_exposed_ns") == reduce["exposed_ns"].get<std::int64_t>());
  std::int64_t contention = 0;
  for (const json& device : run["devices"]) {
    contention += device["idle_by_cause_ns"]["transfer_contention"].get<std::int64_t>();
  }
  CHECK(number("idle_transfer_contention_ns") == contention);
  auto toy = first_run(folder.data("compare --schedule 1f1b --format csv"));
  for (const char* unknown : {"mfu", "memory_spare_bytes", "pipeline_end_ns", "step_optimizer_ns"}) {
    CAPTURE(unknown);
    CHECK(toy.at(unknown).empty());
  }
  CHECK(toy.at("idle_fill_ns") == "18000000");  // 6 + 5 + 4 + 3 ms
}

TEST_CASE_IN_FOLDER("a CSV has as many fields in each line as in its header") {
  folder.write("p.json", kProfile);
  for (const Words& arguments :
       {Words("simulate --format csv"),
        {"compare", "--schedule", "1f1b,gpipe,zb-h1", "--profile", "p.json", "-p", "2", "--format", "csv"}}) {
    const std::string table = folder.data(arguments);
    std::set<std::ptrdiff_t> commas;
    for (std::size_t begin = 0; begin < table.size();) {
      const std::size_t end = table.find('\n', begin);
      commas.insert(std::count(table.begin() + static_cast<std::ptrdiff_t>(begin),
                               table.begin() + static_cast<std::ptrdiff_t>(end), ','));
      begin = end + 1;
    }
    CHECK(commas.size() == 1);
    CHECK(*commas.begin() > 5);
  }
}

}  // namespace
}  // namespace debubble::testing
