// CUPTI, loaded at run time: a table of the functions we call. Nothing is linked, so the same binary starts on machines
// without CUDA.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "profiler/cupti/abi.hpp"

namespace debubble {

// Pointers are never null but for those marked "may be null": older releases lack them.
struct CuptiTable {
  using Result = cupti_abi::Result;
  template <class... Arguments>
  using Function = Result (*)(Arguments...);

  Function<std::uint32_t*> get_version = nullptr;
  Function<Result, const char**> get_result_string = nullptr;
  Function<std::uint64_t*> get_timestamp = nullptr;  // may be null
  Function<void**, cupti_abi::Callback, void*> subscribe = nullptr;
  Function<void**, cupti_abi::Callback, void*, cupti_abi::SubscriberParams*> subscribe_v2 = nullptr;  // may be null
  Function<void*> unsubscribe = nullptr;
  Function<std::uint32_t> set_thread_id_type = nullptr;
  Function<std::int32_t, std::size_t*, void*> set_attribute = nullptr;
  Function<cupti_abi::RequestBuffer, cupti_abi::CompleteBuffer> register_callbacks = nullptr;
  Function<std::uint32_t> enable = nullptr;
  Function<std::uint32_t> enable_and_dump = nullptr;  // may be null
  Function<std::uint32_t> disable = nullptr;
  Function<std::uint32_t, std::uint8_t> enable_runtime_api = nullptr;  // may be null, both or none
  Function<std::uint32_t, std::uint8_t> enable_driver_api = nullptr;
  Function<std::uint8_t*, std::size_t, cupti_abi::Activity**> next_record = nullptr;
  Function<void*, std::uint32_t, std::size_t*> dropped_records = nullptr;
  Function<std::uint32_t> flush_all = nullptr;
  Function<std::uint32_t, std::uint64_t> push_external = nullptr;
  Function<std::uint32_t, std::uint64_t*> pop_external = nullptr;

  // Whether it has calls of single subscribers besides the global ones (from 13.2 on). They do not mix (result 14); we
  // make the global ones only, for we know no header that declares the others.
  bool has_scoped_calls = false;

  std::uint32_t version = 0;       // CUPTI_API_VERSION of the library
  std::string path;                // where it was found
  std::string why;                 // why this one: library_search.hpp
  std::vector<std::string> notes;  // what a person should know of it; mostly nothing
};

// The library that library_search.hpp chooses. Throws UnavailableError U001 (none found, or one without our functions)
// and U004 (too old, or of a major release newer than what was tested, unless $DEBUBBLE_CUPTI_UNTESTED is set). A newer
// minor release is taken, with a note. The library is never unloaded.
[[nodiscard]] CuptiTable load_cupti(const std::string& configured);

// "CUPTI_ERROR_NOT_INITIALIZED (15)".
[[nodiscard]] std::string describe(const CuptiTable& cupti, cupti_abi::Result result);

}  // namespace debubble
