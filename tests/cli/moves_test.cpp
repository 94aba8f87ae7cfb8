// Slices of sequences and activations that move away, through the real command: makespans, costs of copies and what is
// assumed for them, refusals.
#include "tests/support/command.hpp"

#include "tests/support/places.hpp"

namespace debubble::testing {
namespace {

using nlohmann::json;

json simulated(const Words& arguments) {
  const Folder folder;
  return folder.json(joined("simulate --format json", arguments));
}

double milliseconds(const json& run) { return run["makespan_ns"].get<double>() / 1e6; }

double moves_peak(const json& run, std::size_t device) {
  return run["devices"][device]["peak_activation_bytes"].get<double>() / (1 << 20);
}

std::string assumed(const json& run, const std::string& what) {
  for (const json& assumption : run["assumptions"]) {
    if (assumption["what"] == what) {
      return assumption["value"].get<std::string>() + " (" + assumption["source"].get<std::string>() + ")";
    }
  }
  return "";
}

const std::string kCopy = "copy of an activation, one way";
const std::string kPublishedProfile = debubble::testing::source_directory() + "/traces/published/zb-a100-1.5b-m24.json";

TEST_CASE("slices through the command") {
  const Words toy = "-p 4 -m 8 --times f=1,b=2";
  const auto with = [&](const Words& more) { return simulated(joined(toy, more)); };
  CHECK(milliseconds(with("--schedule seq1f1b")) == 26.25);
  CHECK(milliseconds(with("--schedule seq1f1b --param slices=2")) == 28.5);
  const json uneven = with("--schedule seq1f1b --param slice_costs=0.5,1.5,2.5,3.5");
  CHECK(std::abs(milliseconds(uneven) - 43.69) <= 0.005);
  CHECK(uneven["schedule"]["params"]["slice_costs"] == "0.5,1.5,2.5,3.5");
  CHECK(milliseconds(with("--schedule terapipe --param slices=2")) == 28.5);
}

TEST_CASE("a planned TeraPipe says what it planned") {
  // 41.6 tokens' work in 41.6 ms: slices of 13.4, 14 and 14.0.
  const json run = simulated(
      "--schedule terapipe -p 2 -m 1 --times f=20.8,b=20.8 --param slices=auto --param tokens=16 --param overhead=4");
  CHECK(std::abs(milliseconds(run) - 55.6) < 0.051);
  const std::string lengths = run["schedule"]["params"]["slices"].get<std::string>();
  CHECK(lengths == "7,5,4");
  bool said = false;
  for (const json& finding : run["findings"]) {
    said = said || finding["message"].get<std::string>().find("planned slices 7,5,4") == 0;
  }
  CHECK(said);
}

TEST_CASE("copies take what --times says, and are assumed only where there are some") {
  const Words toy = "-p 8 -m 16 --times";
  const auto with = [&](const std::string& times, const std::string& schedule) {
    return simulated(joined(toy, {times, "--schedule", schedule}));
  };
  const json quick = with("f=1,b=2,copy=0.5", "bpipe");
  CHECK(assumed(quick, kCopy) == "500 us per device share (given)");
  CHECK(milliseconds(quick) == 69);
  for (std::size_t d = 0; d < 8; ++d) CHECK(moves_peak(quick, d) <= 5);
  CHECK(assumed(with("f=1,b=2", "bpipe"), kCopy) == "1 ms per device share (default)");
  CHECK(milliseconds(with("f=1,b=2,copy=4", "bpipe")) > 69);
  CHECK(assumed(with("f=1,b=2,copy=0.5", "1f1b"), kCopy).empty());
  CHECK(moves_peak(with("f=1,b=2", "1f1b"), 0) == 8);
}

TEST_CASE("PipeOffload plans with the times of its copies") {
  const Words base = "--schedule pipeoffload -p 4 -m 16 --times";
  const json all = simulated(joined(base, {"f=1,i=1,w=1,copy=0.5"}));
  CHECK(all["schedule"]["params"]["offload_chunks"] == "2");
  const json none = simulated(joined(base, {"f=1,i=1,w=1,copy=50"}));
  CHECK(none["schedule"]["params"]["offload_chunks"] == "0");
  CHECK(assumed(none, kCopy).empty());
  CHECK(all["makespan_ns"] == none["makespan_ns"]);
  CHECK(moves_peak(all, 0) < moves_peak(none, 0));
}

TEST_CASE("--transform offload keeps a limit with the times given") {
  const Words base = "--schedule gpipe -p 4 -m 8 --times f=1,b=2,copy=0.25";
  const json run = simulated(joined(base, "--transform offload:memory_limit=4"));
  CHECK(run["schedule"]["name"] == "gpipe + offload");
  for (std::size_t d = 0; d < 4; ++d) CHECK(moves_peak(run, d) <= 4);
  CHECK(milliseconds(run) == 33);
}

TEST_CASE("--transform offload lowers 1f1b's peak as it is, and with every limit that it names") {
  const Words base = "-p 4 -m 8";
  const json plain = simulated(base);
  const json run = simulated(joined(base, "--transform offload"));
  CHECK(run["makespan_ns"] == plain["makespan_ns"]);
  for (std::size_t d = 0; d < 4; ++d) CHECK(moves_peak(run, d) <= moves_peak(plain, d));
  CHECK(moves_peak(plain, 0) == 4);
  CHECK(moves_peak(run, 0) == 3);
  const json limited = simulated(joined(base, "--transform offload:memory_limit=3"));
  CHECK(moves_peak(limited, 0) == 3);
}

TEST_CASE("with a profile copies go over the host's link, or the pipeline's") {
  const Words base{"-p", "8", "-m", "24", "--profile", kPublishedProfile};
  const auto with = [&](const Words& more) { return simulated(joined(base, more)); };
  const json plain = with({});
  CHECK(assumed(plain, "host bandwidth").empty());
  const json run = with("--transform offload:share=1");
  CHECK(assumed(run, "host bandwidth") == "23.3 GiB/s (default)");
  // At the default a round trip takes six times a microbatch's compute: too long to lower the peak.
  CHECK(run["makespan_ns"] == plain["makespan_ns"]);
  CHECK(run["devices"][0]["peak_activation_bytes"] <= plain["devices"][0]["peak_activation_bytes"]);
  const json fast = with("--transform offload:share=1 --host-bandwidth 400GB/s");
  CHECK(contains(assumed(fast, "host bandwidth"), "(given)"));
  CHECK(fast["devices"][0]["peak_activation_bytes"] < run["devices"][0]["peak_activation_bytes"]);
  const json partners = with("--schedule bpipe --bandwidth 100GB/s");
  CHECK(contains(assumed(partners, "link between partners"), "(given)"));
  CHECK(assumed(partners, "host bandwidth").empty());
  CHECK(partners["devices"][0]["peak_activation_bytes"] < plain["devices"][0]["peak_activation_bytes"]);
}

TEST_CASE("a run that could not be read back is not saved") {
  const Folder folder;  // slices and recomputation can be saved
  for (const Words& words : {Words("--schedule terapipe"), Words("--transform recompute")}) {
    (void)folder.data(joined("simulate -o report.txt --save-run r.json", words));
    CHECK(contains(folder.data("diff r.json"), "predicted and measured"));
  }
}

TEST_CASE("slices and copies survive the native file") {
  for (const Words& words : {Words("--schedule seq1f1b --param slice_costs=1,2,3"), Words("--schedule bpipe"),
                             Words("--transform offload")}) {
    const Folder folder;
    folder.write("s.json", folder.data(joined("export --to schedule-json", words)));
    const json before = simulated(words);
    const json after = folder.json("simulate --format json --schedule s.json");
    CHECK(before["makespan_ns"] == after["makespan_ns"]);
    CHECK(before["devices"] == after["devices"]);
  }
}

}  // namespace
}  // namespace debubble::testing
