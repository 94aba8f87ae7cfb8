// Speed of reading a recording and attributing its kernels.
//
// The file is made outside of the measured time. Names matter: bench/main.cpp computes the promise from them.
#include <benchmark/benchmark.h>

#include <unistd.h>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "profiler/attribution/attribution.hpp"
#include "profiler/records/record_file.hpp"

namespace debubble::bench {

namespace {

constexpr int kLayers = 32;
constexpr int kKernelsPerPhase = 12;
constexpr std::uint32_t kLate = 500;  // launches that the GPU is behind the host

// What a recording of a transformer holds: steps of layers with forward, input gradient and weight gradient, whose
// kernels are recorded some time after their launch. `ops`: a range of its own around every launch.
class Recording {
 public:
  Recording(RecordSink& sink, bool ops) : sink_(sink), ops_(ops) {
    for (int kernel = 0; kernel < kKernelsPerPhase; ++kernel) {
      names_.push_back("void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_" + std::to_string(kernel) +
                       "_128x128_64x4_tn_align8>(cutlass_80_tensorop_bf16::Params)");
    }
    for (int layer = 0; layer < kLayers; ++layer) layers_.push_back("debubble.layer:block." + std::to_string(layer));
  }

  void write(std::int64_t kernels) {
    while (launched_ < kernels) step();
    while (recorded_ < launched_) kernel();
  }

 private:
  void push(const std::string& name) { sink_.on(RangePush{++range_, 1, now_ += 300, name, -1, 0, {}}); }
  void pop() { sink_.on(RangePop{1, now_ += 300}); }

  void step() {
    push("debubble.step:" + std::to_string(step_++));
    for (const std::string& layer : layers_) phases(layer, {"debubble.phase:F"});
    for (const std::string& layer : layers_) phases(layer, {"debubble.phase:I", "debubble.phase:W"});
    pop();
  }

  void phases(const std::string& layer, const std::vector<std::string>& phases) {
    push(layer);
    for (const std::string& phase : phases) {
      push(phase);
      for (int k = 0; k < kKernelsPerPhase; ++k) launch();
      pop();
    }
    pop();
  }

  void launch() {
    if (ops_) push("aten::mul");
    ++launched_;
    const auto correlation = static_cast<std::uint32_t>(launched_);
    sink_.on(LinkRecord{correlation, range_});
    sink_.on(LaunchRecord{correlation, 1, now_ + 1000, now_ + 4000});
    now_ += 5000;
    if (ops_) pop();
    if (launched_ - recorded_ > kLate) kernel();
  }

  void kernel() {
    const auto correlation = static_cast<std::uint32_t>(++recorded_);
    KernelRecord record;
    record.correlation = correlation;
    record.context = 1;
    record.stream = 7;
    record.begin = now_ + 2000 + correlation % 7;
    record.end = record.begin + 4000 + correlation % 1000;
    record.name = names_[correlation % kKernelsPerPhase];
    sink_.on(record);
  }

  RecordSink& sink_;
  bool ops_;
  std::vector<std::string> names_;
  std::vector<std::string> layers_;
  std::uint64_t range_ = 0;
  std::int64_t launched_ = 0;
  std::int64_t recorded_ = 0;
  std::int64_t step_ = 0;
  Nanoseconds now_ = 1'000'000'000;
};

void decode_and_attribute(benchmark::State& state, bool ops) {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("debubble-bench-" + std::to_string(getpid()) + ".dbrec")).string();
  {
    RecordFileWriter writer(path);
    Recording(writer, ops).write(state.range(0));
  }
  std::int64_t kernels = 0;
  for (auto _ : state) {
    Attributor attributor({});
    const RecordFileEnd end = read_record_file(path, attributor);
    attributor.end_of_stream(end.complete);
    kernels = attributor.finish().profile.measurement->kernels;
  }
  state.counters["file MB"] = static_cast<double>(std::filesystem::file_size(path)) / 1e6;
  std::filesystem::remove(path);
  if (kernels < state.range(0)) state.SkipWithError("kernels were lost");
  state.SetItemsProcessed(state.iterations() * kernels);
}

// Without the file: what the records themselves cost.
void attribute(benchmark::State& state, bool ops) {
  for (auto _ : state) {
    Attributor attributor({});
    Recording(attributor, ops).write(state.range(0));
    attributor.end_of_stream();
    benchmark::DoNotOptimize(attributor.finish());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void attribute_kernels(benchmark::State& state) { attribute(state, false); }
void attribute_kernels_of_ops(benchmark::State& state) { attribute(state, true); }
void attribute_file(benchmark::State& state) { decode_and_attribute(state, false); }
void attribute_file_of_ops(benchmark::State& state) { decode_and_attribute(state, true); }

void sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->Arg(100'000)->Arg(10'000'000)->Unit(benchmark::kMillisecond);
}

BENCHMARK(attribute_kernels)->Apply(sizes);
BENCHMARK(attribute_kernels_of_ops)->Apply(sizes);
BENCHMARK(attribute_file)->Apply(sizes);
BENCHMARK(attribute_file_of_ops)->Apply(sizes);

}  // namespace

}  // namespace debubble::bench
