// Every release of CUPTI that we know to behave in its own way (fake_cupti_versions.hpp), through the whole path.
#include <cstring>
#include <ctime>

#include "profiler/cupti/abi.hpp"
#include "profiler/cupti/activity_decoder.hpp"
#include "profiler/cupti/buffer_pool.hpp"
#include "profiler/cupti/record_judge.hpp"
#include "profiler/cupti/release.hpp"
#include "tests/recording/fake_cupti_versions.hpp"
#include "tests/recording/recorded_run.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

using testing::fake_cupti_versions;
using testing::FakeCuptiVersion;
using testing::RecordedRun;
using testing::run_training;
using testing::Tally;

constexpr std::int64_t kVersionWorks = 2 * 3 * 5 + 2;  // of a step of fake_training

std::string of_version(const FakeCuptiVersion& version, const std::string& more = "") {
  return "FAKE_CUPTI=version=" + std::to_string(version.version) + more;
}

void check_all_there(const RecordedRun& run, std::int64_t steps) {
  CHECK(run.status == 0);
  CHECK(run.err.empty());
  CHECK(run.troubles.empty());
  const Tally& tally = run.only();
  CHECK(tally.end.complete);
  CHECK(tally.losses.empty());
  CHECK(tally.works == steps * kVersionWorks);
  CHECK(tally.links == tally.works);
  CHECK(tally.unknown_links == 0);
  CHECK(tally.time_in("debubble.layer:block.1/debubble.phase:F") == steps * 2 * 14'000);
  CHECK(tally.bytes == 0);
  CHECK(tally.facts.at("device.0.name") == "Fake GPU");
}

TEST_CASE("records of every release are read, in buffers of any size") {
  for (const FakeCuptiVersion& version : fake_cupti_versions()) {
    for (const char* const more : {"", ",buffer=700,spill", ",devices-missed", ",late,gpu-first"}) {
      CAPTURE(version.version);
      CAPTURE(std::string(more));
      const RecordedRun run = run_training("--steps 4", {of_version(version, more)});
      check_all_there(run, 4);
      CHECK(run.only().facts.at("cuda") == version.cuda);
    }
  }
}

TEST_CASE("a release without the newer functions is enough") {
  for (const FakeCuptiVersion& version : fake_cupti_versions()) {
    if (version.version >= cupti_abi::kFirstLongVersion) continue;
    CAPTURE(version.version);
    check_all_there(run_training("--steps 2", {of_version(version), "DEBUBBLE_CUPTI=" DEBUBBLE_FAKE_CUPTI_OLD}), 2);
  }
}

TEST_CASE("a newer minor release is used with a note, a tested one without") {
  const RecordedRun newer = run_training("--steps 2", {"FAKE_CUPTI=version=130200"});
  CHECK(newer.only().facts.at("cupti.note").find("CUPTI 130200 (CUDA 13.2) is not one that was tested") == 0);
  CHECK(run_training("--steps 2").only().facts.count("cupti.note") == 0);
}

TEST_CASE("records of a newer release that make no sense are refused, and none is used") {
  const RecordedRun run = run_training("--steps 4 --exit 7", {"FAKE_CUPTI=version=130200,shifted"});
  CHECK(run.status == 7);
  REQUIRE(run.troubles.size() == 1);
  CHECK(run.troubles[0].code == "U011");
  CHECK(contains(run.troubles[0].message, "make no sense: "));
  CHECK(run.only().works == 0);
  CHECK(run.only().losses.at("disbelieved_buffers") > 0);
  CHECK(run.only().facts.count("cupti.disbelief") == 1);
  CHECK(run.only().end.complete);
}

const Diagnostic& only_trouble(const RecordedRun& run) {
  REQUIRE(run.troubles.size() == 1);
  return run.troubles[0];
}

// The fake CUPTI with calls of single subscribers, and a driver for it.
std::vector<std::string> scoped_cupti(const std::string& options) {
  return {"FAKE_CUPTI=version=130300" + options, "DEBUBBLE_CUPTI=" DEBUBBLE_FAKE_CUPTI_SCOPED,
          "DEBUBBLE_LIBCUDA=" DEBUBBLE_FAKE_LIBCUDA, "FAKE_DRIVER_CUDA=13030"};
}

TEST_CASE("calls of single subscribers are never mixed with the global ones") {
  // In this library cuptiSubscribe_v2 would make every global call fail with 14.
  check_all_there(run_training("--steps 2", scoped_cupti("")), 2);
}

TEST_CASE("a CUPTI of 13.2 or later is not called without a driver") {
  // This one would answer, and everything be recorded.
  std::vector<std::string> environment = scoped_cupti("");
  environment[2] = "DEBUBBLE_LIBCUDA=/none";
  const RecordedRun run = run_training("--steps 2 --exit 7", environment);
  CHECK(run.status == 7);
  CHECK(only_trouble(run).code == "U020");
  CHECK(only_trouble(run).message.find("there is no NVIDIA driver: this CUPTI cannot be used without one") == 0);
  CHECK(run.only().works == 0);
}

TEST_CASE("result 14 is told for what it is") {
  const RecordedRun other = run_training("--steps 2", scoped_cupti(",enable=14"));
  CHECK(only_trouble(other).code == "U003");
  CHECK(only_trouble(other).message.find("another client of CUPTI in this process makes calls of its own") == 0);
  CHECK(contains(only_trouble(other).message, "CUPTI_ERROR_NOT_COMPATIBLE (14)"));
  const RecordedRun old = run_training("--steps 2", {"FAKE_CUPTI=enable=14"});
  CHECK(only_trouble(old).code == "U005");
  CHECK(contains(only_trouble(old).message, "what other tools of this process have enabled"));
}

TEST_CASE("result 15 is told for what it is: a driver older than this CUPTI") {
  const std::vector<std::string> driver = {"DEBUBBLE_LIBCUDA=" DEBUBBLE_FAKE_LIBCUDA, "FAKE_CUPTI=subscribe=15",
                                           "FAKE_DRIVER_CUDA=12040"};
  const RecordedRun older = run_training("--steps 2", driver);
  CHECK(only_trouble(older).code == "U025");
  CHECK(only_trouble(older).message.find(
            "the driver supports CUDA 12.4 only, older than the CUPTI of CUDA 13.0, which cannot connect to it") == 0);
  CHECK(contains(only_trouble(older).help, "a libcupti.so of CUDA 12.4"));
  const RecordedRun none = run_training("--steps 2", {"FAKE_CUPTI=subscribe=15", "DEBUBBLE_LIBCUDA=/none"});
  CHECK(only_trouble(none).code == "U020");
  CHECK(only_trouble(none).message.find("there is no NVIDIA driver: CUPTI refused cuptiSubscribe") == 0);
  const RecordedRun newer = run_training("--steps 2", {driver[0], driver[1], "FAKE_DRIVER_CUDA=13020"});
  CHECK(only_trouble(newer).code == "U005");
  CHECK(contains(only_trouble(newer).message, "although that supports CUDA 13.2"));
}

TEST_CASE("version numbers and releases") {
  for (const FakeCuptiVersion& version : fake_cupti_versions()) {
    CHECK(release_text(cuda_of_cupti(version.version)) == version.cuda);
  }
  CHECK(cuda_of_cupti(130502) == 13050);
  CHECK(cuda_of_cupti(16) == 0);
  CHECK(release_text(0).empty());
}

// One kernel that makes sense.
cupti_abi::Kernel sensible_kernel() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  cupti_abi::Kernel kernel{};
  kernel.kind = cupti_abi::kConcurrentKernel;
  kernel.start = static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U;
  kernel.end = kernel.start + 1000;
  kernel.stream = 7;
  kernel.correlation = 1;
  kernel.name = "gemm";
  return kernel;
}

cupti_abi::Result walk_one_kernel(std::uint8_t* buffer, std::size_t, cupti_abi::Activity** record) {
  if (*record != nullptr) return cupti_abi::kOutOfRecords;
  *record = reinterpret_cast<cupti_abi::Activity*>(buffer);
  return cupti_abi::kSuccess;
}

std::string judged(cupti_abi::Kernel kernel) {
  RecordJudge judge(walk_one_kernel);
  return judge.judge(reinterpret_cast<std::uint8_t*>(&kernel), sizeof kernel);
}

TEST_CASE("what makes a record senseless") {
  CHECK(judged(sensible_kernel()).empty());
  const auto with = [](auto change) {
    cupti_abi::Kernel kernel = sensible_kernel();
    change(kernel);
    return judged(kernel);
  };
  CHECK(with([](auto& k) { k.start = k.end = 0; }).empty());  // lost on the way: the library says so
  CHECK(with([](auto& k) { std::swap(k.start, k.end); }).starts_with("a kernel ends before it begins ("));
  CHECK(with([](auto& k) { k.start = 7; }).starts_with("a kernel is not of this hour ("));
  CHECK(with([](auto& k) { k.stream = 0x7f001234; }).starts_with("a kernel ran on stream "));
  CHECK(with([](auto& k) { k.stream = 0xffffffff; }).empty());  // CUPTI_INVALID_STREAM_ID
  CHECK(with([](auto& k) { k.device = 0x7f001234; }).starts_with("a kernel ran on device "));
  CHECK(with([](auto& k) { k.correlation = 0; }).empty());  // CUPTI_CORRELATION_ID_UNKNOWN
  CHECK(with([](auto& k) { k.block[0] = k.block[1] = 64; }) == "a kernel has 4096 threads in a block");
  CHECK(with([](auto& k) { k.block[0] = 32767; }) == "a kernel has no grid");
  CHECK(with([](auto& k) { k.name = nullptr; }) == "a kernel's name is not text");
  CHECK(with([](auto& k) { k.name = "\x01\x02"; }) == "a kernel's name is not text");
  // NOLINTBEGIN(performance-no-int-to-ptr): what a record of another layout has there is no pointer
  CHECK(with([](auto& k) { k.name = reinterpret_cast<const char*>(k.start); }) == "a kernel's name is not text");
  CHECK(with([](auto& k) { k.name = reinterpret_cast<const char*>(std::uintptr_t{8}); }) ==
        "a kernel's name is not text");
  // NOLINTEND(performance-no-int-to-ptr)
}

TEST_CASE("times are judged by the library's own clock") {
  const auto clock = [](std::uint64_t* time) -> cupti_abi::Result {
    *time = 5000;
    return cupti_abi::kSuccess;
  };
  cupti_abi::Kernel kernel = sensible_kernel();
  RecordJudge strict(walk_one_kernel, clock);
  CHECK(strict.judge(reinterpret_cast<std::uint8_t*>(&kernel), sizeof kernel)
            .starts_with("a kernel is not of this hour"));
  kernel.start = 4000;
  kernel.end = 4500;
  RecordJudge judge(walk_one_kernel, clock);
  CHECK(judge.judge(reinterpret_cast<std::uint8_t*>(&kernel), sizeof kernel).empty());
}

TEST_CASE("a walk that leaves the buffer is not followed") {
  const auto walk = [](std::uint8_t* buffer, std::size_t valid, cupti_abi::Activity** record) -> cupti_abi::Result {
    *record = reinterpret_cast<cupti_abi::Activity*>(*record == nullptr ? buffer : buffer + valid - 8);
    return cupti_abi::kSuccess;
  };
  std::vector<cupti_abi::Kernel> kernels(2, sensible_kernel());
  auto* const buffer = reinterpret_cast<std::uint8_t*>(kernels.data());
  RecordJudge judge(walk);
  CHECK(judge.judge(buffer, 2 * sizeof kernels[0]) == "the library's own walk leaves the buffer");
  // A release that is believed: what is before is kept, the rest counted.
  Tally tally;
  ActivityDecoder decoder(walk, 130001, nullptr);
  decoder.decode(buffer, 2 * sizeof kernels[0], tally);
  CHECK(tally.works == 1);
  CHECK(tally.losses.at("unreadable_buffers") == 1);
}

TEST_CASE("buffers come back zero, whole") {
  BufferPool& pool = BufferPool::instance();
  std::uint8_t* const first = pool.take(true);
  std::memset(first, 0xff, 100);
  first[5000] = first[BufferPool::kSize - 1] = 1;
  pool.give_back(first, 100);
  std::uint8_t* const again = pool.take(true);
  CHECK(again == first);
  bool zero = true;
  for (std::size_t i = 0; i < BufferPool::kSize; ++i) zero = zero && again[i] == 0;
  CHECK(zero);
  pool.give_back(again, 0);
}

TEST_CASE("troubles are read as they were written") {
  const Diagnostic plain{"U003", "", "another profiler is attached", "end it"};
  const Diagnostic nasty{"U005", "/a b/lib.so", "two\nlines, a \\n and a \\", "help: code: U041\n\nmessage: x"};
  const std::vector<Diagnostic> read = read_troubles(trouble_text(plain) + trouble_text(nasty));
  REQUIRE(read.size() == 2);
  CHECK(trouble_text(read[0]) == trouble_text(plain));
  CHECK(read[1].code == nasty.code);
  CHECK(read[1].place == nasty.place);
  CHECK(read[1].message == nasty.message);
  CHECK(read[1].help == nasty.help);
  CHECK(read_troubles("").empty());
  const std::string whole = trouble_text(plain);
  for (std::size_t size = 1; size < whole.size(); ++size) {
    const std::vector<Diagnostic> cut = read_troubles(whole.substr(0, size));
    REQUIRE(cut.size() == 1);
    CHECK(cut[0].code == "U009");
  }
}

}  // namespace
}  // namespace debubble
