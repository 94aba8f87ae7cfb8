// Records of every struct that a release from 11.6 to 13.5 makes, filled in through NVIDIA's own declarations and read
// by our decoder; and the sizes that the fake libcupti gives them.
#include <cupti.h>

#include <cstring>

#include "profiler/cupti/activity_decoder.hpp"
#include "tests/recording/fake_cupti_versions.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

constexpr std::uint64_t kBegin = 1'700'000'000'000'000'001;
constexpr std::uint64_t kEnd = kBegin + 1234;

// Everything that a buffer of two equal records gives.
struct Seen : RecordSink {
  using RecordSink::on;
  void on(const KernelRecord& record) override {
    works.push_back(record);
    names.emplace_back(record.name);
  }
  void on(const LaunchRecord& record) override { launches.push_back(record); }
  void on(const LinkRecord& record) override { links.push_back(record); }
  void on(const MemoryRecord& record) override { memory.push_back(record); }
  void on(const OverheadRecord& record) override { overheads.push_back(record); }
  void on(const FactRecord& record) override {
    facts.push_back(std::string(record.key) + "=" + std::string(record.value));
  }
  void on(const LossRecord& record) override { losses.emplace_back(record.what); }
  std::vector<KernelRecord> works;
  std::vector<std::string> names;
  std::vector<LaunchRecord> launches;
  std::vector<LinkRecord> links;
  std::vector<MemoryRecord> memory;
  std::vector<OverheadRecord> overheads;
  std::vector<std::string> facts;
  std::vector<std::string> losses;
};

// The walk of a library whose records have this size.
template <class Theirs>
cupti_abi::Result walk_equal(std::uint8_t* buffer, std::size_t valid, cupti_abi::Activity** record) {
  std::uint8_t* const next = *record == nullptr ? buffer : reinterpret_cast<std::uint8_t*>(*record) + sizeof(Theirs);
  if (next + sizeof(Theirs) > buffer + valid) return cupti_abi::kOutOfRecords;
  *record = reinterpret_cast<cupti_abi::Activity*>(next);
  return cupti_abi::kSuccess;
}

// `fill` sets what it knows; all other bytes are noise that nobody may read as something else.
template <class Theirs, class Fill>
Seen decoded(const Fill& fill, std::uint32_t version = 17) {
  Theirs record{};
  std::memset(static_cast<void*>(&record), 0x5a, sizeof record);
  fill(record);
  alignas(8) std::uint8_t buffer[2 * sizeof record];
  std::memcpy(buffer, &record, sizeof record);
  std::memcpy(buffer + sizeof record, &record, sizeof record);
  ActivityDecoder decoder(walk_equal<Theirs>, version, nullptr);
  Seen seen;
  decoder.decode(buffer, sizeof buffer, seen);
  CHECK(seen.losses.empty());
  return seen;
}

template <class Theirs>
void place_work(Theirs& record) {
  record.start = kBegin;
  record.end = kEnd;
  record.deviceId = 3;
  record.contextId = 5;
  record.streamId = 13;
  record.correlationId = 4711;
  record.graphNodeId = 99;
}

void check_work(const Seen& seen, GpuWork work, const std::string& name, Bytes bytes) {
  REQUIRE(seen.works.size() == 2);
  const KernelRecord& record = seen.works[1];
  CHECK(record.work == work);
  CHECK(record.begin == static_cast<Nanoseconds>(kBegin));
  CHECK(record.end == static_cast<Nanoseconds>(kEnd));
  CHECK(record.device == 3);
  CHECK(record.context == 5);
  CHECK(record.stream == 13);
  CHECK(record.correlation == 4711);
  CHECK(record.graph_node == 99);
  CHECK(record.bytes == bytes);
  CHECK(seen.names[1] == name);
}

template <class Theirs>
void check_kernel_struct() {
  const Seen seen = decoded<Theirs>([](Theirs& record) {
    record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    place_work(record);
    record.name = "gemm";
  });
  check_work(seen, GpuWork::kKernel, "gemm", 0);
}

TEST_CASE("kernels of every struct from 11.6 on are read") {
  check_kernel_struct<CUpti_ActivityKernel7>();
  check_kernel_struct<CUpti_ActivityKernel8>();
  check_kernel_struct<CUpti_ActivityKernel9>();
  check_kernel_struct<CUpti_ActivityKernel10>();
  check_kernel_struct<CUpti_ActivityKernel11>();
  check_kernel_struct<CUpti_ActivityKernel12>();
  check_kernel_struct<CUpti_ActivityKernel13>();
}

template <class Theirs>
void check_copy_struct() {
  const Seen seen = decoded<Theirs>([](Theirs& record) {
    record.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
    record.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_DTOH;
    record.bytes = 4096;
    place_work(record);
  });
  check_work(seen, GpuWork::kCopy, "copy device to host", 4096);
}

template <class Theirs>
void check_set_struct() {
  const Seen set = decoded<Theirs>([](Theirs& record) {
    record.kind = CUPTI_ACTIVITY_KIND_MEMSET;
    record.bytes = 512;
    place_work(record);
  });
  check_work(set, GpuWork::kSet, "set", 512);
}

TEST_CASE("copies and sets of every struct from 11.6 on are read") {
  check_copy_struct<CUpti_ActivityMemcpy5>();
  check_copy_struct<CUpti_ActivityMemcpy6>();
  check_copy_struct<CUpti_ActivityMemcpy7>();
  const Seen peer = decoded<CUpti_ActivityMemcpyPtoP4>([](CUpti_ActivityMemcpyPtoP4& record) {
    record.kind = CUPTI_ACTIVITY_KIND_MEMCPY2;
    record.bytes = 4096;
    place_work(record);
  });
  check_work(peer, GpuWork::kPeerCopy, peer.names.at(0), 4096);
  check_set_struct<CUpti_ActivityMemset4>();
  check_set_struct<CUpti_ActivityMemset5>();
}

TEST_CASE("calls and their links are read") {
  const Seen calls = decoded<CUpti_ActivityAPI>([](CUpti_ActivityAPI& record) {
    record.kind = CUPTI_ACTIVITY_KIND_DRIVER;
    record.cbid = CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel;
    record.start = kBegin;
    record.end = kEnd;
    record.threadId = 77;
    record.correlationId = 4711;
  });
  REQUIRE(calls.launches.size() == 2);
  CHECK(calls.launches[1].thread == 77);
  CHECK(calls.launches[1].correlation == 4711);
  CHECK(calls.launches[1].end == static_cast<Nanoseconds>(kEnd));
  const Seen links = decoded<CUpti_ActivityExternalCorrelation>([](CUpti_ActivityExternalCorrelation& record) {
    record.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
    record.externalKind = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2;
    record.externalId = 8;
    record.correlationId = 4711;
  });
  REQUIRE(links.links.size() == 2);
  CHECK(links.links[1].range == 8);
}

template <class Theirs>
void check_memory_struct() {
  const Seen seen = decoded<Theirs>([](Theirs& record) {
    record.kind = CUPTI_ACTIVITY_KIND_MEMORY2;
    record.memoryOperationType = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE;
    record.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
    record.address = 0x7000;
    record.bytes = 2048;
    record.timestamp = kBegin;
    record.deviceId = 3;
  });
  REQUIRE(seen.memory.size() == 2);
  CHECK(seen.memory[1].bytes == -2048);
  CHECK(seen.memory[1].address == 0x7000);
  CHECK(seen.memory[1].device == 3);
  CHECK(seen.memory[1].time == static_cast<Nanoseconds>(kBegin));
}

TEST_CASE("allocations of every struct are read") {
  check_memory_struct<CUpti_ActivityMemory2>();
  check_memory_struct<CUpti_ActivityMemory3>();
  check_memory_struct<CUpti_ActivityMemory4>();
}

template <class Theirs>
void check_overhead_struct() {
  const Seen seen = decoded<Theirs>([](Theirs& record) {
    record.kind = CUPTI_ACTIVITY_KIND_OVERHEAD;
    record.overheadKind = CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING;
    record.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
    record.objectId.pt.threadId = 77;
    record.start = kBegin;
    record.end = kEnd;
  });
  REQUIRE(seen.overheads.size() == 2);
  CHECK(seen.overheads[1].kind == OverheadKind::kLazyLoading);
  CHECK(seen.overheads[1].thread == 77);
  CHECK(seen.overheads[1].end == static_cast<Nanoseconds>(kEnd));
}

TEST_CASE("overhead of every struct is read") {
  check_overhead_struct<CUpti_ActivityOverhead>();
  check_overhead_struct<CUpti_ActivityOverhead2>();
  check_overhead_struct<CUpti_ActivityOverhead3>();
}

template <class Theirs>
void check_device_struct() {
  const Seen seen = decoded<Theirs>([](Theirs& record) {
    record.kind = CUPTI_ACTIVITY_KIND_DEVICE;
    record.id = 3;
    record.name = "GPU of a test";
    record.globalMemorySize = std::uint64_t{80} << 30U;
    record.numMultiprocessors = 132;
    record.computeCapabilityMajor = 9;
    record.computeCapabilityMinor = 0;
  });
  REQUIRE(seen.facts.size() == 10);
  CHECK(seen.facts[0] == "device.3.name=GPU of a test");
  CHECK(seen.facts[2] == "device.3.memory=85899345920");
  CHECK(seen.facts[3] == "device.3.processors=132");
  CHECK(seen.facts[4] == "device.3.capability=9.0");
}

TEST_CASE("devices of every struct are read") {
  check_device_struct<CUpti_ActivityDevice3>();
  check_device_struct<CUpti_ActivityDevice4>();
  check_device_struct<CUpti_ActivityDevice5>();
  check_device_struct<CUpti_ActivityDevice6>();
}

TEST_CASE("the fake libcupti's records have the sizes of NVIDIA's structs") {
  const auto row = [](std::uint32_t version) { return testing::fake_cupti_version(version); };
  CHECK(row(17).kernel == sizeof(CUpti_ActivityKernel7));
  CHECK(row(18).kernel == sizeof(CUpti_ActivityKernel8));
  CHECK(row(19).kernel == sizeof(CUpti_ActivityKernel9));
  CHECK(row(28).kernel == sizeof(CUpti_ActivityKernel9));
  CHECK(row(130001).kernel == sizeof(CUpti_ActivityKernel10));
  CHECK(row(130202).kernel == sizeof(CUpti_ActivityKernel11));
  CHECK(row(130301).kernel == sizeof(CUpti_ActivityKernel12));
  CHECK(row(24).copy == sizeof(CUpti_ActivityMemcpy5));
  CHECK(row(130301).copy == sizeof(CUpti_ActivityMemcpy6));
  CHECK(row(130301).set == sizeof(CUpti_ActivityMemset4));
  CHECK(row(23).memory == sizeof(CUpti_ActivityMemory3));
  CHECK(row(20).overhead == sizeof(CUpti_ActivityOverhead));
  CHECK(row(21).overhead == sizeof(CUpti_ActivityOverhead2));
  CHECK(row(19).device == sizeof(CUpti_ActivityDevice4));
  CHECK(row(130101).device == sizeof(CUpti_ActivityDevice5));
  const testing::FakeCuptiVersion newest = row(CUPTI_API_VERSION);
  CHECK(newest.kernel == sizeof(CUpti_ActivityKernel13));
  CHECK(newest.copy == sizeof(CUpti_ActivityMemcpy7));
  CHECK(newest.peer_copy == sizeof(CUpti_ActivityMemcpyPtoP4));
  CHECK(newest.set == sizeof(CUpti_ActivityMemset5));
  CHECK(newest.memory == sizeof(CUpti_ActivityMemory4));
  CHECK(newest.overhead == sizeof(CUpti_ActivityOverhead3));
  CHECK(newest.device == sizeof(CUpti_ActivityDevice6));
}

}  // namespace
}  // namespace debubble
