// The decoder on synthetic buffers: the records of CUDA 13.0, packed as CUPTI packs them. Walked by our own table and,
// where it is there, by cuptiActivityGetNextRecord of the oldest libcupti; both must give the same.
#include <dlfcn.h>

#include <cstring>
#include <random>

#include "profiler/cupti/activity_decoder.hpp"
#include "profiler/cupti/activity_walker.hpp"
#include "profiler/records/record_text.hpp"
#include "tests/recording/fake_cupti_versions.hpp"
#include "tests/support/test.hpp"
#include "tests/witness/witness.hpp"

namespace debubble {
namespace {

namespace abi = cupti_abi;

// Packs records one behind the other, each as long as a release makes it: CUDA 13.0, unless another is named.
class Packed {
 public:
  explicit Packed(std::uint32_t version = 130001) : version_(testing::fake_cupti_version(version)) {}

  template <class Known>
  Packed& add(const Known& known) {
    return add(known, testing::record_size(version_, known.kind));
  }
  template <class Known>
  Packed& add(const Known& known, std::size_t size) {
    const std::size_t at = bytes_.size();
    bytes_.resize(at + size);
    std::memcpy(bytes_.data() + at, &known, std::min(sizeof known, size));
    return *this;
  }
  [[nodiscard]] std::vector<std::uint64_t> words() const {  // aligned to 8
    std::vector<std::uint64_t> words(bytes_.size() / 8 + 1);
    if (!bytes_.empty()) std::memcpy(words.data(), bytes_.data(), bytes_.size());
    return words;
  }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }

 private:
  const testing::FakeCuptiVersion& version_;
  std::vector<std::uint8_t> bytes_;
};

abi::Kernel kernel(std::uint32_t correlation, std::uint64_t start, std::uint64_t end, const char* name) {
  abi::Kernel record{};
  record.kind = abi::kConcurrentKernel;
  record.correlation = correlation;
  record.start = start;
  record.end = end;
  record.device = 1;
  record.context = 2;
  record.stream = 3;
  record.name = name;
  return record;
}

abi::Api call(std::uint32_t kind, std::uint32_t number, std::uint32_t correlation) {
  return {kind, number, 100, 200, 1, 77, correlation, 0};
}

// A record of this kind with all else 0.
template <class Known>
Known empty(std::uint32_t kind) {
  Known record{};
  record.kind = kind;
  return record;
}

Packed all_kinds(std::uint32_t version = 130001) {
  Packed packed(version);
  abi::Device device{};
  device.kind = abi::kDevice;
  device.id = 1;
  device.name = "Some GPU";
  device.memory = 1024;
  packed.add(device);
  packed.add(abi::ExternalCorrelation{abi::kExternalCorrelation, abi::kExternalKindCustom2, 9, 41, 0});
  packed.add(abi::ExternalCorrelation{abi::kExternalCorrelation, 3, 1000, 41, 0});  // Kineto's
  packed.add(call(abi::kRuntime, 211, 41)).add(call(abi::kDriver, 307, 42));
  packed.add(call(abi::kRuntime, 1, 43));  // not a launch
  packed.add(kernel(41, 1000, 2000, "gemm")).add(kernel(42, 0, 0, nullptr));
  abi::Memcpy copy{};
  copy.kind = abi::kMemcpy;
  copy.copy_kind = 8;
  copy.bytes = 4096;
  copy.start = 3000;
  copy.end = 3500;
  copy.correlation = 44;
  packed.add(copy);
  abi::PeerMemcpy peer{};
  peer.kind = abi::kPeerMemcpy;
  peer.bytes = 8192;
  peer.start = 3600;
  peer.end = 3700;
  peer.correlation = 45;
  packed.add(peer);
  abi::Memset set{};
  set.kind = abi::kMemset;
  set.bytes = 16;
  set.start = 3800;
  set.end = 3900;
  set.correlation = 46;
  packed.add(set);
  abi::Memory memory{};
  memory.kind = abi::kMemory2;
  memory.operation = abi::kAllocation;
  memory.memory_kind = abi::kMemoryDevice;
  memory.address = 0x1000;
  memory.bytes = 512;
  memory.time = 4000;
  packed.add(memory);
  memory.operation = abi::kRelease;
  packed.add(memory);
  memory.memory_kind = 2;  // pinned host memory is not the GPU's
  packed.add(memory);
  abi::Overhead overhead{};
  overhead.kind = abi::kOverhead;
  overhead.overhead_kind = abi::kOverheadModuleLoading;
  overhead.object_kind = abi::kObjectThread;
  overhead.object_thread = 77;
  overhead.start = 5000;
  overhead.end = 6000;
  packed.add(overhead);
  return packed;
}

const char* const kAllKinds =
    "fact device.1.name=\"Some GPU\"\n"
    "fact device.1.uuid=\"GPU-00000000-0000-0000-0000-000000000000\"\n"
    "fact device.1.memory=\"1024\"\n"
    "fact device.1.processors=\"0\"\n"
    "fact device.1.capability=\"0.0\"\n"
    "link correlation=41 range=9\n"
    "launch correlation=41 thread=77 begin=100 end=200\n"
    "launch correlation=42 thread=77 begin=100 end=200\n"
    "work kind=kernel correlation=41 device=1 context=2 stream=3 begin=1000 end=2000 name=\"gemm\"\n"
    "work kind=kernel correlation=42 device=1 context=2 stream=3 begin=0 end=0 name=\"unnamed kernel\"\n"
    "work kind=copy correlation=44 device=0 context=0 stream=0 begin=3000 end=3500 bytes=4096 name=\"copy device to "
    "device\"\n"
    "work kind=peer-copy correlation=45 device=0 context=0 stream=0 begin=3600 end=3700 bytes=8192 name=\"copy peer to "
    "peer\"\n"
    "work kind=set correlation=46 device=0 context=0 stream=0 begin=3800 end=3900 bytes=16 name=\"set\"\n"
    "memory device=0 time=4000 address=4096 bytes=512\n"
    "memory device=0 time=4000 address=4096 bytes=-512\n"
    "overhead kind=module-loading thread=77 begin=5000 end=6000\n";

std::string decoded(ActivityDecoder& decoder, const Packed& packed, std::size_t valid) {
  std::vector<std::uint64_t> words = packed.words();
  std::string text;
  RecordText sink(text);
  decoder.decode(reinterpret_cast<std::uint8_t*>(words.data()), valid, sink);
  return text;
}

// cuptiActivityGetNextRecord of a libcupti that needs no driver for it, and its version; null without one.
NextRecord real_next_record(std::uint32_t& version) {
  for (const std::string& library : testing::witnesses("libcupti.so.11.")) {
    void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    REQUIRE(handle != nullptr);
    reinterpret_cast<abi::Result (*)(std::uint32_t*)>(dlsym(handle, "cuptiGetVersion"))(&version);
    return reinterpret_cast<NextRecord>(dlsym(handle, "cuptiActivityGetNextRecord"));
  }
  return nullptr;
}

Packed random_records(std::uint32_t version, unsigned seed) {
  std::mt19937 random(seed);
  Packed packed(version);
  for (std::uint32_t i = 0; i < random() % 50; ++i) {
    if (random() % 3 == 0) packed.add(call(abi::kRuntime, 211, i));
    if (random() % 3 == 0) packed.add(kernel(i, i, i + random() % 1000, "k"));
    if (random() % 5 == 0) packed.add(abi::ExternalCorrelation{abi::kExternalCorrelation, 5, i, i, 0});
    if (random() % 7 == 0) packed.add(empty<abi::Memcpy>(abi::kMemcpy));
    if (random() % 7 == 0) packed.add(empty<abi::PeerMemcpy>(abi::kPeerMemcpy));
    if (random() % 7 == 0) packed.add(empty<abi::Memset>(abi::kMemset));
    if (random() % 7 == 0) packed.add(empty<abi::Memory>(abi::kMemory2));
    if (random() % 7 == 0) packed.add(empty<abi::Overhead>(abi::kOverhead));
    if (random() % 9 == 0) packed.add(empty<abi::Device>(abi::kDevice));
  }
  return packed;
}

TEST_CASE("every kind of activity becomes its record") {
  std::string found;
  ActivityDecoder decoder(nullptr, 130001, [&](std::uint32_t device, const std::string& uuid) {
    found = std::to_string(device) + " " + uuid;
  });
  const Packed packed = all_kinds();
  CHECK(decoded(decoder, packed, packed.size()) == kAllKinds);
  CHECK(found == "1 GPU-00000000-0000-0000-0000-000000000000");
  CHECK(decoder.counts().kernels == 2);
  CHECK(decoder.counts().copies == 3);
  CHECK(decoder.counts().launches == 2);
  CHECK(decoder.counts().timeless == 1);
}

TEST_CASE("CUPTI's own walk over a buffer and ours agree") {
  std::uint32_t version = 0;
  const NextRecord real = real_next_record(version);
  if (real == nullptr) return;
  for (unsigned seed = 0; seed < 200; ++seed) {
    const Packed newer = random_records(130001, seed);
    const Packed older = random_records(version, seed);
    ActivityDecoder ours(nullptr, 130001, {});
    ActivityDecoder theirs(real, version, {});
    CHECK(decoded(ours, newer, newer.size()) == decoded(theirs, older, older.size()));
  }
  ActivityDecoder theirs(real, version, {});
  const Packed packed = all_kinds(version);
  CHECK(decoded(theirs, packed, packed.size()) == kAllKinds);
}

TEST_CASE("a buffer cut off anywhere gives the records before the cut") {
  const Packed packed = all_kinds();
  const std::string whole = kAllKinds;
  for (std::size_t valid = 0; valid < packed.size(); valid += 8) {
    ActivityDecoder decoder(nullptr, 130001, {});
    const std::string text = decoded(decoder, packed, valid);
    INFO(valid);
    CHECK(whole.starts_with(text));
  }
}

TEST_CASE("an unknown kind ends our own walk and is counted") {
  Packed packed;
  packed.add(kernel(1, 10, 20, "a"), 216).add(abi::Activity{12}, 56).add(kernel(2, 10, 20, "b"), 216);
  ActivityDecoder decoder(nullptr, 130001, {});
  CHECK(decoded(decoder, packed, packed.size()) ==
        "work kind=kernel correlation=1 device=1 context=2 stream=3 begin=10 end=20 name=\"a\"\n"
        "loss unreadable_buffers=1\n");
}

TEST_CASE("details that an overhead record owns are freed, from CUDA 12.4 on") {
  for (const std::uint32_t version :
       {abi::kOverheadHasData, std::uint32_t{28}, std::uint32_t{130001}, abi::kNewestHeaders}) {
    CAPTURE(version);
    abi::OverheadWithData overhead{};
    overhead.overhead.kind = abi::kOverhead;
    overhead.data = std::malloc(64);  // NOLINT: the record's owner frees it; a leak would be the sanitizer's finding
    Packed packed;
    packed.add(overhead, 56);
    ActivityDecoder decoder(nullptr, version, {});
    decoded(decoder, packed, packed.size());
  }
}

}  // namespace
}  // namespace debubble
