// Whole measurements on the fake GPU: what comes out is what went in, to the nanosecond and to the byte.
#include "profiler/measurement/session.hpp"

#include <filesystem>

#include "formats/profile/profile_json.hpp"
#include "profiler/measurement/session_fit.hpp"
#include "profiler/records/record_file.hpp"
#include "sim/core/model_presets.hpp"
#include "tests/support/test.hpp"
#include "tests/workload/fake_machine.hpp"
#include "tests/workload/ledger_device.hpp"

namespace debubble {
namespace {

using testing::FakeMachine;
using testing::LedgerDevice;

TransformerShape gpt() {
  TransformerShape shape;
  shape.name = "small-gpt";
  shape.layers = 3;
  shape.hidden = 64;
  shape.heads = shape.kv_heads = 4;
  shape.head_size = 16;
  shape.feed_forward = 256;
  shape.vocabulary = 128;
  shape.positions = 64;
  return shape;
}

TransformerShape llama() {
  TransformerShape shape = gpt();
  shape.name = "small-llama";
  shape.kv_heads = 2;
  shape.feed_forward = 160;
  shape.positions = 0;
  shape.norm = NormKind::kRmsNorm;
  shape.activation = ActivationKind::kSilu;
  shape.gated = true;
  shape.biases = false;
  shape.tied_embedding = false;
  return shape;
}

SessionOptions options_for(const TransformerShape& shape) {
  SessionOptions options;
  options.shape = shape;
  options.size = {2, 32, 1, DataType::kBf16};
  options.steps = 12;
  return options;
}

void ignore(int, int, const std::string&) {}

using PassSums = std::map<std::pair<std::string, Pass>, LedgerDevice::Sum>;

// One step, by formula.
PassSums expected(const SessionOptions& options) {
  LedgerDevice ledger;
  TransformerModel model(ledger, options.shape, options.size);
  PassSums sums;
  for (WorkLayer* layer : {&model.embedding(), &model.block(), &model.head()}) {
    for (const Pass pass : {Pass::kForward, Pass::kInputGrad, Pass::kWeightGrad}) {
      (void)ledger.take();
      layer->run(pass);
      sums[{layer->name(), pass}] = ledger.take();
    }
  }
  return sums;
}

void check_layer(const ProfileLayer& layer, const std::string& measured, const PassSums& sums, int steps) {
  CAPTURE(layer.name);
  REQUIRE(layer.input_grad);
  REQUIRE(layer.weight_grad);
  const std::map<Pass, TimeStatistics> found{
      {Pass::kForward, layer.forward}, {Pass::kInputGrad, *layer.input_grad}, {Pass::kWeightGrad, *layer.weight_grad}};
  for (const auto& [pass, time] : found) {
    const Nanoseconds right = sums.at({measured, pass}).time;
    const int number = static_cast<int>(pass);  // clang 14 captures no structured binding
    CAPTURE(number);
    CHECK(time.median == right);
    CHECK(time.p10 == right);  // the fake GPU is the same every time
    CHECK(time.p90 == right);
    CHECK(time.n == steps);
  }
}

void check_memory(const Profile& profile, const SessionOptions& options) {
  LedgerDevice ledger;
  TransformerModel model(ledger, options.shape, options.size);
  for (const ProfileLayer& layer : profile.layers) {
    CAPTURE(layer.name);
    WorkLayer& right = layer.name == "embedding" ? model.embedding()
                       : layer.name == "head"    ? model.head()
                                                 : model.block();
    const LayerMemory memory = right.memory();
    CHECK(layer.kind == right.kind());
    CHECK(layer.parameters == memory.parameters);
    CHECK(layer.activation == memory.activation);
    CHECK(layer.weight_grad_held == memory.weight_grad_held);
    CHECK(layer.output == memory.output);
    CHECK(layer.workspace == memory.workspace);
  }
}

TEST_CASE("a measured profile equals the fake GPU's times, summed by formula, and the model's memory") {
  const FakeMachine machine("idle");
  for (const TransformerShape& shape : {gpt(), llama(), model_preset("tiny-gpt"), model_preset("tiny-llama")}) {
    const SessionOptions options = options_for(shape);
    const SessionResult result = measure_workload(options, ignore);
    const Profile& profile = result.attribution.profile;
    const PassSums sums = expected(options);
    CAPTURE(shape.name);
    const auto blocks = static_cast<std::size_t>(shape.layers);
    REQUIRE(profile.layers.size() == blocks + 2);
    CHECK(profile.layers.front().name == "embedding");
    CHECK(profile.layers.back().name == "head");
    check_layer(profile.layers.front(), "embedding", sums, options.steps);
    check_layer(profile.layers.back(), "head", sums, options.steps);
    for (std::size_t k = 0; k < blocks; ++k) {
      CHECK(profile.layers[k + 1].name == "block." + std::to_string(k));
      check_layer(profile.layers[k + 1], "block", sums, options.steps);
    }
    check_memory(profile, options);
    CHECK(FakeMachine::live_objects() == 0);
    CHECK(FakeMachine::live_bytes() == 0);
  }
}

TEST_CASE("everything a profile says about itself is there") {
  const FakeMachine machine("idle");
  SessionOptions options = options_for(gpt());
  options.size.tensor_parallel = 2;
  const Profile profile = measure_workload(options, ignore).attribution.profile;
  CHECK(profile.model == "small-gpt");
  CHECK(profile.dtype == "bf16");
  CHECK(profile.microbatch_size == 2);
  CHECK(profile.sequence_length == 32);
  CHECK(profile.origin.times == Source::kMeasured);
  CHECK(profile.origin.device == "Fake GPU");
  CHECK(profile.origin.cuda == "13.0");
  CHECK(!profile.origin.driver.empty());
  CHECK(profile.origin.date.size() == std::string("2026-11-20").size());
  CHECK(profile.origin.repetitions == 12);
  for (const char* part : {"CUPTI Activity", "unfused", "One of 2 tensor-parallel shares", "were not measured"}) {
    CAPTURE(part);
    CHECK(contains(profile.origin.method, part));
  }
  REQUIRE(profile.measurement);
  const Measurement& measurement = *profile.measurement;
  CHECK(measurement.overhead_ppm.has_value());
  CHECK(measurement.losses.empty());
  CHECK(measurement.warm_up_steps == 3);
  CHECK(measurement.steps == 3 + 24);  // each recorded step has one without the profiler
  for (const LossItem& l : measurement.losses) MESSAGE(l.what << l.count);
  const Profile again = read_profile(write_profile(profile), "again.json");
  CHECK(again == profile);
}

TEST_CASE("all kernel time of the steps is attributed, and the rest is what happened outside of them") {
  const FakeMachine machine("idle");
  SessionOptions options = options_for(llama());
  options.explain = true;
  const SessionResult result = measure_workload(options, ignore);
  const Measurement& measurement = *result.attribution.profile.measurement;
  Nanoseconds one_step = 0;
  for (const auto& [pass, sum] : expected(options)) one_step += sum.time;
  constexpr std::int64_t kRecordedWarmUp = 3;
  CHECK(measurement.layer_time == (kRecordedWarmUp + options.steps) * one_step);
  Nanoseconds rest = 0;
  for (const RestItem& item : measurement.rest) rest += item.total;
  CHECK(measurement.layer_time + rest == measurement.kernel_time);
  Nanoseconds explained = 0;
  for (const Explanation& line : result.attribution.explanations) {
    explained += line.total;
    if (!line.phase.empty()) CHECK(line.rule == "explicit");
  }
  CHECK(explained == measurement.kernel_time);
}

TEST_CASE("events give each pass the time of its kernels and the gaps before them") {
  const FakeMachine machine("idle");
  const SessionOptions options = options_for(gpt());
  const SessionResult result = measure_workload(options, ignore);
  const PassSums sums = expected(options);
  CHECK(result.checks.size() == 9);
  for (const SessionResult::Check& check : result.checks) {
    const LedgerDevice::Sum sum = sums.at({check.layer, check.pass});
    CAPTURE(check.layer);
    CAPTURE(static_cast<int>(check.pass));
    CHECK(check.by_kernels == sum.time);
    const Nanoseconds right = sum.time + sum.count * testing::kFakeGap;
    CHECK(std::abs(check.by_events - right) <= right / 1'000'000 + 1);  // a float of milliseconds
  }
}

TEST_CASE("one size after another in one process gives what each gives alone") {
  const FakeMachine machine("idle");
  SessionOptions options = options_for(gpt());
  std::vector<Nanoseconds> blocks;
  for (const std::int64_t microbatch : {1, 4, 1}) {
    options.size.microbatch = microbatch;
    const Profile profile = measure_workload(options, ignore).attribution.profile;
    CHECK(profile.layers[1].forward.median == expected(options).at({"block", Pass::kForward}).time);
    CHECK(profile.measurement->losses.empty());
    blocks.push_back(profile.layers[1].forward.median);
  }
  CHECK(blocks[0] == blocks[2]);
  CHECK(blocks[0] < blocks[1]);
}

TEST_CASE("progress grows from 0 to its end and says what is done") {
  const FakeMachine machine("idle");
  std::vector<int> done;
  std::string words;
  int last_total = 0;
  (void)measure_workload(options_for(gpt()), [&](int now, int total, const std::string& what) {
    done.push_back(now);
    last_total = total;
    words += what + ";";
  });
  CHECK(std::is_sorted(done.begin(), done.end()));
  CHECK(done.front() == 0);
  CHECK(done.back() == last_total);
  CHECK(contains(words, "warming up;"));
}

TEST_CASE("the record file is kept where one is named, and can be read again") {
  const FakeMachine machine("idle");
  SessionOptions options = options_for(gpt());
  options.record_file = std::filesystem::temp_directory_path() / "debubble-session-test.dbrec";
  std::filesystem::remove(options.record_file);
  (void)measure_workload(options, ignore);
  RecordSink nobody;
  const RecordFileEnd end = read_record_file(options.record_file, nobody);
  CHECK(end.complete);
  CHECK(end.records > 1000);
  std::filesystem::remove(options.record_file);
}

TEST_CASE("a size that does not fit is refused with what would") {
  SessionOptions options = options_for(gpt());
  options.size.microbatch = 64;
  const Bytes needed = needed_memory(options.shape, options.size);
  WorkloadSize smaller = options.size;
  smaller.microbatch = 16;
  const Bytes enough = needed_memory(options.shape, smaller);
  const Bytes workspace = 32 * kMebibyte + 256;
  const FakeMachine machine("idle,memory=" + std::to_string(workspace + enough + enough / 20));
  try {
    (void)measure_workload(options, ignore);
    FAIL("was not refused");
  } catch (const UnavailableError& error) {
    CHECK(error.diagnostic().code == "U026");
    CHECK(error.diagnostic().message.find(std::to_string(needed / kMebibyte) + " MiB (embedding ") !=
          std::string::npos);
    CHECK(contains(error.diagnostic().message, "block "));
    CHECK(error.diagnostic().help == "--microbatch-size 16 would fit");
  }
  CHECK(FakeMachine::live_objects() == 0);
  CHECK(FakeMachine::live_bytes() == 0);
  options.size = smaller;
  CHECK_NOTHROW((void)measure_workload(options, ignore));
}

TEST_CASE("the remedy for a full GPU goes down to the shortest sequence, then gives up") {
  const TransformerShape shape = llama();
  const WorkloadSize size{1, 512, 1, DataType::kBf16};
  WorkloadSize shorter = size;
  shorter.sequence = 128;
  const Bytes enough = needed_memory(shape, shorter);
  CHECK(fitting_size(shape, size, enough + enough / 20) == "--microbatch-size 1 --sequence 128 would fit");
  CHECK(fitting_size(shape, size, 1000).find("not even --microbatch-size 1 --sequence 64") == 0);
}

TEST_CASE("a kernel that fails in the middle of a measurement ends it, and everything is given back") {
  for (const char* behaviour :
       {"idle,fail_run=gelu_backward", "idle,fail_launch=layer_norm_forward", "idle,fail_gemm"}) {
    const FakeMachine machine(behaviour);
    CAPTURE(behaviour);
    try {
      (void)measure_workload(options_for(gpt()), ignore);
      FAIL("was not refused");
    } catch (const UnavailableError& error) {
      CHECK(error.diagnostic().code == "U027");
    }
    CHECK(FakeMachine::live_objects() == 0);
    CHECK(FakeMachine::live_bytes() == 0);
  }
}

TEST_CASE("what the machine lacks ends a measurement before it begins") {
  for (const auto& [behaviour, code] : std::map<std::string, std::string>{
           {"error=100", "U021"}, {"stub", "U020"}, {"driver=12080", "U025"}, {"gpus=0", "U021"}}) {
    const FakeMachine machine(behaviour);
    const std::string expected = code;  // clang 14 captures no structured binding
    CAPTURE(expected);
    try {
      (void)measure_workload(options_for(gpt()), ignore);
      FAIL("was not refused");
    } catch (const UnavailableError& error) {
      CHECK(error.diagnostic().code == expected);
    }
  }
}

}  // namespace
}  // namespace debubble
