// Real Kineto files, where $DEBUBBLE_RECORDINGS/traces holds them: too large to keep here. Expected sums were added up
// independently, in whole nanoseconds.
// independently, in whole nanoseconds.
#include <doctest/doctest.h>

#include <cstdlib>

#include "profiler/importers/kineto.hpp"
#include "tests/unit/problems_of.hpp"

namespace debubble::testing {
namespace {

struct Recorded {
  const char* file;
  std::int64_t work;
  Nanoseconds time;
  std::int64_t linked;  // GPU events whose launch, in the file, lies in a range
};

const std::vector<Recorded> kRecorded{
    {"tracelens/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz", 1707, 45647300, 1198},
    {"tracelens/gaunernst_bert-small-uncased__1016001.json.gz", 61, 309437, 61},
    {"hta/critical_path__alexnet__benchmark_result_2869224_1695835535_trace.json.gz", 98, 66203000, 98},
    {"hta/critical_path__cuda_event_sync_multi_stream__event_sync_trace.json.gz", 6, 372000, 6},
    {"hta/nccl_parser_config__nccl_data.json.gz", 3774, 165185838, 3774},
    {"hta/negative_queue_length_values_check__rank0.json.gz", 7747, 449763000, 6875},
    {"hta/timeline_analysis__sampled_rank-0.json.gz", 1204, 607844000, 1204},
    {"hta/trace_filter__sampled_rank-1.json.gz", 1154, 667530000, 1154},
};

class Sum : public RecordSink {
 public:
  using RecordSink::on;
  void on(const KernelRecord& record) override {
    ++work;
    time += record.end - record.begin;
    if (record.correlation == linked_correlation_) ++linked;
  }
  void on(const LinkRecord& record) override { linked_correlation_ = record.correlation; }
  void on(const RangePush&) override { ++open; }
  void on(const RangePop&) override { --open; }

  std::int64_t work = 0;
  Nanoseconds time = 0;
  std::int64_t linked = 0;
  std::int64_t open = 0;

 private:
  std::uint32_t linked_correlation_ = 0;
};

TEST_CASE("recorded Kineto files are read whole: every GPU event, to the nanosecond") {
  for (const Recorded& row : kRecorded) {
    const char* folder = std::getenv("DEBUBBLE_RECORDINGS");
    const std::string path = std::string(folder == nullptr ? "$DEBUBBLE_RECORDINGS" : folder) + "/traces/" + row.file;
    const std::string bytes = test::contents_of(path);
    if (bytes.empty()) {
      MESSAGE("SKIPPED: no recorded trace at " << path);
      return;
    }
    CAPTURE(row.file);
    Sum sum;
    KinetoTrace(bytes, row.file).replay(sum);
    CHECK(sum.work == row.work);
    CHECK(sum.time == row.time);
    CHECK(sum.linked == row.linked);
    CHECK(sum.open == 0);
  }
}

}  // namespace
}  // namespace debubble::testing
