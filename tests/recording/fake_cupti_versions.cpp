#include "tests/recording/fake_cupti_versions.hpp"

#include <algorithm>
#include <iterator>

#include "profiler/cupti/abi.hpp"
#include "tests/recording/fake_cupti_engine.hpp"

namespace debubble::testing {

namespace {

// The sizes of records of kinds 10, 1, 22, 2, 49, 17 and 8. Up to 13.1 they are the steps that the release's library
// makes from one record to the next (cuptiActivityGetNextRecord; decoder_test.cpp walks with the oldest), whatever its
// headers call the newest struct; from 13.2 on, where that takes a driver, sizeof in its headers. Two rows have no
// library of their own: 11.6 is not to be had as a Python package, but 11.7 says the same version; 19 is 12.0's in the
// headers' list, but 12.0 and 12.1 define and say 18.
//
// Not of NVIDIA: that releases below API version 27 may crash without a buffer is why PyTorch's Kineto never refuses
// one there; that the oldest do not know the attribute of zeroed buffers is assumed, so that both ways are run. The
// sonames are those of the libraries.
constexpr std::string_view kOfCuda11 = "nvidia-cuda-cupti-cu11 11.7.101, 11.8.87";
constexpr std::string_view kOfCuda12 =
    "nvidia-cuda-cupti-cu12 12.0.146, 12.2.142, 12.3.101, 12.4.127, 12.6.80, 12.8.90";
constexpr std::string_view kOfCuda13 = "nvidia-cuda-cupti 13.0.85, 13.1.115, 13.2.86, 13.3.75, 13.4.92";

}  // namespace

const std::vector<FakeCuptiVersion>& fake_cupti_versions() {
  static const std::vector<FakeCuptiVersion> versions = {
      {17, "11.6", "libcupti.so.11.6", 176, 88, 96, 88, 120, 40, 176, false, true, kOfCuda11},
      {18, "11.8", "libcupti.so.11.8", 200, 88, 96, 88, 120, 40, 176, false, true, kOfCuda11},
      {19, "12.0", "libcupti.so.12", 208, 88, 96, 88, 120, 40, 176, false, true, kOfCuda12},
      {20, "12.2", "libcupti.so.12", 208, 88, 96, 88, 120, 40, 184, false, true, kOfCuda12},
      {21, "12.3", "libcupti.so.12", 208, 88, 96, 88, 120, 48, 184, false, true, kOfCuda12},
      {22, "12.4", "libcupti.so.12", 208, 88, 96, 88, 120, 56, 184, true, true, kOfCuda12},
      {24, "12.6", "libcupti.so.12", 208, 88, 96, 88, 128, 56, 184, true, true, kOfCuda12},
      {26, "12.8", "libcupti.so.12", 208, 96, 96, 88, 128, 56, 184, true, true, kOfCuda12},
      {28, "12.9", "libcupti.so.12", 208, 96, 96, 88, 128, 56, 184, true, false, kOfCuda12},
      {130000, "13.0", "libcupti.so.13", 216, 96, 96, 88, 128, 56, 184, true, false, kOfCuda13},
      {130001, "13.0", "libcupti.so.13", 216, 96, 96, 88, 128, 56, 184, true, false, kOfCuda13},
      {130100, "13.1", "libcupti.so.13", 224, 96, 96, 88, 128, 56, 184, true, false, kOfCuda13},
      {130200, "13.2", "libcupti.so.13", 224, 96, 96, 88, 128, 56, 192, true, false, kOfCuda13},
      {130300, "13.3", "libcupti.so.13", 232, 96, 96, 88, 128, 56, 192, true, false, kOfCuda13},
      {130400, "13.4", "libcupti.so.13", 248, 112, 96, 104, 128, 56, 192, true, false, kOfCuda13},
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
