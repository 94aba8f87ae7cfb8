// Real recordings of GPUs. traces/recordings holds public ones, reduced; its expected.json was added up by a script of
// its own (reduce.py), from the files alone. Whole files, too large to keep here, are read where $DEBUBBLE_RECORDINGS
// holds them: the ones that were reduced (gpu_recordings), and more (traces).
#include <nlohmann/json.hpp>

#include "formats/files/plain_text.hpp"
#include "profiler/attribution/attribution.hpp"
#include "profiler/importers/kineto.hpp"
#include "profiler/importers/nsys.hpp"
#include "tests/support/places.hpp"
#include "tests/support/test.hpp"

namespace debubble::testing {
namespace {

using Expected = nlohmann::json;

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
  std::int64_t linked = 0;  // GPU events whose launch, in the file, lies in a range
  std::int64_t open = 0;

 private:
  std::uint32_t linked_correlation_ = 0;
};

std::string recording(const std::string& file) {
  return contents_of(source_directory() + "/traces/recordings/" + file);
}

const Expected& expected_sums() {
  static const Expected sums = Expected::parse(recording("expected.json"));
  return sums;
}

// Layers are ranges of that name.
Attribution attributed(const std::string& bytes, const std::string& name, const std::string& layers) {
  AttributionRules rules;
  rules.layers = layers;
  rules.explain = true;
  rules.warm_up_steps = 0;
  Attributor attributor(rules);
  if (name.starts_with("nsys")) {
    constexpr std::size_t kMost = std::size_t{1} << 28;
    const SqliteFile file(plain_text(bytes, name, kMost), name);
    NsysExport source(file);
    for (const std::int64_t process : source.processes()) source.replay(process, attributor);
  } else {
    KinetoTrace(bytes, name).replay(attributor);
  }
  return attributor.finish();
}

// Of all kernels that were told apart by the dimensions of their result.
Nanoseconds by_shape(const Attribution& found, const std::string& phase) {
  Nanoseconds sum = 0;
  for (const Explanation& line : found.explanations) {
    if (line.rule == "shape" && line.phase == phase) sum += line.total;
  }
  return sum;
}

TEST_CASE("reduced Kineto recordings are read whole: every GPU event, to the nanosecond") {
  int files = 0;
  for (const auto& item : expected_sums().items()) {
    const std::string name = item.key();
    if (!name.starts_with("kineto")) continue;
    CAPTURE(name);
    ++files;
    Sum sum;
    KinetoTrace(recording(name + ".json.gz"), name).replay(sum);
    CHECK(sum.work == item.value().at("gpu_events"));
    CHECK(sum.time == item.value().at("gpu_ns"));
    CHECK(sum.linked == item.value().at("linked"));
    CHECK(sum.open == 0);
  }
  CHECK(files == 5);
}

TEST_CASE("layers and rest of every reduced recording are all of its GPU time") {
  for (const auto& item : expected_sums().items()) {
    const std::string name = item.key();
    CAPTURE(name);
    const bool nsys = name.starts_with("nsys");
    const std::string bytes = recording(name + (nsys ? ".sqlite.gz" : ".json.gz"));
    const Attribution found = attributed(bytes, name, "^aten::(addmm|mm|linear|convolution|copy_)$");
    const Measurement& measured = *found.profile.measurement;
    Nanoseconds sum = measured.layer_time;
    for (const RestItem& rest : measured.rest) sum += rest.total;
    CHECK(measured.kernels == item.value().at("gpu_events"));
    CHECK(measured.kernel_time == item.value().at("gpu_ns"));
    CHECK(sum == measured.kernel_time);
    CHECK(measured.layer_time > 0);
  }
}

TEST_CASE("an A100's input and weight gradients are told apart as an independent count does") {
  const std::string name = "kineto_a100_rank3of8_shapes";
  const Attribution found = attributed(recording(name + ".json.gz"), name, "^aten::linear$");
  CHECK(by_shape(found, "I") == expected_sums().at(name).at("input_grad_ns"));
  CHECK(by_shape(found, "W") == expected_sums().at(name).at("weight_grad_ns"));
}

TEST_CASE("an H100's clips say that the launches of their first kernels are missing") {
  for (const char* name : {"nsys_h100_mfu_2gpu_before", "nsys_h100_mfu_2gpu_after"}) {
    CAPTURE(name);
    const Expected& sums = expected_sums().at(name);
    const Attribution found = attributed(recording(std::string(name) + ".sqlite.gz"), name, "^aten::copy_$");
    const std::string note = std::to_string(sums.at("without_launch").get<std::int64_t>()) +
                             " kernels at the start have no launch: the recording begins in the middle of work (a "
                             "clip); their " +
                             std::to_string(sums.at("without_launch_ns").get<std::int64_t>()) + " ns are in the rest";
    CHECK(std::find(found.notes.begin(), found.notes.end(), note) != found.notes.end());
  }
}

struct Recorded {
  const char* file;
  std::int64_t work;
  Nanoseconds time;
  std::int64_t linked;  // -1: not counted independently
};

// Sums in whole nanoseconds, added up independently.
const std::vector<Recorded> kRecorded{
    {"gpu_recordings/kineto_a100_rank3of8_shapes.json.gz", 9450, 501567000, -1},
    {"gpu_recordings/kineto_v100_ddp_ns.json.gz", 6095, 472454441, -1},
    {"gpu_recordings/kineto_v100_compiled.json.gz", 22290, 1000613000, -1},
    {"gpu_recordings/kineto_b200_inference.json.gz", 929, 11665760, -1},
    {"gpu_recordings/kineto_mi300x_recompute.json.gz", 3653, 100230072, -1},
    {"traces/tracelens/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz", 1707, 45647300, 1198},
    {"traces/tracelens/gaunernst_bert-small-uncased__1016001.json.gz", 61, 309437, 61},
    {"traces/hta/critical_path__alexnet__benchmark_result_2869224_1695835535_trace.json.gz", 98, 66203000, 98},
    {"traces/hta/critical_path__cuda_event_sync_multi_stream__event_sync_trace.json.gz", 6, 372000, 6},
    {"traces/hta/nccl_parser_config__nccl_data.json.gz", 3774, 165185838, 3774},
    {"traces/hta/negative_queue_length_values_check__rank0.json.gz", 7747, 449763000, 6875},
    {"traces/hta/timeline_analysis__sampled_rank-0.json.gz", 1204, 607844000, 1204},
    {"traces/hta/trace_filter__sampled_rank-1.json.gz", 1154, 667530000, 1154},
};

TEST_CASE("recorded Kineto files are read whole: every GPU event, to the nanosecond") {
  const char* folder = std::getenv("DEBUBBLE_RECORDINGS");
  for (const Recorded& row : kRecorded) {
    const std::string path = std::string(folder == nullptr ? "$DEBUBBLE_RECORDINGS" : folder) + "/" + row.file;
    const std::string bytes = contents_of(path);
    if (bytes.empty()) {
      MESSAGE("SKIPPED: no recorded trace at " << path);
      return;
    }
    CAPTURE(row.file);
    Sum sum;
    KinetoTrace(bytes, row.file).replay(sum);
    CHECK(sum.work == row.work);
    CHECK(sum.time == row.time);
    if (row.linked >= 0) CHECK(sum.linked == row.linked);
    CHECK(sum.open == 0);
  }
}

}  // namespace
}  // namespace debubble::testing
