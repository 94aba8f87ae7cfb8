#include "tests/attribution/random_program.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace debubble::test {
namespace {

constexpr std::uint32_t kEngineThread = 100;

// A node that autograd will run.
struct Node {
  std::uint32_t thread = 0;
  std::int64_t sequence = 0;
  std::string name;
  std::int64_t m = 0;  // dimensions of a product
  std::int64_t k = 0;
  std::int64_t n = 0;
  std::string layer;
};

std::string dims(std::int64_t rows, std::int64_t columns) {
  return "[" + std::to_string(rows) + ", " + std::to_string(columns) + "]";
}

class Builder {
 public:
  explicit Builder(std::uint64_t seed) : random_(seed) {}

  RandomProgram build() {
    const int threads = pick(1, 2);
    const int steps = pick(1, 4);
    for (int step = 0; step < steps; ++step) {
      open(1, "debubble.step:" + std::to_string(step));
      calls(1, 1);
      for (std::uint32_t thread = 1; thread <= static_cast<std::uint32_t>(threads); ++thread) forward(thread);
      backward(threads == 1);
      optimizer();
      close(1);
      calls(1, 1);
    }
    shuffle_records();
    return std::move(program_);
  }

 private:
  // Without the library's distributions, which differ between libraries.
  int pick(int least, int most) {
    return least + static_cast<int>(random_() % static_cast<std::uint64_t>(most - least + 1));
  }
  bool chance(int percent) { return pick(1, 100) <= percent; }

  void open(std::uint32_t thread, const std::string& name, std::int64_t sequence = -1, std::uint32_t forward = 0) {
    std::vector<int>& stack = stacks_[thread % 8];
    ProgramRange range;
    range.parent = stack.empty() ? -1 : stack.back();
    range.thread = thread;
    range.begin = ++now_;
    range.name = name;
    range.sequence = sequence;
    range.forward_thread = forward;
    stack.push_back(static_cast<int>(program_.ranges.size()));
    events_.push_back({{ProgramEvent::Kind::kPush, program_.ranges.size(), 0}, now_ * 1000});
    program_.ranges.push_back(range);
  }
  ProgramRange& newest() { return program_.ranges.back(); }

  void close(std::uint32_t thread) {
    std::vector<int>& stack = stacks_[thread % 8];
    const auto index = static_cast<std::size_t>(stack.back());
    stack.pop_back();
    program_.ranges[index].end = ++now_;
    events_.push_back({{ProgramEvent::Kind::kPop, index, 0}, now_ * 1000});
  }

  void calls(std::uint32_t thread, int most) {
    for (int k = pick(0, most); k > 0; --k) call(thread);
  }

  void call(std::uint32_t thread) {
    const std::vector<int>& stack = stacks_[thread % 8];
    ProgramCall call;
    call.correlation = next_correlation_;
    next_correlation_ += static_cast<std::uint32_t>(pick(1, 3));
    call.range = stack.empty() ? -1 : stack.back();
    call.thread = thread;
    call.time = ++now_;
    call.linked = call.range >= 0 && !chance(5);
    call.launched = !chance(5);
    for (int k = chance(10) ? pick(0, 3) : 1; k > 0; --k) call.kernels.push_back(kernel(call));
    program_.calls.push_back(call);
  }

  ProgramKernel kernel(const ProgramCall& call) {
    static const std::array<std::string, 6> kNames{
        "gemm_128", "vectorized_add",          "_ZN2at6native12GammaBetaBwdEv",
        "softmax",  "ncclDevKernel_AllReduce", "copy_d2d"};
    ProgramKernel kernel;
    kernel.name = kNames.at(static_cast<std::size_t>(chance(90) ? pick(0, 3) : pick(4, 5)));
    kernel.record.work = kernel.name == "copy_d2d" ? GpuWork::kCopy : GpuWork::kKernel;
    kernel.record.correlation = call.correlation;
    kernel.record.stream = static_cast<std::uint32_t>(pick(7, 9));
    kernel.record.begin = call.time + pick(0, 100'000);
    kernel.record.end = kernel.record.begin + pick(0, 5000);
    if (chance(2)) kernel.record.begin = kernel.record.end = 0;
    if (chance(1)) std::swap(kernel.record.begin, kernel.record.end);
    if (chance(2) && kernel.record.begin > 0) kernel.record.begin -= 1'200'000 + pick(0, 100'000);
    return kernel;
  }

  void forward(std::uint32_t thread) {
    const int layers = pick(1, 5);
    open(thread, "model");
    calls(thread, 1);
    for (int layer = 0; layer < layers; ++layer) {
      const std::string name = (thread == 1 ? "block." : "other.") + std::to_string(layer);
      if (layer == 4) {
        explicit_layer(thread, name);
        continue;
      }
      open(thread, "debubble.layer:" + name);
      calls(thread, 2);
      for (int op = pick(0, 4); op > 0; --op) forward_op(thread, name);
      close(thread);
    }
    if (chance(50)) forward_op(thread, "");
    close(thread);
  }

  void explicit_layer(std::uint32_t thread, const std::string& name) {
    open(thread, "debubble.layer:" + name);
    for (const char* phase : {"F", "I", "W"}) {
      open(thread, std::string("debubble.phase:") + phase);
      calls(thread, 3);
      open(thread, "aten::mm");
      calls(thread, 2);
      close(thread);
      close(thread);
    }
    close(thread);
  }

  // The outer op and its helper carry number N, the last op with it makes the node.
  void forward_op(std::uint32_t thread, const std::string& layer) {
    static const std::array<const char*, 6> kNodes{"AddmmBackward0",     "MmBackward0",
                                                   "MulBackward0",       "NativeLayerNormBackward0",
                                                   "EmbeddingBackward0", "ConvolutionBackward0"};
    Node node{thread,
              0,
              kNodes.at(static_cast<std::size_t>(chance(90) ? pick(0, 4) : 5)),
              pick(2, 4) * 8,
              pick(2, 4) * 8,
              pick(2, 4) * 8,
              layer};
    std::int64_t& sequence = sequences_[thread % 8];
    open(thread, "outer_op", sequence);
    calls(thread, 1);
    if (chance(50)) ++sequence;
    node.sequence = sequence;
    if (node.name == "AddmmBackward0") {
      open(thread, "aten::addmm", sequence);
      newest().sizes =
          "[[" + std::to_string(node.n) + "], " + dims(node.m, node.k) + ", " + dims(node.k, node.n) + ", [], []]";
    } else if (node.name == "MmBackward0") {
      open(thread, "aten::mm", sequence);
      newest().sizes = "[" + dims(node.m, node.k) + ", " + dims(node.k, node.n) + "]";
    } else {
      open(thread, "some_op", sequence);
    }
    ++sequence;
    calls(thread, 2);
    close(thread);
    close(thread);
    nodes_.push_back(node);
  }

  void backward(bool may_forget_thread) {
    while (!nodes_.empty()) {
      const Node node = nodes_.back();
      nodes_.pop_back();
      if (chance(5)) continue;  // never reached by the loss
      run_node(node, may_forget_thread && chance(50) ? 0 : node.thread);
      if (chance(30)) accumulate();
    }
    if (chance(20)) run_node({1, 1'000'000, "AddmmBackward0", 8, 8, 8, ""}, 1);  // its forward was not recorded
  }

  void run_node(const Node& node, std::uint32_t forward) {
    const bool numbered = chance(50);
    open(kEngineThread, "autograd::engine::evaluate_function: " + node.name, numbered ? node.sequence : -1,
         numbered ? forward : 0);
    open(kEngineThread, node.name, node.sequence, forward);
    calls(kEngineThread, 1);
    if (chance(10)) recompute(node);
    const bool matmul = node.name == "AddmmBackward0" || node.name == "MmBackward0";
    if (matmul) matmuls(node);
    if (chance(40)) {
      open(kEngineThread, "aten::copy_");
      calls(kEngineThread, 1);
      close(kEngineThread);
    }
    close(kEngineThread);
    calls(kEngineThread, 1);
    if (chance(30)) {
      open(kEngineThread, "aten::sum");
      newest().phase = "W";
      newest().rule = "name";
      calls(kEngineThread, 1);
      close(kEngineThread);
    }
    close(kEngineThread);
  }

  void matmuls(const Node& node) {
    const bool input_first = node.name == "AddmmBackward0";
    for (int k = 0; k < 2; ++k) {
      const bool input = (k == 0) == input_first;
      open(kEngineThread, "aten::mm");
      ProgramRange& range = newest();
      range.phase = input ? "I" : "W";
      // The two results have the same dimensions when m = n; a transposed weight's when all three are equal.
      range.rule = node.m == node.n ? "order" : "shape";
      if (node.m != node.n && node.m == node.k && !input) range.rule = "shape";
      range.sizes = input ? "[" + dims(node.m, node.n) + ", " + dims(node.n, node.k) + "]"
                          : "[" + dims(node.n, node.m) + ", " + dims(node.m, node.k) + "]";
      calls(kEngineThread, 2);
      if (chance(50)) {
        open(kEngineThread, "cublasGemmEx");
        calls(kEngineThread, 1);
        close(kEngineThread);
      }
      close(kEngineThread);
    }
  }

  void recompute(const Node& node) {
    const bool layer = !node.layer.empty() && chance(50);
    if (layer) open(kEngineThread, "debubble.layer:" + node.layer);
    open(kEngineThread, "aten::gelu", engine_sequence_);
    if (chance(50)) ++engine_sequence_;
    calls(kEngineThread, 2);
    close(kEngineThread);
    if (layer) close(kEngineThread);
  }

  void accumulate() {
    open(kEngineThread, "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad");
    open(kEngineThread, "torch::autograd::AccumulateGrad");
    calls(kEngineThread, 2);
    close(kEngineThread);
    close(kEngineThread);
  }

  void optimizer() {
    open(1, "Optimizer.step#AdamW.step");
    calls(1, 3);
    open(1, "aten::_foreach_add");
    calls(1, 2);
    close(1);
    close(1);
    if (!chance(50)) return;
    open(1, "nccl:all_reduce");
    calls(1, 1);
    close(1);
  }

  struct Placed {
    ProgramEvent event;
    Nanoseconds key = 0;
  };

  Nanoseconds later_than(Nanoseconds key) {
    const auto room = static_cast<std::uint64_t>((now_ + 2) * 1000 - key);
    return key + 1 + static_cast<Nanoseconds>(random_() % room);
  }

  void shuffle_records() {
    using Kind = ProgramEvent::Kind;
    for (std::size_t k = 0; k < program_.calls.size(); ++k) {
      const ProgramCall& call = program_.calls[k];
      if (call.linked) events_.push_back({{Kind::kLink, k, 0}, later_than(call.time * 1000)});
      if (call.launched) events_.push_back({{Kind::kLaunch, k, 0}, later_than(call.time * 1000)});
      for (std::size_t n = 0; n < call.kernels.size(); ++n) {
        events_.push_back({{Kind::kKernel, k, n}, later_than(chance(70) ? call.time * 1000 : 0)});
      }
    }
    std::stable_sort(events_.begin(), events_.end(),
                     [](const Placed& left, const Placed& right) { return left.key < right.key; });
    for (const Placed& placed : events_) program_.stream.push_back(placed.event);
  }

  std::mt19937_64 random_;
  RandomProgram program_;
  std::vector<Placed> events_;
  std::array<std::vector<int>, 8> stacks_;  // by thread, modulo 8
  std::array<std::int64_t, 8> sequences_{};
  std::int64_t engine_sequence_ = 0;
  std::vector<Node> nodes_;
  Nanoseconds now_ = 10'000'000;
  std::uint32_t next_correlation_ = 1;
};

}  // namespace

RandomProgram random_program(std::uint64_t seed) { return Builder(seed).build(); }

void feed(const RandomProgram& program, RecordSink& sink) {
  for (const ProgramEvent& event : program.stream) {
    const auto range_id = [](std::size_t index) { return static_cast<std::uint64_t>(index) + 1; };
    switch (event.kind) {
      case ProgramEvent::Kind::kPush: {
        const ProgramRange& range = program.ranges[event.index];
        sink.on(RangePush{range_id(event.index), range.thread, range.begin, range.name, range.sequence,
                          range.forward_thread, range.sizes});
        break;
      }
      case ProgramEvent::Kind::kPop:
        sink.on(RangePop{program.ranges[event.index].thread, program.ranges[event.index].end});
        break;
      case ProgramEvent::Kind::kLink: {
        const ProgramCall& call = program.calls[event.index];
        sink.on(LinkRecord{call.correlation, range_id(static_cast<std::size_t>(call.range))});
        break;
      }
      case ProgramEvent::Kind::kLaunch: {
        const ProgramCall& call = program.calls[event.index];
        sink.on(LaunchRecord{call.correlation, call.thread, call.time, call.time});
        break;
      }
      case ProgramEvent::Kind::kKernel: {
        const ProgramKernel& kernel = program.calls[event.index].kernels[event.kernel];
        KernelRecord record = kernel.record;
        record.name = kernel.name;
        sink.on(record);
        break;
      }
    }
  }
}

}  // namespace debubble::test
