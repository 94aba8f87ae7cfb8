// What the fake libcupti does behind its exported functions: correlation numbers, external ids, buffers, delivery.
//
//     report (application thread) --> buffer of API calls --+
//                                 --> buffer of GPU work ---+--> worker thread --> completed callback
#pragma once

#include <sys/types.h>
#include <atomic>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "profiler/cupti/abi.hpp"
#include "tests/recording/fake_cupti_options.hpp"
#include "tests/recording/fake_cupti_versions.hpp"

namespace debubble::testing {

// A kind that the recorder never enables: CUPTI_ACTIVITY_KIND_MARKER, 56 bytes.
inline constexpr std::uint32_t kForeignKind = 12;

class FakeCuptiEngine {
 public:
  static FakeCuptiEngine& instance();  // never destroyed

  const FakeCuptiOptions options = read_fake_cupti_options();
  const FakeCuptiVersion& release = fake_cupti_version(options.version);
  std::atomic<bool> driver_runs = false;  // cuInit is over
  std::atomic<bool> scoped = false;       // a call of a single subscriber was made: global ones do not mix

  cupti_abi::Result subscribe(char* other_name, std::size_t size);
  void unsubscribe();
  void register_callbacks(cupti_abi::RequestBuffer request, cupti_abi::CompleteBuffer completed);
  cupti_abi::Result enable(std::uint32_t kind, bool on);
  cupti_abi::Result dump(std::uint32_t kind);
  cupti_abi::Result take_zeroed_buffers();
  void enable_call(std::uint32_t level, std::uint32_t call, bool on);
  void flush(bool forced);
  std::size_t take_dropped();

  // One launch on the calling thread: the call's records, then `work`, whose correlation is filled in. Sizes are of
  // what we know of a record; in the buffer it has the size of the release.
  void launch(const void* work, std::size_t size, std::size_t correlation_offset);
  void record(const void* activity, std::size_t size);  // of a kind that is not GPU work
  void play(const void* activity, std::size_t size);    // of any kind, as it is; calls with their links
  const char* keep(const char* name);

 private:
  struct Buffer {
    std::uint8_t* data = nullptr;
    std::size_t size = 0;
    std::size_t used = 0;
    std::size_t last = 0;  // where its last record begins
  };

  void put(Buffer& buffer, const void* activity, std::size_t known);
  void take_buffer(Buffer& buffer);
  void record_device();
  void add(Buffer& buffer, const void* activity, std::size_t size);
  [[nodiscard]] static std::uint64_t begin_of(const void* work);
  void api_records(std::uint32_t correlation, std::uint64_t latest);
  void link_records(std::uint32_t correlation);
  bool spoil(std::uint8_t* work);
  void complete(Buffer& buffer);
  void deliver(const Buffer& buffer) const;
  void deliver_waiting(std::unique_lock<std::mutex>& lock);
  void start_worker();
  void work();
  void hoard();
  [[nodiscard]] bool enabled() const;

  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable delivered_;
  int delivering_ = 0;  // buffers on their way to the callback
  pid_t process_ = 0;
  bool subscribed_ = false;
  bool zeroed_buffers_ = false;
  std::atomic<bool> ended_ = false;
  cupti_abi::RequestBuffer request_ = nullptr;
  cupti_abi::CompleteBuffer complete_ = nullptr;
  std::set<std::uint32_t> kinds_;
  std::map<std::uint32_t, std::set<std::uint32_t>> calls_;
  Buffer calls_buffer_;
  Buffer work_buffer_;
  std::deque<Buffer> waiting_;
  std::deque<Buffer> hoarded_;
  std::set<std::string> names_;
  std::size_t dropped_ = 0;
  std::uint32_t correlation_ = 0;
  std::uint64_t records_ = 0;
  std::uint64_t works_ = 0;
  std::uint64_t kernels_ = 0;
};

// External ids of the calling thread.
void push_external(std::uint32_t kind, std::uint64_t id);
bool pop_external(std::uint32_t kind, std::uint64_t* id);

}  // namespace debubble::testing
