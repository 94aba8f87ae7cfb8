// Run files that are wrong: every problem at once, each with its code, its place and a remedy.
#include <zlib.h>

#include <filesystem>
#include <fstream>

#include "formats/run/run_file.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

const std::string kGood = R"({
  "format": "debubble.run/1",
  "origin": {"backend": "cpu", "clock": "wall", "notes": ["16 cores"]},
  "schedule": {
    "name": "tiny", "devices": 2, "stages": 2, "chunks": 1, "microbatches": 1, "pieces": 1,
    "params": {"group": "4"},
    "placement": [[0,1]],
    "rows": ["0F0,0B0", "1F0,1B0"]
  },
  "costs": {"stages": [
    {"forward_ns": 10, "backward_ns": 20, "input_grad_ns": 10, "weight_grad_ns": 9, "activation_bytes": 1,
     "weight_grad_held_bytes": 0, "output_bytes": 8, "weights_bytes": 0, "gradients_bytes": 0, "optimizer_bytes": 0,
     "workspace_bytes": 0},
    {"forward_ns": 11, "backward_ns": 21, "input_grad_ns": 11, "weight_grad_ns": 10, "activation_bytes": 2,
     "weight_grad_held_bytes": 0, "output_bytes": 8, "weights_bytes": 0, "gradients_bytes": 0, "optimizer_bytes": 0,
     "workspace_bytes": 0}
  ]},
  "links": {"latency_ns": 5, "p2p": "overlapped"},
  "assumptions": [{"what": "forward", "value": "1 ms", "source": "given"}],
  "clocks": {"method": "one clock", "offsets_ns": [0,-3]},
  "losses": [{"what": "messages", "count": 1}],
  "measured": true,
  "iterations": [{
    "begin_ns": [[0,60], [15,30]],
    "end_ns": [[10,80], [26,51]],
    "transfers": {"ops": "0F0,1B0", "begin_ns": [10,51], "end_ns": [15,56], "latency_ns": [5,5], "bytes": [8,8]},
    "peak_memory_bytes": [7,9]
  }]
}
)";

std::string complaint(const std::string& text) {
  return problems_of([&] { (void)read_run_text(text, "run.json"); });
}

std::string after(const std::string& from, const std::string& to) { return complaint(replaced(kGood, from, to)); }

// The code and place of the only problem: "P005 run.json#/links"; everything when there is not exactly one.
std::string found(const std::string& from, const std::string& to) {
  std::string text = after(from, to);
  if (contains(text, "\nerror[") || !text.starts_with("error[") || !contains(text, "= help: ")) {
    return text;
  }
  const std::size_t arrow = text.find("--> ");
  return text.substr(6, 4) + " " + text.substr(arrow + 4, text.find('\n', arrow) - arrow - 4);
}

TEST_CASE("the good run file is good") { CHECK(complaint(kGood) == ""); }

TEST_CASE("files that are no JSON or of another kind are named as what they are") {
  CHECK(complaint("").find("error[P001]: not valid JSON: the file is empty") == 0);
  CHECK(complaint("{").find("error[P001]") == 0);
  CHECK(complaint("\xff{}").find("error[P002]") == 0);
  CHECK(complaint("[]").find("error[P007]: an object is expected here; got an array") == 0);
  CHECK(found("debubble.run/1", "debubble.run/2") == "P010 run.json#/format");
  CHECK(complaint("{}").find("error[P010]: \"format\" must be \"debubble.run/1\"; got none") == 0);
  CHECK(complaint(std::string(40, '[')).find("error[P018]") == 0);
}

TEST_CASE("a key that is missing, unknown, doubled or of the wrong type is refused where it stands") {
  CHECK(found("\"links\": {\"latency_ns\": 5, \"p2p\": \"overlapped\"},", "") == "P006 run.json#");
  CHECK(found("\"measured\": true", "\"measured\": true, \"mesured\": true") == "P005 run.json#");
  CHECK(found("\"chunks\": 1", "\"chunks\": 1, \"chunks\": 1") == "P003 run.json#/schedule/chunks");
  CHECK(found("\"measured\": true", "\"measured\": 1") == "P007 run.json#/measured");
  CHECK(found("\"backend\": \"cpu\"", "\"backend\": \"\"") == "P019 run.json#/origin/backend");
  CHECK(found("\"backend\": \"cpu\"", "\"backend\": 3") == "P007 run.json#/origin/backend");
  CHECK(found("\"notes\": [\"16 cores\"]", "\"notes\": [16]") == "P007 run.json#/origin/notes");
  CHECK(found("\"notes\": [\"16 cores\"]", "\"notes\": [\"16\", 16]") == "P007 run.json#/origin/notes/1");
  CHECK(found("\"group\": \"4\"", "\"group\": 4") == "P007 run.json#/schedule/params/group");
  CHECK(found("[[0,1]]", "[0,1]") == "P007 run.json#/schedule/placement");
  CHECK(found("\"1F0,1B0\"]", "7]") == "P007 run.json#/schedule/rows/1");
  CHECK(found("[{\"what\": \"forward\", \"value\": \"1 ms\", \"source\": \"given\"}]", "[3]") ==
        "P007 run.json#/assumptions");
  CHECK(found("\"0F0,1B0\"", "5") == "P007 run.json#/iterations/0/transfers/ops");
  CHECK(found("[[0,60], [15,30]]", "[[0,60], [15,\"30\"]]") == "P007 run.json#/iterations/0/begin_ns/1");
}

TEST_CASE("numbers out of range and fractions are refused where they stand") {
  CHECK(found("\"devices\": 2", "\"devices\": 0") == "P004 run.json#/schedule/devices");
  CHECK(found("\"devices\": 2", "\"devices\": 2.5") == "P007 run.json#/schedule/devices");
  CHECK(found("\"latency_ns\": 5,", "\"latency_ns\": -5,") == "P004 run.json#/links/latency_ns");
  CHECK(found("\"latency_ns\": 5,", "\"latency_ns\": 99999999999999999999,") == "P004 run.json#/links/latency_ns");
  CHECK(found("\"forward_ns\": 11", "\"forward_ns\": 4503599627370497") == "P004 run.json#/costs/stages/1/forward_ns");
  CHECK(found("[[0,60], [15,30]]", "[[0,60], [15,-1]]") == "P004 run.json#/iterations/0/begin_ns/1/1");
  CHECK(found("[[10,80], [26,51]]", "[[10,2305843009213693952], [26,51]]") == "P004 run.json#/iterations/0/end_ns/0/1");
  CHECK(found("[[0,60], [15,30]]", "[[0,60], [15,30.5]]") == "P007 run.json#/iterations/0/begin_ns/1");
  CHECK(found("[0,-3]", "[0,-9007199254740993]") == "P004 run.json#/clocks/offsets_ns/1");
  CHECK(found("\"bytes\": [8,8]", "\"bytes\": [8,4503599627370497]") ==
        "P004 run.json#/iterations/0/transfers/bytes/1");
  CHECK(found("\"count\": 1}]", "\"count\": 0}]") == "P004 run.json#/losses/0/count");
  const std::string tensors = "\"activation_tensors\": ";
  CHECK(found("\"forward_ns\": 11", tensors + "-1, \"forward_ns\": 11") ==
        "P004 run.json#/costs/stages/1/activation_tensors");
  CHECK(found("\"forward_ns\": 11", tensors + "1000001, \"forward_ns\": 11") ==
        "P004 run.json#/costs/stages/1/activation_tensors");
}

TEST_CASE("unknown words are refused with the list") {
  CHECK(
      after("\"p2p\": \"overlapped\"", "\"p2p\": \"both\"") ==
      R"(error[P011]: "p2p" must be one of: overlapped, blocking, coupled, late, rendezvous, joined; got the string "both"
  --> run.json#/links/p2p
  = help: write one of these words
)");
  CHECK(found("\"source\": \"given\"", "\"source\": \"guessed\"") == "P011 run.json#/assumptions/0/source");
}

TEST_CASE("lists that belong together must have one length") {
  CHECK(found("[[0,1]]", "[[0,1,1]]") == "P012 run.json#/schedule/placement/0");
  CHECK(found("[0,-3]", "[0,-3,1]") == "P012 run.json#/clocks/offsets_ns");
  CHECK(found("[[0,60], [15,30]]", "[[0,60]]") == "P012 run.json#/iterations/0/begin_ns");
  CHECK(found("[[0,60], [15,30]]", "[[0,60], [15]]") == "P012 run.json#/iterations/0/begin_ns/1");
  CHECK(found("\"bytes\": [8,8]", "\"bytes\": [8]") == "P012 run.json#/iterations/0/transfers/bytes");
  CHECK(found("\"peak_memory_bytes\": [7,9]", "\"peak_memory_bytes\": [7]") ==
        "P012 run.json#/iterations/0/peak_memory_bytes");
  CHECK(found("\"stages\": 2, \"chunks\"", "\"stages\": 1, \"chunks\"") == "P012 run.json#/schedule/placement/0");
  CHECK(found("\"microbatches\": 1", "\"microbatches\": 2000000000") == "P012 run.json#/schedule/rows");
  CHECK(found("[[0,1]]", "[[0,1],[1,0]]") == "P006 run.json#/schedule");
}

TEST_CASE("rows are checked as schedule tables are") {
  CHECK(after("\"1F0,1B0\"", "\"1F0,1X0\"").find("error[T024]: cell 2: \"1X0\" is not an action") == 0);
  CHECK(found("\"1F0,1B0\"", "\"1F0,,1B0\"") == "T024 run.json#/schedule/rows/1");
  CHECK(after("\"1F0,1B0\"", "\"1F0,1B0,1B0\"").find("error[T003]: 1B0 is in the schedule twice") == 0);
  CHECK(found("\"1F0,1B0\"", "\"1F0\"") == "T004 run.json#/schedule/rows/1");
  CHECK(after("[[0,1]]", "[[0,7]]").find("error[T001]") == 0);
}

TEST_CASE("times and transfers that no run can have are refused") {
  CHECK(found("\"0F0,1B0\"", "\"0F0,1F0\"") == "V020 run.json#/iterations/0/transfers/ops");
  CHECK(found("\"0F0,1B0\"", "\"0F0,9F9\"") == "V020 run.json#/iterations/0/transfers/ops");
  CHECK(found("\"0F0,1B0\"", "\"0F0,(0F0;1B0)OVERLAP_F_B\"") == "V020 run.json#/iterations/0/transfers/ops");
  CHECK(found("\"0F0,1B0\"", "\"0F0,F\"") == "T024 run.json#/iterations/0/transfers/ops");
  CHECK(found("\"0F0,1B0\"", "\"0F0,0F0\"") == "V020 run.json#/iterations/0");
  CHECK(found("\"latency_ns\": [5,5]", "\"latency_ns\": [5,6]") ==
        "P012 run.json#/iterations/0/transfers/latency_ns/1");
  CHECK(found("\"end_ns\": [15,56], \"latency_ns\": [5,5]", "\"end_ns\": [15,50], \"latency_ns\": [5,0]") ==
        "V023 run.json#/iterations/0");
  CHECK(found("[[10,80], [26,51]]", "[[10,80], [26,29]]") == "V023 run.json#/iterations/0");
  CHECK(found("[[0,60], [15,30]]", "[[0,60], [15,20]]") == "V023 run.json#/iterations/0");
  const std::size_t begin = kGood.find("\"iterations\"");
  CHECK(complaint(kGood.substr(0, begin) + "\"iterations\": []}").find("error[P016]") == 0);
}

TEST_CASE("all problems come at once") {
  std::string text = replaced(kGood, "\"devices\": 2", "\"devices\": \"2\"");
  text = replaced(text, "\"p2p\": \"overlapped\"", "\"p2p\": \"\"");
  text = replaced(text, "\"measured\": true", "\"measured\": null");
  const std::string all = complaint(text);
  CHECK(contains(all, "run.json#/schedule/devices"));
  CHECK(contains(all, "run.json#/links/p2p"));
  CHECK(contains(all, "run.json#/measured"));
}

TEST_CASE("what is too much to list is counted") {
  std::string rows = "\"";
  for (int k = 0; k < 300; ++k) rows += "X,";
  CHECK(contains(after("\"1F0,1B0\"", rows + "\""), "error[P022]: and "));
}

TEST_CASE("a run file is read from disk, plain or compressed") {
  const std::string path = (std::filesystem::temp_directory_path() / "debubble-run-file-test.json.gz").string();
  const gzFile file = gzopen(path.c_str(), "wb");
  REQUIRE(gzwrite(file, kGood.data(), static_cast<unsigned>(kGood.size())) > 0);
  gzclose(file);
  CHECK(read_run_file(path).schedule.name == "tiny");
  std::ofstream(path, std::ios::binary) << kGood;
  CHECK(read_run_file(path).schedule.name == "tiny");
  std::filesystem::remove(path);
  CHECK(problems_of([&] { (void)read_run_file(path); }).find("error[C005]: cannot read ") == 0);
}

}  // namespace
TEST_CASE("op times beside fewer devices: ascending, fewer than all, and of every stage") {
  const std::string times = R"({"forward_ns": 1, "backward_ns": 2, "input_grad_ns": 1, "weight_grad_ns": 1})";
  const auto with = [&times](const std::string& devices, int stages) {
    std::string text = R"("at_work": [)";
    for (const char device : devices) {
      text += std::string(text.back() == '[' ? "" : ",") + R"({"devices": )" + device + R"(, "stages": [)" + times;
      for (int k = 1; k < stages; ++k) text += "," + times;
      text += "]}";
    }
    return R"("costs": {)" + text + "], ";
  };
  const std::string costs = R"("costs": {)";
  CHECK(after(costs, with("1", 2)) == "");
  CHECK(found(costs, with("2", 2)) == "P004 run.json#/costs/at_work/0/devices");
  CHECK(found(costs, with("0", 2)) == "P004 run.json#/costs/at_work/0/devices");
  CHECK(found(costs, with("11", 2)) == "P004 run.json#/costs/at_work/1/devices");
  CHECK(found(costs, with("1", 1)) == "P012 run.json#/costs/at_work/0/stages");
  CHECK(found(costs, R"("costs": {"at_work": [{"devices": 1}], )") == "P006 run.json#/costs/at_work/0");
}

}  // namespace debubble
