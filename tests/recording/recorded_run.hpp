// Runs a program under the injection library with the fake libcupti and reads back what it recorded.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "profiler/records/record.hpp"
#include "profiler/records/record_file.hpp"
#include "profiler/records/trouble_file.hpp"
#include "tests/recording/scratch.hpp"

namespace debubble::testing {

// Sums over one record file.
class Tally : public RecordSink {
 public:
  using RecordSink::on;
  void on(const RangePush& record) override;
  void on(const RangePop& record) override;
  void on(const LinkRecord& record) override;
  void on(const LaunchRecord& record) override;
  void on(const KernelRecord& record) override;
  void on(const MemoryRecord& record) override;
  void on(const SwitchRecord& record) override;
  void on(const FactRecord& record) override;
  void on(const LossRecord& record) override;

  // ns of GPU work linked to ranges of this path, "debubble.step:0/debubble.layer:block.1/debubble.phase:F"; "" for
  // work without link. Works and links may come in any order.
  [[nodiscard]] std::map<std::string, std::int64_t> time_by_path() const;
  // The same, for paths whose last part is this.
  [[nodiscard]] std::int64_t time_in(const std::string& range) const;

  RecordFileEnd end;
  std::map<std::string, std::int64_t> kernels;  // count by name
  std::int64_t works = 0;
  std::int64_t total = 0;  // ns of all GPU work
  std::int64_t launches = 0;
  std::int64_t links = 0;
  std::int64_t unknown_links = 0;  // of a range that was not pushed before
  std::int64_t timeless = 0;
  std::int64_t pushes = 0;
  std::int64_t pops = 0;
  std::map<std::uint32_t, std::int64_t> open;  // ranges by thread, at the end
  std::int64_t bytes = 0;                      // of device memory, at the end
  std::vector<bool> switches;
  std::map<std::string, std::string> facts;
  std::map<std::string, std::int64_t> losses;
  std::map<std::string, std::int64_t> range_names;

 private:
  struct Work {
    std::uint32_t correlation;
    std::int64_t length;
  };
  std::map<std::uint32_t, std::vector<std::uint64_t>> stacks_;
  std::map<std::uint64_t, std::string> paths_;
  std::map<std::uint32_t, std::uint64_t> links_;
  std::vector<Work> work_;
  Nanoseconds last_time_ = 0;  // ranges come in order of time
};

struct RecordedRun {
  int status = 0;  // exit status; minus the signal's number
  std::string out;
  std::string err;
  std::map<std::string, Tally> files;  // by name, "pid*.dbrec" with the number left out: "pid.dbrec", "pid.dbrec.1"
  std::vector<Diagnostic> troubles;    // of all trouble files

  // The only record file; fails the test case when there is none or another one.
  [[nodiscard]] const Tally& only() const;
};

// `command`: program and flags, for the shell. `environment`: "FAKE_CUPTI=drop=3" and the like; "KEEP_RECORD=path"
// leaves a copy of the record file there.
RecordedRun run_recorded(const std::string& command, const std::vector<std::string>& environment = {});
// fake_training with these flags.
RecordedRun run_training(const std::string& flags, const std::vector<std::string>& environment = {});

}  // namespace debubble::testing
