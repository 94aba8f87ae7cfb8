// The recording of a program whose layers are timed on the CPU: debubble_hooks hands over what PyTorch's profiler saw,
// step by step, and it is in DIR/rank3-pid4711.dbrec as the records of a GPU would be.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/host/host_range.hpp"
#include "profiler/host/host_records.hpp"
#include "profiler/records/record_file.hpp"

namespace debubble {

class HostRecording {
 public:
  explicit HostRecording(const std::string& folder);  // throws InputError (C051)

  void fact(std::string_view key, std::string_view value);

  void add(HostRange range) { ranges_.push_back(std::move(range)); }
  void end_step(bool slowed);  // of the ranges added since the last one; see HostRecords
  void bare_step(std::int64_t number, Nanoseconds duration, bool paused, bool slowed);

  // Ends the file. False: it could not be written.
  [[nodiscard]] bool close();

 private:
  RecordFileWriter file_;
  HostRecords records_{file_};
  std::vector<HostRange> ranges_;
};

}  // namespace debubble
