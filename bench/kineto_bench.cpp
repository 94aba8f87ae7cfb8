// Importing a torch.profiler trace: from the file's text to the profile, attribution included.
//
// The text is made up of what a training step writes: ops with shapes, runtime calls, kernels, arrows, allocations.
#include <benchmark/benchmark.h>

#include <string>

#include "profiler/attribution/attribution.hpp"
#include "profiler/importers/kineto.hpp"

namespace debubble::bench {

namespace {

constexpr std::size_t kMegabyte = 1'000'000;

class Writer {
 public:
  explicit Writer(std::size_t bytes) : bytes_(bytes) {
    text_.reserve(bytes + kMegabyte);
    text_ += "{\n  \"schemaVersion\": 1,\n  \"traceEvents\": [";
    for (int step = 0; text_.size() < bytes_; ++step) add_step(step);
    text_.back() = ' ';
    text_ += "\n  ]\n}\n";
  }

  std::string take() { return std::move(text_); }

 private:
  [[nodiscard]] static std::string micros(std::int64_t time) {
    const std::string nanos = std::to_string(time % 1000);
    return std::to_string(time / 1000) + "." + std::string(3 - nanos.size(), '0') + nanos;
  }

  void event(const char* category, const std::string& name, int tid, std::int64_t begin, std::int64_t end,
             const std::string& args) {
    text_ += "\n  {\n    \"ph\": \"X\", \"cat\": \"" + std::string(category) + "\", \"name\": \"" + name +
             "\", \"pid\": 4711, \"tid\": " + std::to_string(tid) + ",\n    \"ts\": " + micros(begin) +
             ", \"dur\": " + micros(end - begin) + ",\n    \"args\": {\n      " + args + "\n    }\n  },";
  }

  void arrow(const char* end, int tid, std::int64_t time) {
    text_ += "\n  {\n    \"ph\": \"" + std::string(end) + "\", \"id\": " + std::to_string(correlation_) +
             ", \"pid\": 4711, \"tid\": " + std::to_string(tid) + ", \"ts\": " + micros(time) +
             ",\n    \"cat\": \"ac2g\", \"name\": \"ac2g\"\n  },";
  }

  // An op with an inner op that launches a kernel.
  void op(int tid, const std::string& outer, const std::string& inner, const std::string& sequence) {
    const std::int64_t begin = now_;
    const std::string dims =
        R"(, "Record function id": 0, "Input type": ["c10::BFloat16", "c10::BFloat16", ""], "Input Strides": [[4096, 1], [1, 4096], []], "Input Dims": [[2048, 4096], [4096, 4096], []], "Ev Idx": )" +
        std::to_string(external_);
    const std::string inner_args = "\"External id\": " + std::to_string(external_ + 1) + sequence + dims;
    event("cpu_op", inner, tid, begin + 1500, begin + 14250, inner_args);
    ++correlation_;
    const std::string ids =
        "\"External id\": " + std::to_string(external_ + 1) + ", \"correlation\": " + std::to_string(correlation_);
    event("cuda_runtime", "cudaLaunchKernel", tid, begin + 4100, begin + 9300, ids + ", \"cbid\": 211");
    arrow("s", tid, begin + 4100);
    event("kernel",
          "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_bf16_128x128_32x5_tn_align8>(cutlass_80_tensorop::"
          "Params)",
          7, begin + 40125, begin + 52250,
          ids +
              ", \"queued\": 0, \"device\": 0, \"context\": 1, \"stream\": 7, \"registers per thread\": 122, \"shared "
              "memory\": 81920, \"blocks per SM\": 3.8787878, \"warps per SM\": 15.515152, \"grid\": [32, 16, 1], "
              "\"block\": [128, 1, 1], \"est. achieved occupancy %\": 16");
    arrow("f", 7, begin + 40125);
    event("cpu_op", outer, tid, begin, begin + 15000,
          "\"External id\": " + std::to_string(external_) + sequence + dims);
    external_ += 2;
    now_ += 16000;
  }

  void add_step(int step) {
    constexpr int kLayers = 24;
    constexpr int kOps = 20;
    const std::int64_t step_begin = now_;
    for (int layer = 0; layer < kLayers; ++layer) {
      const std::int64_t begin = now_;
      now_ += 1000;
      for (int k = 0; k < kOps; ++k) {
        op(4711, "aten::linear", "aten::addmm",
           ", \"Sequence number\": " + std::to_string(sequence_++) + ", \"Fwd thread id\": 0");
      }
      event("user_annotation", "debubble.layer:block." + std::to_string(layer), 4711, begin, now_, "\"Ev Idx\": 1");
    }
    for (int k = 0; k < kLayers * kOps; ++k) {
      op(4799, "AddmmBackward0", "aten::mm",
         ", \"Sequence number\": " + std::to_string(sequence_ - 1 - k) + ", \"Fwd thread id\": 1");
    }
    event("user_annotation", "ProfilerStep#" + std::to_string(step), 4711, step_begin, now_, "\"Ev Idx\": 0");
    now_ += 5000;
  }

  std::size_t bytes_;
  std::string text_;
  std::int64_t now_ = 4'458'676'522'690'655;
  std::int64_t sequence_ = 0;
  int correlation_ = 0;
  int external_ = 1;
};

// Per byte of the file, which main.cpp turns into ms per MB.
void import_kineto(benchmark::State& state) {
  const std::string text = Writer(static_cast<std::size_t>(state.range(0)) * kMegabyte).take();
  for (auto _ : state) {
    const KinetoTrace trace(text, "bench.json");
    Attributor attributor({});
    trace.replay(attributor);
    attributor.end_of_stream();
    benchmark::DoNotOptimize(attributor.finish());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
  state.counters["ops"] = static_cast<double>(text.size());
}

BENCHMARK(import_kineto)->Arg(1)->Arg(100)->Unit(benchmark::kMillisecond);

}  // namespace

}  // namespace debubble::bench
