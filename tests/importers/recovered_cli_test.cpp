// `debubble diff` and `debubble import --from run` on recordings without PP: names, as people run them; and what every
// reader of runs says of ranks that are missing, given twice, of other runs or of replicas that are not there.
#include "tests/importers/database.hpp"
#include "tests/importers/pipeline_recording.hpp"
#include "tests/support/command.hpp"
#include "tests/support/places.hpp"

namespace debubble::testing {
namespace {

using Json = nlohmann::json;

Words write_all(const Folder& folder, const std::vector<RunText>& files) {
  Words names;
  for (const RunText& file : files) {
    folder.write(file.file, file.text);
    names.push_back(file.file);
  }
  return names;
}

TEST_CASE("diff and import of ranks without PP: names, from a profiler and from nsys") {
  RecordingStyle style;
  for (const bool nsys : {false, true}) {
    CAPTURE(nsys);
    const Folder folder;
    const auto names = write_all(folder, nsys ? nsys_files(style) : kineto_files(style));
    const Outcome shown = folder.run(joined({"diff"}, names));
    CHECK(shown.status == 0);
    CHECK(contains(shown.out, "1f1b on 3 devices, 4 microbatches"));
    CHECK(contains(shown.out, "note   named: forwards and backwards, by their ranges"));
    CHECK(contains(shown.out, "note   assumed: each rank holds one stage"));
    const Json diff = folder.json(joined(joined({"diff"}, names), "--format json"));
    CHECK(diff["clocks"]["method"] == "send/recv pairs");
    CHECK(contains(diff.dump(), "named: forwards and backwards, by their ranges"));
    CHECK(diff["transfers_matched"] == 16);
    CHECK(folder.run(joined(joined("import --from run", names), "-o run.json")).status == 0);
    const Json again = folder.json("diff run.json");
    CHECK(again["makespan_ns"] == diff["makespan_ns"]);
    folder.write("plan.toml", "devices = 3\nmicrobatches = 4\ntimes = \"f=1,b=2\"\n");
    const Json planned = folder.json(joined(joined("diff plan.toml", names), "--format json"));
    CHECK(planned["ops_matched"] == 24);
  }
}

TEST_CASE_IN_FOLDER("real runs of PyTorch on a CPU, as they were recorded") {
  const std::string place = source_directory() + "/traces/measured/torch_cpu_autograd/rank";
  const Outcome shown =
      folder.run({"diff", place + "0.json.gz", place + "1.json.gz", place + "2.json.gz", "--width", "200"});
  CHECK(shown.status == 0);
  CHECK(contains(shown.out, "1f1b on 3 devices, 4 microbatches"));
  CHECK(contains(shown.out, "note   inferred: forwards and backwards, by autograd"));
  CHECK(contains(shown.out, "note   assumed: which rank a file is of, by its name"));
  CHECK(contains(shown.out, "note   inferred: an iteration ends where the optimizer runs"));
}

TEST_CASE_IN_FOLDER("the order of a file's events means nothing, and neither does that of the files") {
  const RecordingStyle style;
  const auto names = write_all(folder, kineto_files(style));
  const std::string straight = folder.data(joined(joined({"diff"}, names), "--format csv"));
  for (const std::string& name : names) {
    Json trace = Json::parse(folder.read(name));
    std::reverse(trace["traceEvents"].begin(), trace["traceEvents"].end());
    folder.write(name, trace.dump());
  }
  CHECK(folder.data({"diff", names[2], names[0], names[1], "--format", "csv"}) == straight);
}

TEST_CASE_IN_FOLDER("files that are cut off, foreign, given twice or of another kind") {
  const RecordingStyle style;
  const auto traces = kineto_files(style);
  const auto exports = nsys_files(style);
  write_all(folder, traces);
  write_all(folder, exports);
  const auto refused = [&](const Words& files) { return folder.refusal(joined({"diff"}, files)); };
  folder.write("rank9.json", traces[0].text.substr(0, traces[0].text.size() / 2));
  CHECK(contains(refused("rank9.json rank1.json rank2.json"), "error[P001]: the file ends in the middle"));
  CHECK(contains(refused("rank0.json rank0.json rank1.json rank2.json"), "error[D005]: rank 0 is also the rank"));
  CHECK(contains(refused("rank0.json report.rank1.sqlite rank2.json"), "error[D002]: this is another kind of file"));
  folder.write("pp.json", "{\"traceEvents\": [{\"ph\": \"X\", \"name\": \"PP:0F0\", \"ts\": 1, \"dur\": 2}]}");
  CHECK(contains(refused("rank0.json pp.json"), "error[D002]"));
  for (const std::size_t size : {17U, 100U, 4000U}) {
    CAPTURE(size);
    folder.write("cut.rank0.sqlite", exports[0].text.substr(0, size));
    const std::string said = refused("cut.rank0.sqlite report.rank1.sqlite report.rank2.sqlite");
    CHECK(contains(said, "error["));
    CHECK(contains(said, "cut.rank0.sqlite"));
  }
  std::string damaged = exports[0].text;
  for (std::size_t at = 3000; at < damaged.size(); at += 997) damaged[at] = '\xEE';
  folder.write("damaged.rank0.sqlite", damaged);
  const Outcome read = folder.run("diff damaged.rank0.sqlite report.rank1.sqlite report.rank2.sqlite");
  CHECK((read.status == 2 || read.status == 0));
  CHECK_FALSE(read.timed_out);
  folder.write("foreign.rank0.sqlite", Database("CREATE TABLE songs (title); INSERT INTO songs VALUES ('x');").image());
  CHECK(contains(refused({"foreign.rank0.sqlite"}), "error[P006]: the database has no table NVTX_EVENTS"));
  folder.write("poor.rank0.sqlite", Database("CREATE TABLE NVTX_EVENTS (start, text);").image());
  CHECK(contains(refused({"poor.rank0.sqlite"}), "error[P006]: the table has no column end"));
  folder.write("empty.rank0.sqlite",
               Database("CREATE TABLE NVTX_EVENTS (start, end, eventType, text, globalTid);").image());
  CHECK(contains(refused({"empty.rank0.sqlite"}), "error[D004]: no NVTX range says anything of a pipeline"));
  folder.write("odd.rank0.sqlite",
               Database("CREATE TABLE NVTX_EVENTS (start, end, eventType, text, globalTid);"
                        "INSERT INTO NVTX_EVENTS VALUES (9223372036854775807, -5, 59, 'PP:0F0', 'x');"
                        "INSERT INTO NVTX_EVENTS VALUES ('a', 'b', 59, 'forward_step', 1e300);")
                   .image());
  CHECK(contains(refused({"odd.rank0.sqlite"}), "error[D00"));
}

TEST_CASE_IN_FOLDER("every reader of runs: a replica that is not there") {
  folder.write("plan.toml", "devices = 2\nmicrobatches = 2\n");
  CHECK(folder.run("simulate --config plan.toml --save-run run.json -o out.txt").status == 0);
  const RecordingStyle style;
  const auto exports = write_all(folder, nsys_files(style));
  const auto traces = write_all(folder, kineto_files(style));
  const std::vector<Words> runs{{"run.json"}, exports, traces};
  for (const auto& files : runs) {
    CAPTURE(files.front());
    CHECK(
        contains(folder.refusal(joined(joined({"diff"}, files), "--replica 7")), "error[C003]: there is no replica 7"));
    if (files.front() == "run.json") continue;
    CHECK(contains(folder.refusal(joined(joined("import --from run -o x.json", files), "--replica 7")),
                   "error[C003]: there is no replica 7"));
  }
}

std::string pp_trace(int rank, int world, int stage, int steps, double first) {
  std::string text = "{\"distributedInfo\": {\"rank\": " + std::to_string(rank) +
                     ", \"world_size\": " + std::to_string(world) + "}, \"traceEvents\": [";
  double begin = 1000 + rank;
  for (int k = 0; k < steps; ++k) {
    const double longer = k == 0 ? first : 0;
    const auto add = [&](const std::string& name, double from, double length) {
      text += "{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"" + name +
              "\", \"pid\": 1, \"tid\": 1, \"ts\": " + std::to_string(from) + ", \"dur\": " + std::to_string(length) +
              "},";
    };
    add("ProfilerStep#" + std::to_string(k), begin, 9000 + longer);
    add("PP:" + std::to_string(stage) + "F0", begin + 1500 * stage, 1000 + (stage == 1 ? longer : 0));
    add("PP:" + std::to_string(stage) + "B0", begin + (stage == 1 ? 2600 : 5000) + longer, 2000);
    begin += 10000 + longer;
  }
  text.back() = ']';
  return text + "}";
}

TEST_CASE_IN_FOLDER("PP: ranges: replicas, other runs, a slow first step") {
  for (int rank = 0; rank < 4; ++rank) {
    folder.write("r" + std::to_string(rank) + ".json", pp_trace(rank, 4, rank / 2, 4, 5000));
  }
  const Words all = "r0.json r1.json r2.json r3.json";
  const Outcome shown = folder.run(joined(joined({"diff"}, all), "--replica 1 --width 200"));
  CHECK(shown.status == 0);
  CHECK(contains(shown.out, "note   replica 1 of 2 data-parallel pipelines; --replica N reads another"));
  CHECK(contains(shown.out, "1 iteration at the start, more than a quarter longer than the median of 7.0"));
  CHECK(contains(shown.out, "left out as warm-up: ProfilerStep#0 (12."));
  CHECK(contains(folder.refusal(joined(joined({"diff"}, all), "--replica 2")), "error[C003]: there is no replica 2"));
  CHECK(contains(folder.refusal("diff r0.json r1.json r2.json"), "error[D005]: 1 rank of the given ones"));
  folder.write("other.json", pp_trace(2, 8, 1, 4, 0));
  CHECK(contains(folder.refusal("diff r0.json other.json"), "error[D010]: it is of a run of 8 ranks"));
}

}  // namespace
}  // namespace debubble::testing
