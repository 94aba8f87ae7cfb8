// Turns CUPTI's activity buffers into our records.
//
// Takes records, not calls, so it runs on synthetic buffers without a GPU. Whatever cannot be used is counted, never
// silently left out: kinds nobody asked for, times that no clock shows, a buffer that ends inside a record.
//
// Of a CUPTI that was not tested, the first buffers are judged before they are decoded; from the first one on
// that makes no sense, nothing is taken any more.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "profiler/cupti/activity_walker.hpp"
#include "profiler/cupti/record_judge.hpp"
#include "profiler/records/record.hpp"

namespace debubble {

// Read by other threads while the decoder runs.
struct ActivityCounts {
  std::atomic<std::uint64_t> kernels = 0;
  std::atomic<std::uint64_t> copies = 0;  // and memsets
  std::atomic<std::uint64_t> launches = 0;
  std::atomic<std::uint64_t> timeless = 0;  // GPU work with begin == end == 0; recorded as it is
  std::atomic<std::uint64_t> devices = 0;
};

class ActivityDecoder {
 public:
  // A GPU that CUPTI reported: its number in our records and its UUID, "GPU-01234567-89ab-...".
  using FoundDevice = std::function<void(std::uint32_t device, const std::string& uuid)>;

  // `next` as cuptiActivityGetNextRecord; null: our own walker. `version` is CUPTI_API_VERSION of whoever made the
  // buffers, `clock` their clock (see RecordJudge).
  ActivityDecoder(NextRecord next, std::uint32_t version, FoundDevice found_device, RecordJudge::Clock clock = nullptr);

  void decode(std::uint8_t* buffer, std::size_t valid, RecordSink& sink);

  [[nodiscard]] const ActivityCounts& counts() const { return counts_; }
  // Why records are not believed; empty: they are. Not to be asked while another thread decodes.
  [[nodiscard]] const std::string& disbelief() const { return disbelief_; }

 private:
  [[nodiscard]] bool believes(std::uint8_t* buffer, std::size_t valid, RecordSink& sink);
  void record(const cupti_abi::Activity* activity, RecordSink& sink);
  template <class Work>
  void work(const cupti_abi::Activity* activity, GpuWork kind, RecordSink& sink);
  void api(const cupti_abi::Activity* activity, RecordSink& sink);
  void link(const cupti_abi::Activity* activity, RecordSink& sink);
  void memory(const cupti_abi::Activity* activity, RecordSink& sink);
  void overhead(const cupti_abi::Activity* activity, RecordSink& sink);
  void device(const cupti_abi::Activity* activity, RecordSink& sink);
  bool possible(std::uint64_t begin, std::uint64_t end);

  NextRecord next_;
  std::uint32_t version_;
  FoundDevice found_device_;
  std::optional<RecordJudge> judge_;  // of a CUPTI that was not tested
  std::string disbelief_;
  ActivityCounts counts_;
  std::int64_t unknown_ = 0;     // of this buffer
  std::int64_t impossible_ = 0;  // of this buffer
};

}  // namespace debubble
