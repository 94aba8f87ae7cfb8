// Layers cut for devices and links that are not alike: what `--slow RUN.json` reads from a measured run, what
// `--partition auto` makes of slow links, and what `explain step` proposes.
#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

using CutJson = nlohmann::json;
CutJson output_json(const Folder& folder, const Words& words) {
  return CutJson::parse(folder.data(joined(words, "--format json")));
}

std::string assumed_value(const CutJson& run, const std::string& what) {
  for (const CutJson& one : run["assumptions"]) {
    if (one["what"] == what) return one["value"].get<std::string>() + ", " + one["source"].get<std::string>();
  }
  return "";
}

// The proposed change that begins so; null where there is none.
CutJson proposed_change(const CutJson& story, const std::string& begin) {
  for (const CutJson& change : story["changes"]) {
    if (change["what"].get<std::string>().starts_with(begin)) return change;
  }
  return nullptr;
}

// A run on the logical clock, on which one device takes `factor` times as long.
void write_slow_run(const Folder& folder, const std::string& factor) {
  (void)folder.data({"live", "-p", "4", "-m", "8", "--clock", "logical", "--fault", "slow=2:" + factor, "--save-run",
                     "run.json", "-o", "live.txt"});
}

// Four devices in a line; the link between the middle ones has this bandwidth.
void write_line(const Folder& folder, const std::string& middle) {
  const auto link = [](int from, const std::string& bandwidth) {
    const auto one = [&](int a, int b) {
      return R"({"from": "gpu)" + std::to_string(a) + R"(", "to": "gpu)" + std::to_string(b) +
             R"(", "bandwidth_bytes_per_s": )" + bandwidth + R"(, "latency_ns": 1000})";
    };
    return one(from, from + 1) + "," + one(from + 1, from);
  };
  std::string nodes;
  for (int k = 0; k < 4; ++k) {
    nodes += (k == 0 ? "" : ",") + (R"({"name": "gpu)" + std::to_string(k)) + R"(", "kind": "device"})";
  }
  folder.write("line.json", R"({"schema": "debubble.topology/1", "name": "line", "nodes": [)" + nodes +
                                R"(], "links": [)" + link(0, "50000000000") + "," + link(1, middle) + "," +
                                link(2, "50000000000") + "]}");
}

const Words kCutJob = "--model gpt-1.3b --memory off -p 4 -m 8";
const Words kMeasuredJob = joined(kCutJob, "--slow run.json");
constexpr const char* kMovedOffSlow = "layers moved from slow to fast stages";
constexpr const char* kMovedForLinks = "fewer layers where transfers take long";

TEST_CASE_IN_FOLDER("--slow RUN.json makes every device as slow as it was measured, and nothing else") {
  write_slow_run(folder, "1.4");
  const CutJson measured = output_json(folder, "simulate --slow run.json");
  const CutJson given = output_json(folder, "simulate --slow devices=1,1,1.4,1");
  CHECK(measured["makespan_ns"] == given["makespan_ns"]);
  CHECK(assumed_value(measured, "slow") == "devices=1,1,1.4,1, as in run.json, measured");
  CHECK(assumed_value(given, "slow") == "devices=1,1,1.4,1, given");
  // What all devices share is no slowness: the same run, judged by costs that are half as high.
  const Words halved = "simulate --times f=0.5,i=0.5,w=0.5 --slow";
  CHECK(output_json(folder, joined(halved, {"run.json"}))["makespan_ns"] ==
        output_json(folder, joined(halved, {"devices=1,1,1.4,1"}))["makespan_ns"]);
  // Another schedule on the same devices.
  CHECK(output_json(folder, "simulate --schedule zb-v --slow run.json")["makespan_ns"] ==
        output_json(folder, "simulate --schedule zb-v --slow devices=1,1,1.4,1")["makespan_ns"]);
}

TEST_CASE_IN_FOLDER(
    "explain step proposes and simulates another cut where a run was measured to be slow, and only there") {
  const Words run = joined("simulate --save-run run.json", kCutJob);
  CHECK(folder.run(joined(run, "--slow device=2:1.4")).status == 0);
  const CutJson story = output_json(folder, joined("explain step", kMeasuredJob));
  const CutJson cure = story["changes"][0];
  CHECK(cure["what"].get<std::string>().starts_with(kMovedOffSlow));
  CHECK(cure["gain_ratio"].get<double>() > 0.05);
  const CutJson cut = output_json(folder, joined(joined({"simulate"}, kMeasuredJob), "--partition auto"));
  CHECK(cut["makespan_ns"] == cure["makespan_ns"]);
  // The command spells the factors out: those of the run file follow from the cut that it changes.
  CHECK(cure["command"].get<std::string>().find("--slow devices=1,1,1.4,1") != std::string::npos);

  CHECK(folder.run(run).status == 0);
  CHECK(proposed_change(output_json(folder, joined("explain step", kMeasuredJob)), kMovedOffSlow).is_null());
}

TEST_CASE_IN_FOLDER("a run file of --slow that does not fit is refused") {
  write_slow_run(folder, "1.4");
  CHECK(folder.refusal("simulate -p 8 --slow run.json") ==
        R"(error[O005]: run.json was measured on 4 devices, and there are 8
  --> --slow
  = help: use -p 4, or the factors of the devices: --slow devices=1,1.2,1
)");
  CHECK(folder.refusal("simulate --slow no.json") ==
        R"(error[C005]: cannot read no.json: No such file or directory
  --> no.json
  = help: check the path and its permissions
)");
  folder.write("other.json", "{}");
  CHECK(contains(folder.refusal("simulate --slow other.json"), "other.json"));
  const Outcome pairs = folder.run("simulate --schedule dualpipe -p 4 -m 8 --save-run p.json");
  CHECK(pairs.status == 0);
  CHECK(output_json(folder, "simulate --slow p.json")["makespan_ns"] ==
        output_json(folder, {"simulate"})["makespan_ns"]);
}

TEST_CASE_IN_FOLDER("--partition auto gives fewer layers to stages behind a slow link, and explain step proposes it") {
  write_line(folder, "2000000000");
  const Words job = "--model gpt-1.3b --memory off -p 4 -m 16 --topology line.json";
  for (const char* const p2p : {"overlapped", "blocking", "coupled"}) {
    CAPTURE(p2p);
    const Words run = joined(job, {"--p2p", p2p});
    const CutJson usual = output_json(folder, joined({"simulate"}, run));
    const CutJson cut = output_json(folder, joined(joined({"simulate"}, run), "--partition auto"));
    CHECK(cut["makespan_ns"].get<double>() < 0.97 * usual["makespan_ns"].get<double>());
    CHECK(contains(assumed_value(cut, "partition"), " (auto, for each device's speed and links), modelled"));
    const CutJson change = proposed_change(output_json(folder, joined("explain step", run)), kMovedForLinks);
    REQUIRE_FALSE(change.is_null());
    CHECK(change["makespan_ns"] == cut["makespan_ns"]);
  }
}

TEST_CASE_IN_FOLDER("where all links are alike --partition auto is the usual cut, and nothing is proposed") {
  write_line(folder, "50000000000");
  const Words job = "--model gpt-1.3b --memory off -p 4 -m 16 --topology line.json";
  const CutJson usual = output_json(folder, joined({"simulate"}, job));
  const CutJson cut = output_json(folder, joined(joined({"simulate"}, job), "--partition auto"));
  CHECK(assumed_value(cut, "partition") == assumed_value(usual, "partition"));
  const CutJson story = output_json(folder, joined("explain step", job));
  CHECK(proposed_change(story, kMovedForLinks).is_null());
  CHECK(proposed_change(story, kMovedOffSlow).is_null());
}

}  // namespace
}  // namespace debubble::testing
