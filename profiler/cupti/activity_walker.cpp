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

// Bytes that we read of a record.
std::size_t known_size(std::uint32_t kind) {
  switch (kind) {
    case cupti_abi::kMemcpy:
      return sizeof(cupti_abi::Memcpy);
    case cupti_abi::kPeerMemcpy:
      return sizeof(cupti_abi::PeerMemcpy);
    case cupti_abi::kMemset:
      return sizeof(cupti_abi::Memset);
    case cupti_abi::kDriver:
    case cupti_abi::kRuntime:
      return sizeof(cupti_abi::Api);
    case cupti_abi::kDevice:
      return sizeof(cupti_abi::Device);
    case cupti_abi::kConcurrentKernel:
      return sizeof(cupti_abi::Kernel);
    case cupti_abi::kOverhead:
      return sizeof(cupti_abi::Overhead);
    case cupti_abi::kExternalCorrelation:
      return sizeof(cupti_abi::ExternalCorrelation);
    case cupti_abi::kMemory2:
      return sizeof(cupti_abi::Memory);
    default:
      return sizeof(cupti_abi::Activity);
  }
}

}  // namespace

bool is_known(std::uint32_t kind) { return known_size(kind) > sizeof(cupti_abi::Activity); }

bool is_inside(const cupti_abi::Activity* record, const cupti_abi::Activity* before, const std::uint8_t* buffer,
               std::size_t valid) {
  const auto at = reinterpret_cast<std::uintptr_t>(record);
  const auto begin = reinterpret_cast<std::uintptr_t>(buffer);
  if (at < begin || (before != nullptr && at <= reinterpret_cast<std::uintptr_t>(before))) return false;
  const std::size_t offset = at - begin;
  if (offset + sizeof(cupti_abi::Activity) > valid) return false;
  return offset + known_size(record->kind) <= valid;
}

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
