// Recorder: one CUPTI Activity session of this process, from start to stop, written to a record file as it arrives.
//
// Used by the injection library (any program) and by the built-in workload (in this process). CUPTI is found and loaded
// at run time; nothing here is linked to CUDA. Starting must precede the first CUDA call for complete records.
//
//     application threads        CUPTI worker             writer thread
//     push/pop range  ---------> buffer complete -------> decode, write to RECORDS.dbrec, sample clocks (NVML)
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace debubble {

struct RecorderOptions {
  std::string file;             // the record file
  std::string cupti_library;    // a path; empty: what library_search.hpp finds
  bool memory = true;           // allocation records
  bool launches = true;         // API records; without them kernels have no range: only to measure what they cost
  bool clocks = true;           // sample NVML where it is there
  bool inside_cu_init = false;  // the CUDA driver is starting: CUPTI is asked for devices later
};

// What was seen, for messages at the end; the same counts are in the file.
struct RecorderSummary {
  std::uint64_t kernels = 0;
  std::uint64_t copies = 0;
  std::uint64_t launches = 0;
  std::uint64_t dropped = 0;   // by CUPTI, of full buffers
  std::uint64_t timeless = 0;  // kernels with begin == end == 0
  bool write_failed = false;
};

class Recorder {
 public:
  // Throws UnavailableError (U001 no CUPTI library, U020 no driver, U003 another profiler is attached and which, U004
  // CUPTI too new or too old, U005 CUPTI refused a step and which, U025 the driver is older than CUPTI) and InputError
  // when the file cannot be made.
  explicit Recorder(const RecorderOptions& options);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // A range of the calling thread; GPU work launched inside is linked to the innermost one. Thread-safe. `text` may be
  // anything; PyTorch's suffixes are understood later.
  void push(std::string_view text);
  void pop();

  // Stops and starts taking GPU records, to measure what taking them costs. Ranges go on.
  void pause();
  void resume();

  void fact(std::string_view key, std::string_view value);

  // Everything that is complete goes to disk. Call after synchronising the device for everything so far.
  void flush();
  // Forced flush, end of the file. Call after synchronising the device: work that still runs is not recorded. Throws
  // UnavailableError U041 when launches were seen but no GPU record came back, U011 when the records of an untested
  // CUPTI make no sense.
  RecorderSummary stop();

  // For a forked child: forgets everything without touching CUPTI or the file.
  void abandon();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace debubble
