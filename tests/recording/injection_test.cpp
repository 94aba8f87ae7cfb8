// The whole path of a recording: injection library, NVTX, the (fake) libcupti, the record file.
#include "tests/recording/recorded_run.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

using testing::RecordedRun;
using testing::run_training;
using testing::Tally;

// What fake_training promises, with its default of 2 microbatches and 3 layers: per step, ns.
constexpr std::int64_t kForward = 2 * (13'000 + 14'000 + 15'000);
constexpr std::int64_t kInput = 2 * (11'000 + 12'000 + 13'000);
constexpr std::int64_t kWeight = 2 * (13'000 + 14'000 + 15'000);
constexpr std::int64_t kOutside = 2000 + 5000;
constexpr std::int64_t kStep = kForward + kInput + kWeight + kOutside;
constexpr std::int64_t kInjectionWorks = 2 * 3 * 5 + 2;

std::string promised(std::int64_t steps) {
  return "works " + std::to_string(steps * kInjectionWorks) + " total " + std::to_string(steps * kStep) + "\n";
}

// Nothing is lost, and every range that began has ended.
void check_whole(const RecordedRun& run, std::int64_t steps) {
  CHECK(run.status == 0);
  CHECK(run.err.empty());
  CHECK(run.troubles.empty());
  CHECK(run.out == promised(steps));
  const Tally& tally = run.only();
  CHECK(tally.end.complete);
  CHECK(tally.losses.empty());
  CHECK(tally.works == steps * kInjectionWorks);
  CHECK(tally.launches == tally.works);
  CHECK(tally.links == tally.works);
  CHECK(tally.unknown_links == 0);
  CHECK(tally.total == steps * kStep);
  CHECK(tally.bytes == 0);
  CHECK(tally.pushes == tally.pops);
}

TEST_CASE("every kernel is recorded inside its innermost range") {
  const RecordedRun run = run_training("--steps 4");
  check_whole(run, 4);
  const Tally& tally = run.only();
  CHECK(tally.time_in("debubble.layer:block.0/debubble.phase:F") == 4 * 2 * 13'000);
  CHECK(tally.time_in("debubble.layer:block.2/debubble.phase:I") == 4 * 2 * 13'000);
  CHECK(tally.time_in("debubble.layer:block.1/debubble.phase:W") == 4 * 2 * 14'000);
  CHECK(tally.time_in("debubble.step:3") == kOutside);
  CHECK(tally.kernels.at("copy host to device") == 4);
  CHECK(tally.kernels.at("gemm_f") == 24);
  CHECK(tally.facts.at("cupti") == "130001");
  CHECK(tally.facts.at("cuda") == "13.0");
  CHECK(tally.facts.at("cupti.path") == DEBUBBLE_FAKE_CUPTI);
  CHECK(tally.facts.at("device.0.name") == "Fake GPU");
  CHECK(tally.facts.at("device.0.uuid") == "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f");
  CHECK(tally.facts.at("device.0.capability") == "9.0");
  CHECK(contains(tally.facts.at("command"), "fake_training --steps 4"));
}

TEST_CASE("ranges of our Python hooks are recorded like NVTX's") {
  const RecordedRun run = run_training("--steps 2 --hooks");
  check_whole(run, 2);
  CHECK(run.only().time_in("debubble.layer:block.0/debubble.phase:F") == 2 * 2 * 13'000);
}

TEST_CASE("autograd's ranges of a second thread keep their sequence numbers and sizes") {
  const RecordedRun run = run_training("--steps 2 --style autograd");
  check_whole(run, 2);
  CHECK(run.only().range_names.at("aten::addmm") == 12);
  CHECK(run.only().time_in("debubble.layer:block.1/aten::addmm") == 4 * 11'000);
  CHECK(run.only().time_in("AddmmBackward0/aten::sum") == 2 * 2 * 3 * 1000);
}

TEST_CASE("small buffers and any order of delivery change nothing") {
  for (const char* const behaviour : {"FAKE_CUPTI=buffer=400", "FAKE_CUPTI=gpu-first", "FAKE_CUPTI=late",
                                      "FAKE_CUPTI=buffer=1200,gpu-first,late", "FAKE_CUPTI=version=17"}) {
    INFO(std::string(behaviour));
    const RecordedRun run = run_training("--steps 3", {behaviour});
    check_whole(run, 3);
    CHECK(run.only().time_in("debubble.phase:F") == 3 * kForward);
  }
}

TEST_CASE("threads that train side by side keep their own ranges") {
  const RecordedRun run = run_training("--steps 20 --threads 4");
  CHECK(run.status == 0);
  const Tally& tally = run.only();
  CHECK(tally.works == 4 * 20 * kInjectionWorks);
  CHECK(tally.unknown_links == 0);
  for (const char* const thread : {"t0", "t1", "t2", "t3"}) {
    INFO(std::string(thread));
    CHECK(tally.time_in("debubble.layer:" + std::string(thread) + ".block.1/debubble.phase:F") == 20 * 2 * 14'000);
  }
  CHECK(tally.open.size() == 4);
  CHECK(tally.losses.empty());
}

TEST_CASE("every 5th step runs unrecorded to measure the overhead, and the file says when") {
  const RecordedRun run = run_training("--steps 10", {"DEBUBBLE_RECORD_STEPS="});
  const Tally& tally = run.only();
  CHECK(tally.switches == std::vector<bool>{false, true, false, true});
  CHECK(tally.works == 8 * kInjectionWorks);
  CHECK(tally.total == 8 * kStep);
  CHECK(tally.time_in("debubble.step:4") == 0);
  CHECK(tally.time_in("debubble.step:5") == kOutside);
  CHECK(tally.pushes == tally.pops);
  CHECK(tally.range_names.at("debubble.step:4") == 1);
  const RecordedRun pairs = run_training("--steps 10", {"DEBUBBLE_RECORD_STEPS=2"});
  CHECK(pairs.only().works == 6 * kInjectionWorks);  // 0, 1, 2, 4, 6, 8
}

TEST_CASE("a wrong DEBUBBLE_RECORD_STEPS is told and the default taken") {
  const RecordedRun run = run_training("--steps 5", {"DEBUBBLE_RECORD_STEPS=often"});
  CHECK(run.status == 0);
  REQUIRE(run.troubles.size() == 1);
  CHECK(run.troubles[0].code == "U009");
  CHECK(run.troubles[0].message.find("\"often\" is neither") == 0);
  CHECK(run.only().works == 4 * kInjectionWorks);
}

TEST_CASE("records that CUPTI drops are counted") {
  const RecordedRun run = run_training("--steps 5", {"FAKE_CUPTI=drop=8"});
  CHECK(run.status == 0);
  const Tally& tally = run.only();
  CHECK(tally.losses.at("dropped_records") == 5 * kInjectionWorks / 8);
  CHECK(tally.works == 5 * kInjectionWorks - 5 * kInjectionWorks / 8);
  CHECK(tally.launches == 5 * kInjectionWorks);
}

TEST_CASE("buffers are refused when too many are out, and what is dropped is counted") {
  const RecordedRun run = run_training("--steps 2", {"FAKE_CUPTI=hoard"});
  CHECK(run.status == 0);
  const Tally& tally = run.only();
  CHECK(tally.works == 0);
  // Call, link and work of each launch, and two memory records of each layer and microbatch; the device's record.
  CHECK(tally.losses.at("dropped_records") == 2 * (3 * kInjectionWorks + 2 * 2 * 3) + 1);
  CHECK(tally.end.complete);
}

TEST_CASE("kernels without times are recorded as they are") {
  const RecordedRun run = run_training("--steps 5", {"FAKE_CUPTI=timeless=10"});
  CHECK(run.only().works == 5 * kInjectionWorks);
  CHECK(run.only().timeless == (5 * kInjectionWorks - 5) / 10);
}

TEST_CASE("kernels with impossible times are counted, not written") {
  const RecordedRun run = run_training("--steps 5", {"FAKE_CUPTI=impossible=31"});
  CHECK(run.only().losses.at("impossible_times") == 5);
  CHECK(run.only().works == 5 * kInjectionWorks - 5);
  CHECK(run.only().end.complete);
}

TEST_CASE("records of other kinds are counted and passed over") {
  const RecordedRun run = run_training("--steps 2", {"FAKE_CUPTI=foreign=4"});
  const Tally& tally = run.only();
  CHECK(tally.works == 2 * kInjectionWorks);
  CHECK(tally.losses.at("unknown_records") == (2 * (3 * kInjectionWorks + 2 * 2 * 3) + 1) / 4);
}

TEST_CASE("a buffer that ends inside a record is counted, and what is before it kept") {
  const RecordedRun run = run_training("--steps 2", {"FAKE_CUPTI=cut,late"});
  const Tally& tally = run.only();
  CHECK(tally.losses.at("unreadable_buffers") == 2);
  CHECK(tally.works == 2 * kInjectionWorks - 1);
  CHECK(tally.launches == 2 * kInjectionWorks - 1);
}

// The program ends as if nothing had happened; ranges are recorded, the trouble is told twice.
void check_trouble(const RecordedRun& run, const std::string& code, const std::string& text) {
  CHECK(run.status == 7);
  CHECK(run.out == promised(2));
  REQUIRE(run.troubles.size() == 1);
  CHECK(run.troubles[0].code == code);
  CHECK(contains(run.troubles[0].message, text));
  CHECK_FALSE(run.troubles[0].help.empty());
  CHECK(contains(run.err, "error[" + code + "]"));
  CHECK(contains(run.err, "= help: "));
  CHECK(run.only().works == 0);
  CHECK(run.only().pushes == 2 * (1 + 2 * 3 * 5));
  CHECK(run.only().pushes == run.only().pops);
}

TEST_CASE("what keeps CUPTI from starting has a code, a reason and a remedy of its own") {
  const auto run = [](const std::string& setting) { return run_training("--steps 2 --exit 7", {setting}); };
  check_trouble(run("DEBUBBLE_CUPTI=/nonexistent/libcupti.so"), "U001", "/nonexistent/libcupti.so");
  check_trouble(run("DEBUBBLE_CUPTI=libm.so.6"), "U001", "no function cuptiGetVersion");
  check_trouble(run("FAKE_CUPTI=subscribe=999"), "U020", "no NVIDIA driver");
  check_trouble(run("FAKE_CUPTI=subscribe=39:Nsight Systems"), "U003", "attached to this process: Nsight Systems");
  check_trouble(run("FAKE_CUPTI=subscribe=39"), "U003", "attached to this process (CUPTI allows one)");
  check_trouble(run("FAKE_CUPTI=version=140000"), "U004", "CUPTI 140000 (CUDA 14.0) is newer than what was tested");
  check_trouble(run("FAKE_CUPTI=version=16"), "U004", "CUPTI 16 is too old");
  check_trouble(run("FAKE_CUPTI=refuse=10"), "U005", "cuptiActivityEnable of kind 10: CUPTI_ERROR_INVALID_KIND (21)");
  check_trouble(run("FAKE_CUPTI=subscribe=35"), "U005", "cuptiSubscribe");
}

TEST_CASE("a CUPTI of the next major release is tried where the user says so") {
  const RecordedRun run = run_training("--steps 2", {"FAKE_CUPTI=version=140000", "DEBUBBLE_CUPTI_UNTESTED=1"});
  check_whole(run, 2);
  CHECK(run.only().facts.at("cuda") == "14.0");
}

TEST_CASE("the recording ends before exit handlers of CUPTI that take its records away") {
  check_whole(run_training("--steps 2", {"FAKE_CUPTI=ends-at-exit,late"}), 2);
}

TEST_CASE("everything is disabled before the last, forced flush") {
  check_whole(run_training("--steps 2", {"FAKE_CUPTI=forced-last"}), 2);
  check_whole(run_training("--steps 2", {"FAKE_CUPTI=forced-last,version=17"}), 2);
}

TEST_CASE("devices are not asked for inside cuInit") {
  check_whole(run_training("--steps 2", {"FAKE_CUPTI=no-dump"}), 2);
}

TEST_CASE("devices that CUPTI did not report inside cuInit are asked for later") {
  for (const char* const flags : {"--steps 2", "--steps 4 --step-us 400000"}) {
    const RecordedRun run = run_training(flags, {"FAKE_CUPTI=devices-missed,no-dump"});
    check_whole(run, std::string(flags) == "--steps 2" ? 2 : 4);
    CHECK(run.only().facts.count("device.0.name") == 1);
  }
}

TEST_CASE("a buffer that is used again is zero, whatever CUPTI wrote behind its end") {
  // Fewer buffers in all than may be out at once: on a busy machine the writer may not run before the program ends.
  check_whole(run_training("--steps 8", {"FAKE_CUPTI=spill,buffer=1200"}), 8);
}

TEST_CASE("programs of NVTX 2 find the entry point that they look for") {
  check_whole(run_training("--steps 2", {"FAKE_NVTX_ENTRY=InitializeInjectionNvtx"}), 2);
}

TEST_CASE("kinds that are not needed may be refused") {
  const RecordedRun run = run_training("--steps 2", {"FAKE_CUPTI=refuse=49,refuse=8"});
  check_whole(run, 2);
  CHECK(run.only().facts.at("cupti.refused.49") == "CUPTI_ERROR_INVALID_KIND (21)");
}

TEST_CASE("launches without GPU work mean that another client took the records") {
  const RecordedRun run = run_training("--steps 2 --exit 7", {"FAKE_CUPTI=lose-work"});
  check_trouble(run, "U041", std::to_string(2 * kInjectionWorks) + " launches were seen, but no GPU work came back");
  CHECK(run.only().launches == 2 * kInjectionWorks);
  CHECK(run.only().end.complete);
}

TEST_CASE("without a folder nothing is recorded and the program runs") {
  const RecordedRun run = run_training("--steps 2", {"DEBUBBLE_RECORD_DIR="});
  CHECK(run.status == 0);
  CHECK(run.files.empty());
  CHECK(contains(run.err, "error[U009]"));
  const RecordedRun nowhere = run_training("--steps 2", {"DEBUBBLE_RECORD_DIR=/nonexistent/folder"});
  CHECK(nowhere.status == 0);
  CHECK(nowhere.out == promised(2));
  CHECK(contains(nowhere.err, "error[C051]"));
}

TEST_CASE("without a driver ranges are recorded all the same") {
  const RecordedRun run = run_training("--steps 2 --no-driver");
  CHECK(run.status == 0);
  CHECK(run.only().works == 0);
  CHECK(run.only().pushes == 2 * (1 + 2 * 3 * 5));
  CHECK(run.only().facts.at("gpu") == "not used: no CUDA driver called the injection");
  CHECK(run.only().end.complete);
  CHECK(run.err.empty());
}

TEST_CASE("a GPU that is first used inside a range is linked to it") {
  const RecordedRun run = run_training("--steps 2 --init-in-range");
  CHECK(run.only().time_in("setup") == 700);
  CHECK(run.only().works == 2 * kInjectionWorks + 1);
  CHECK(run.only().unknown_links == 0);
}

TEST_CASE("a recording that is played again is recorded the same") {
  for (const char* const style : {"explicit", "autograd"}) {
    const testing::Scratch scratch;
    const std::string path = scratch.path("kept.dbrec");
    const RecordedRun first = run_training("--steps 3 --style " + std::string(style), {"KEEP_RECORD=" + path});
    const RecordedRun again = testing::run_recorded(DEBUBBLE_FAKE_REPLAY " " + path);
    CHECK(again.status == 0);
    CHECK(again.out == first.out);
    CHECK(again.only().works == 3 * kInjectionWorks);
    CHECK(again.only().time_by_path() == first.only().time_by_path());
    CHECK(again.only().range_names == first.only().range_names);
    CHECK(again.only().losses.empty());
    CHECK(again.only().bytes == 0);
  }
}

TEST_CASE("the file is named after the rank that the launcher gave") {
  for (const char* const variable : {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"}) {
    const RecordedRun run = run_training("--steps 1", {variable + std::string("=3")});
    CHECK(run.files.count("rank3-pid.dbrec") == 1);
    CHECK(run.only().facts.at("rank") == "3");
  }
  CHECK(run_training("--steps 1", {"RANK=../../x"}).files.count("pid.dbrec") == 1);
}

}  // namespace
}  // namespace debubble
