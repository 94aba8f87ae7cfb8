// What we use of NVTX 3's tool interface, in our own words; a test compares it with the real headers where they are.
//
// NVTX lives in headers: every shared object that uses it has tables of its own, and calls InitializeInjectionNvtx2 of
// the library in $NVTX_INJECTION64_PATH at its first NVTX call.
#pragma once

#include <cstddef>
#include <cstdint>

namespace debubble::nvtx_abi {

inline constexpr std::uint32_t kCallbacksTable = 1;  // NVTX_ETID_CALLBACKS
inline constexpr int kModuleCore = 1;
inline constexpr int kModuleCore2 = 5;

enum Core : unsigned {
  kMarkEx = 1,
  kMarkA = 2,
  kMarkW = 3,
  kRangeStartEx = 4,
  kRangeStartA = 5,
  kRangeStartW = 6,
  kRangeEnd = 7,
  kRangePushEx = 8,
  kRangePushA = 9,
  kRangePushW = 10,
  kRangePop = 11,
};
enum Core2 : unsigned {
  kDomainRangeStartEx = 2,
  kDomainRangeEnd = 3,
  kDomainRangePushEx = 4,
  kDomainRangePop = 5,
  kDomainRegisterStringA = 10,
  kDomainRegisterStringW = 11,
  kDomainCreateA = 12,
  kDomainCreateW = 13,
  kDomainDestroy = 14,
};

inline constexpr std::int32_t kMessageAscii = 1;
inline constexpr std::int32_t kMessageRegistered = 3;

struct EventAttributes {
  std::uint16_t version;
  std::uint16_t size;
  std::uint32_t category;
  std::int32_t color_type;
  std::uint32_t color;
  std::int32_t payload_type;
  std::int32_t reserved;
  std::uint64_t payload;
  std::int32_t message_type;
  const void* message;  // of a union: const char*, const wchar_t* or a registered string
};

using AnyFunction = void (*)();
using FunctionTable = AnyFunction**;
struct Callbacks {
  std::size_t size;
  int (*module_functions)(int module, FunctionTable* table, unsigned* count);
};
using GetExportTable = const void* (*)(std::uint32_t table);

}  // namespace debubble::nvtx_abi
