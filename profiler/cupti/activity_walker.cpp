#include "profiler/cupti/activity_walker.hpp"

namespace debubble {

namespace {

// Bytes of a record in CUDA 13.0; 0: not a kind that we enable.
std::size_t record_size(std::uint32_t kind) {
  switch (kind) {
    case cupti_abi::kMemcpy:
    case cupti_abi::kPeerMemcpy:
      return 96;
    case cupti_abi::kMemset:
      return 88;
    case cupti_abi::kDriver:
    case cupti_abi::kRuntime:
      return 40;
    case cupti_abi::kDevice:
      return 184;
    case cupti_abi::kConcurrentKernel:
      return 216;
    case cupti_abi::kOverhead:
      return 56;
    case cupti_abi::kExternalCorrelation:
      return 24;
    case cupti_abi::kMemory2:
      return 128;
    default:
      return 0;
  }
}

}  // namespace

cupti_abi::Result walk_cuda_13_0(std::uint8_t* buffer, std::size_t valid, cupti_abi::Activity** record) {
  std::size_t offset = 0;
  if (*record != nullptr) {
    offset = static_cast<std::size_t>(reinterpret_cast<std::uint8_t*>(*record) - buffer) + record_size((*record)->kind);
  }
  if (offset + sizeof(cupti_abi::Activity) > valid) return cupti_abi::kOutOfRecords;
  auto* const next = reinterpret_cast<cupti_abi::Activity*>(buffer + offset);
  const std::size_t size = record_size(next->kind);
  if (size == 0) return cupti_abi::kInvalidKind;
  if (offset + size > valid) return cupti_abi::kOutOfRecords;
  *record = next;
  return cupti_abi::kSuccess;
}

}  // namespace debubble
