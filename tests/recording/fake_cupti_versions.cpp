#include "tests/recording/fake_cupti_versions.hpp"

#include <algorithm>
#include <iterator>

#include "profiler/cupti/abi.hpp"
#include "tests/recording/fake_cupti_engine.hpp"

namespace debubble::testing {

namespace {

// Which release has which struct: "deprecated in" and "onwards" of the structs' own comments in
// cupti_activity_deprecated.h of CUDA 13.0; abi_records_test.cpp compares the sizes with sizeof. Where a comment names
// no release, the row has the older of two, or the step is put where no other row would run the struct. Not of NVIDIA:
// that releases below API version 27 may crash without a buffer is why PyTorch's Kineto never refuses one there; that
// the oldest do not know the attribute of zeroed buffers is assumed, so that both ways are run. The sonames of CUDA 11
// are those of its packages, from memory.
constexpr std::string_view kHeaders116 =
    "Kernel6, Memcpy4, MemcpyPtoP3, Memset3: deprecated in CUDA 11.6; Device4: 11.6 onwards; Memory2, Overhead";
constexpr std::string_view kHeaders118 = "Kernel7: deprecated in CUDA 11.8";
constexpr std::string_view kHeaders120 = "Kernel9, Memory3: no release named";
constexpr std::string_view kHeaders122 = "Overhead: deprecated in CUDA 12.2";
constexpr std::string_view kHeaders128 = "Memcpy5: deprecated in CUDA 12.8";
constexpr std::string_view kHeaders130 = "cupti_activity.h of 13.0: Kernel10, Memory4, Overhead3, Device5";
// Sizes nobody told us: records only have to be longer, as they have been in every release until now.
constexpr std::string_view kReleaseNotes132 =
    "CUPTI's release notes of 13.2: Kernel11, Device6; their sizes are made up";
constexpr std::string_view kReleaseNotes133 = "13.3: calls of single subscribers, see fake_cupti_scoped; sizes made up";

}  // namespace

const std::vector<FakeCuptiVersion>& fake_cupti_versions() {
  static const std::vector<FakeCuptiVersion> versions = {
      {17, "11.6", "libcupti.so.11.6", 176, 88, 96, 88, 112, 40, 176, false, true, kHeaders116},
      {18, "11.8", "libcupti.so.11.8", 200, 88, 96, 88, 112, 40, 176, false, true, kHeaders118},
      {19, "12.0", "libcupti.so.12", 208, 88, 96, 88, 120, 40, 176, false, true, kHeaders120},
      {20, "12.2", "libcupti.so.12", 208, 88, 96, 88, 120, 48, 176, false, true, kHeaders122},
      {22, "12.4", "libcupti.so.12", 208, 88, 96, 88, 120, 48, 176, true, true, kHeaders122},
      {26, "12.8", "libcupti.so.12", 208, 96, 96, 88, 120, 48, 176, true, true, kHeaders128},
      {28, "12.9", "libcupti.so.12", 208, 96, 96, 88, 120, 48, 176, true, false, kHeaders128},
      {130000, "13.0", "libcupti.so.13", 216, 96, 96, 88, 128, 56, 184, true, false, kHeaders130},
      {130001, "13.0", "libcupti.so.13", 216, 96, 96, 88, 128, 56, 184, true, false, kHeaders130},
      {130200, "13.2", "libcupti.so.13", 232, 96, 96, 88, 128, 56, 200, true, false, kReleaseNotes132},
      {130300, "13.3", "libcupti.so.13", 240, 104, 104, 96, 144, 72, 208, true, false, kReleaseNotes133},
  };
  return versions;
}

const FakeCuptiVersion& fake_cupti_version(std::uint32_t version) {
  const std::vector<FakeCuptiVersion>& all = fake_cupti_versions();
  const auto above = std::find_if(all.begin(), all.end(), [&](const auto& row) { return row.version > version; });
  return above == all.begin() ? all.front() : *std::prev(above);
}

std::size_t record_size(const FakeCuptiVersion& version, std::uint32_t kind) {
  switch (kind) {
    case cupti_abi::kConcurrentKernel:
      return version.kernel;
    case cupti_abi::kMemcpy:
      return version.copy;
    case cupti_abi::kPeerMemcpy:
      return version.peer_copy;
    case cupti_abi::kMemset:
      return version.set;
    case cupti_abi::kDriver:
    case cupti_abi::kRuntime:
      return 40;
    case cupti_abi::kExternalCorrelation:
      return 24;
    case cupti_abi::kMemory2:
      return version.memory;
    case cupti_abi::kOverhead:
      return version.overhead;
    case kForeignKind:
      return 56;
    case cupti_abi::kDevice:
      return version.device;
    default:
      return 0;
  }
}

}  // namespace debubble::testing
