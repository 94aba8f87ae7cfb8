// The fake libcupti, see fake_cupti.hpp; its behaviour, see fake_cupti_options.hpp.
#include "tests/recording/fake_cupti.hpp"

#include <cstddef>
#include <cstdlib>
#include <ctime>

#include "profiler/cupti/abi.hpp"
#include "tests/recording/fake_cupti_engine.hpp"

namespace {

using namespace debubble;
using testing::FakeCuptiEngine;

FakeCuptiEngine& engine() { return FakeCuptiEngine::instance(); }

std::size_t size_of(std::uint32_t kind) { return testing::record_size(engine().release, kind); }

std::uint64_t now() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(time.tv_nsec);
}

const char* name_of(cupti_abi::Result result) {
  if (result == 0) return "CUPTI_SUCCESS";
  if (result == cupti_abi::kInvalidKind) return "CUPTI_ERROR_INVALID_KIND";
  if (result == cupti_abi::kUnknownError) return "CUPTI_ERROR_UNKNOWN";
  if (result == cupti_abi::kNotCompatible) return "CUPTI_ERROR_NOT_COMPATIBLE";
  if (result == cupti_abi::kNotInitialized) return "CUPTI_ERROR_NOT_INITIALIZED";
  return "CUPTI_ERROR_OTHER";
}

}  // namespace

#define FAKE_EXPORT extern "C" [[gnu::visibility("default")]]

FAKE_EXPORT int cuptiGetVersion(std::uint32_t* version) {
  *version = engine().options.version;
  return 0;
}

FAKE_EXPORT int cuptiGetTimestamp(std::uint64_t* time) {
  *time = now();
  return 0;
}

FAKE_EXPORT int cuptiGetResultString(int result, const char** text) {
  *text = name_of(result);
  return 0;
}

// What a release has besides the functions of all: FAKE_CUPTI_OLD is one without those that may be missing,
// FAKE_CUPTI_SCOPED one of 13.3 or later, whose calls of single subscribers do not mix with the global ones: result 14.
#ifdef FAKE_CUPTI_SCOPED
FAKE_EXPORT int cuptiActivityEnable_v2() { std::abort(); }  // nobody knows how it is to be called
#endif

#ifndef FAKE_CUPTI_OLD
FAKE_EXPORT int cuptiSubscribe_v2(void** handle, cupti_abi::Callback, void*, cupti_abi::SubscriberParams* params) {
  *handle = &engine();
#ifdef FAKE_CUPTI_SCOPED
  engine().scoped = true;
#endif
  return engine().subscribe(params == nullptr ? nullptr : params->old_name,
                            params == nullptr ? 0 : params->old_name_size);
}
#endif

FAKE_EXPORT int cuptiSubscribe(void** handle, cupti_abi::Callback, void*) {
  *handle = &engine();
  return engine().subscribe(nullptr, 0);
}

FAKE_EXPORT int cuptiUnsubscribe(void*) {
  engine().unsubscribe();
  return 0;
}

FAKE_EXPORT int cuptiSetThreadIdType(std::uint32_t) { return 0; }

FAKE_EXPORT int cuptiActivitySetAttribute(std::int32_t attribute, std::size_t*, void*) {
  return attribute == cupti_abi::kAttributeZeroedBuffers ? engine().take_zeroed_buffers() : 0;
}

FAKE_EXPORT int cuptiActivityRegisterCallbacks(cupti_abi::RequestBuffer request, cupti_abi::CompleteBuffer complete) {
  engine().register_callbacks(request, complete);
  return 0;
}

FAKE_EXPORT int cuptiActivityEnable(std::uint32_t kind) { return engine().enable(kind, true); }

#ifndef FAKE_CUPTI_OLD
FAKE_EXPORT int cuptiActivityEnableAndDump(std::uint32_t kind) {
  if (engine().options.no_dump && !engine().driver_runs) std::abort();
  return engine().dump(kind);
}
#endif

FAKE_EXPORT int cuptiActivityDisable(std::uint32_t kind) { return engine().enable(kind, false); }

#ifndef FAKE_CUPTI_OLD
FAKE_EXPORT int cuptiActivityEnableRuntimeApi(std::uint32_t call, std::uint8_t on) {
  engine().enable_call(cupti_abi::kRuntime, call, on != 0);
  return 0;
}

FAKE_EXPORT int cuptiActivityEnableDriverApi(std::uint32_t call, std::uint8_t on) {
  engine().enable_call(cupti_abi::kDriver, call, on != 0);
  return 0;
}
#endif

FAKE_EXPORT int cuptiActivityFlushAll(std::uint32_t flag) {
  engine().flush(flag == cupti_abi::kFlushForced);
  return 0;
}

FAKE_EXPORT int cuptiActivityGetNumDroppedRecords(void*, std::uint32_t, std::size_t* count) {
  *count = engine().take_dropped();
  return 0;
}

FAKE_EXPORT int cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid, cupti_abi::Activity** record) {
  std::uint8_t* next = buffer;
  if (*record != nullptr) next = reinterpret_cast<std::uint8_t*>(*record) + size_of((*record)->kind);
  if (next == buffer + valid) return cupti_abi::kOutOfRecords;
  auto* const activity = reinterpret_cast<cupti_abi::Activity*>(next);
  const auto left = static_cast<std::size_t>(buffer + valid - next);
  if (left < sizeof *activity || left < size_of(activity->kind)) return cupti_abi::kInvalidKind;
  *record = activity;
  return 0;
}

FAKE_EXPORT int cuptiActivityPushExternalCorrelationId(std::uint32_t kind, std::uint64_t id) {
  testing::push_external(kind, id);
  return 0;
}

FAKE_EXPORT int cuptiActivityPopExternalCorrelationId(std::uint32_t kind, std::uint64_t* id) {
  return testing::pop_external(kind, id) ? 0 : 18;
}

FAKE_EXPORT void fake_cupti_driver_runs() { engine().driver_runs = true; }

FAKE_EXPORT void fake_cupti_launch(const char* kernel, std::uint64_t begin, std::uint64_t end, std::uint32_t stream) {
  cupti_abi::Kernel record{};
  record.kind = cupti_abi::kConcurrentKernel;
  record.start = begin;
  record.end = end;
  record.context = 1;
  record.stream = stream;
  for (int i = 0; i < 3; ++i) record.grid[i] = record.block[i] = 4;
  record.name = engine().keep(kernel);
  engine().launch(&record, sizeof record, offsetof(cupti_abi::Kernel, correlation));
}

FAKE_EXPORT void fake_cupti_copy(std::uint8_t kind, std::uint64_t bytes, std::uint64_t begin, std::uint64_t end,
                                 std::uint32_t stream) {
  cupti_abi::Memcpy record{};
  record.kind = cupti_abi::kMemcpy;
  record.copy_kind = kind;
  record.bytes = bytes;
  record.start = begin;
  record.end = end;
  record.context = 1;
  record.stream = stream;
  engine().launch(&record, sizeof record, offsetof(cupti_abi::Memcpy, correlation));
}

FAKE_EXPORT void fake_cupti_set(std::uint64_t bytes, std::uint64_t begin, std::uint64_t end, std::uint32_t stream) {
  cupti_abi::Memset record{};
  record.kind = cupti_abi::kMemset;
  record.bytes = bytes;
  record.start = begin;
  record.end = end;
  record.context = 1;
  record.stream = stream;
  engine().launch(&record, sizeof record, offsetof(cupti_abi::Memset, correlation));
}

FAKE_EXPORT void fake_cupti_memory(std::uint64_t address, std::int64_t bytes) {
  cupti_abi::Memory record{};
  record.kind = cupti_abi::kMemory2;
  record.operation = bytes > 0 ? cupti_abi::kAllocation : cupti_abi::kRelease;
  record.memory_kind = cupti_abi::kMemoryDevice;
  record.address = address;
  record.bytes = static_cast<std::uint64_t>(bytes > 0 ? bytes : -bytes);
  record.time = now();
  engine().record(&record, sizeof record);
}

FAKE_EXPORT void fake_cupti_play(const void* record, std::size_t size) { engine().play(record, size); }

FAKE_EXPORT void fake_cupti_overhead(std::uint32_t kind, std::uint64_t begin, std::uint64_t end) {
  cupti_abi::Overhead record{};
  record.kind = cupti_abi::kOverhead;
  record.overhead_kind = kind;
  record.start = begin;
  record.end = end;
  engine().record(&record, sizeof record);
}
